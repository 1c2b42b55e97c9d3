package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/internal/upkeep"
)

// afterLearning does the upkeep that follows every learn.
func (w *workspace) afterLearning(ctx context.Context) error {
	if err := w.Narrow(ctx); err != nil {
		return err
	}
	w.tidy(ctx)
	noteStated(ctx, w)
	return nil
}

// tidy does upkeep after a command's work. -v tells its failures.
func (w *workspace) tidy(ctx context.Context) {
	if err := upkeep.Tidy(ctx, w.Reader); err != nil && w.env.Verbose {
		w.env.Warn("upkeep: %v", err)
	}
}
