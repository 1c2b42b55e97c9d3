package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/hooks/setup"
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

// refreshGuards makes the table of guards again, and has the agents call us where it may match.
func refreshGuards(ctx context.Context, w *workspace) {
	_, err := brief.MakeGuards(ctx, w.Reader)
	if err == nil {
		_, err = setup.RefreshGuards(ctx, w.Clone, guard.FilterOf)
	}
	if err != nil {
		w.env.Warn("guards: %v", err)
	}
}

// refreshGuards is the same after a command, which may have worked on the person's own memory.
func (env *Env) refreshGuards(ctx context.Context, w *workspace) {
	if w.Own {
		env.own = false
		here, err := env.open(ctx)
		if err != nil || !here.Started() {
			return
		}
		w = here
	}
	refreshGuards(ctx, w)
}

// tidy does upkeep after a command's work. -v tells its failures.
func (w *workspace) tidy(ctx context.Context) {
	if err := upkeep.Tidy(ctx, w.Reader); err != nil && w.env.Verbose {
		w.env.Warn("upkeep: %v", err)
	}
}
