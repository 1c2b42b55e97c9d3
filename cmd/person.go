package cmd

import (
	"cmp"
	"context"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
)

// agentShell names the session whose agent runs this command; "" for a person.
func (env *Env) agentShell() string { return cmp.Or(env.caller, clone.Shell()) }

// asked returns the view for the asker: agents see only what agents are given.
func (w *workspace) asked(ctx context.Context, v *record.View) (*record.View, error) {
	if !w.Shields() {
		return v, nil
	}
	return w.agents(ctx, v)
}

// tellShielded says how much an agent is not shown.
func (w *workspace) tellShielded(n int) {
	if n > 0 {
		w.env.Say("%d withheld: a person decides with 'reverie trust'", n)
	}
}
