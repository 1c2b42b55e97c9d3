package cmd

import (
	"context"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/recall"
)

// relevant are the memories that a prompt is about, and behind them those that are about one of the files.
func relevant(ctx context.Context, x *recall.Index, prompt recall.Prompt, files []string, keep func(recall.Ref) bool) (hits []recall.Relevance, err error) {
	if prompt.Tells() {
		if hits, err = prompt.Relevant(ctx, x, keep); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		found, err := recall.Ask("./"+file).Relevant(ctx, x, keep)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.ContainsFunc(hits, func(h recall.Relevance) bool { return h.Memory.ID == f.Memory.ID }) {
				hits = append(hits, f)
			}
		}
	}
	return hits, nil
}
