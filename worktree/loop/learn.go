package loop

import (
	"context"
	"errors"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/session"
)

// learn keeps a loop that has ended as a session and learns from it. The hooks of its agents report
// their own sessions. A failure never changes how the loop ended.
func (l *Loops) learn(ctx context.Context, r *worktree.Record, s worktree.State) {
	if !s.Phase.Over() || s.Iteration == 0 {
		return
	}
	if err := l.learnFrom(ctx, r); err != nil && ctx.Err() == nil {
		l.Notify(NotLearned{err})
	}
}

func (l *Loops) learnFrom(ctx context.Context, r *worktree.Record) error {
	found, err := r.Load(ctx)
	if err != nil {
		return err
	}
	if err := l.Ingest(ctx); err != nil {
		l.Notify(NotIngested{err})
	}
	dir := ""
	if place, err := l.place(ctx, found.State); err == nil {
		dir = place.Dir
	}
	top, events, err := session.From(ctx, l.Clone, r, found, dir)
	if err != nil {
		return err
	}
	if _, err := l.Repo.State().Dir(); err != nil {
		return err
	}
	kept, err := l.Sessions.Put(top, events)
	if err != nil || kept.Change == reflect.Unchanged {
		return err
	}
	switch _, err := l.Memory.Tip(ctx); {
	case errors.Is(err, gitstore.ErrNoStore):
		l.Notify(Kept{kept.Name()})
		return nil
	case err != nil:
		return err
	}
	if err := l.Narrow(ctx); err != nil {
		return err
	}
	if l.Settings.Config.Background == config.Off {
		return nil
	}
	waiting, err := l.Learn(ctx, kept.Name())
	if err == nil && waiting > 0 {
		l.Notify(Learned{waiting})
	}
	return err
}
