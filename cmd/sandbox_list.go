package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/sandbox"
)

// containerJSON is one of Reverie's containers.
type containerJSON struct {
	Name   string `json:"name"`
	Loop   string `json:"loop"`
	Status string `json:"status"` // as the engine says: created, running, exited
	// Owner is alive, dead, or elsewhere: on another machine or in another PID namespace.
	Owner   string    `json:"owner"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
}

func newContainerJSON(c sandbox.Container) containerJSON {
	return containerJSON{c.Name, c.Loop, c.Status, c.Owner.State(), c.Owner.PID, c.Owner.Host, c.Started}
}

// sandboxEngine is the engine to look after.
func sandboxEngine(ctx context.Context, env *Env, o sandboxOptions) (*sandbox.Engine, error) {
	c, err := sandboxSettings(ctx, env)
	if err != nil {
		return nil, err
	}
	return sandbox.Choose(ctx, c, o.engine)
}

func runSandboxList(ctx context.Context, env *Env, o sandboxOptions) error {
	e, err := sandboxEngine(ctx, env, o)
	if err != nil {
		return err
	}
	removed, pruneErr := e.Prune(ctx, nil)
	for _, c := range removed {
		env.Say("removed %s: its owner is dead", term.Visible(c.Name))
	}
	all, err := e.List(ctx)
	if err != nil {
		return sandbox.Explain(err)
	}
	return errors.Join(tellContainers(env, all), sandbox.Explain(pruneErr))
}

func tellContainers(env *Env, all []sandbox.Container) error {
	return rows(env, all, newContainerJSON, func(c sandbox.Container) {
		j := newContainerJSON(c)
		what := j.Status
		if c.Loop != "" {
			what += ", of loop " + term.Visible(c.Loop)
		}
		env.Lay(2, term.Span(term.Bold, term.Visible(j.Name)), term.Span("", fmt.Sprintf("  %s, its owner is %s: process %d on %s", what, j.Owner, j.PID, term.Visible(j.Host))))
	})
}

func runSandboxPrune(ctx context.Context, env *Env, o sandboxOptions, names []string) error {
	e, err := sandboxEngine(ctx, env, o)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		removed, err := e.Prune(ctx, nil)
		return errors.Join(tellContainers(env, removed), sandbox.Explain(err))
	}
	// a person may be at work in it
	if err := clone.WantPerson(env.caller, "sandbox prune NAME"); err != nil {
		return err
	}
	for _, name := range names {
		if err := e.Remove(ctx, name); err != nil {
			return sandbox.Explain(err)
		}
		env.Say("removed %s", name)
	}
	return nil
}
