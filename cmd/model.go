package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/prompts"
)

// model is the model to ask, and the prompts to ask it by: that with the name, or, where that is empty, the one that the
// settings name. It is nil where there is none.
func (w *workspace) model(ctx context.Context, name string) (*prompts.Model, prompts.Set, error) {
	return nil, prompts.Set{}, nil
}
