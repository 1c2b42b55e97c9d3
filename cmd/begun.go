package cmd

import (
	"context"
	"time"

	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// begun counts the sessions of this repository that an agent's own records say began after a time; those of
// sub-agents are their parents'.
func (w *workspace) begun(ctx context.Context, agent string, after time.Time) (n int, err error) {
	homes, err := past.UserHomes()
	if err != nil {
		return 0, err
	}
	q := past.Query{Since: after, Agents: []string{agent}}
	if q.Dirs, err = w.repo.WorkTrees(ctx); err != nil {
		return 0, err
	}
	all, _ := past.Find(ctx, homes, q) // what cannot be read says nothing
	for _, s := range all {
		if s.Parent == "" && s.Started.After(after) {
			n++
		}
	}
	return n, nil
}
