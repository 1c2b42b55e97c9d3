package cmd

import (
	"context"
	"errors"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/try"
)

// afterLearning does the upkeep that follows every learn.
func (w *workspace) afterLearning(ctx context.Context) error {
	if err := w.Narrow(ctx); err != nil {
		return err
	}
	w.tidy(ctx)
	w.noteStated(ctx)
	return nil
}

// tidy does small upkeep after a command's work is done; its failures are only told under -v.
func (w *workspace) tidy(ctx context.Context) {
	before := w.keptFrom()
	_, err := w.Sessions.Expire(before)
	if err = errors.Join(err, w.expireOriginals(before), brief.Ledger{Repo: w.Repo}.Expire(before), w.kv().Sweep(ctx), door.Expire(w.answers(), before), w.Book.Tidy(ctx), purge.Tidy(w.Repo, w.State, w.env.Now()), try.Clear(worktree.Folder(w.Repo))); err != nil && w.env.Verbose {
		w.env.Warn("upkeep: %v", err)
	}
}
