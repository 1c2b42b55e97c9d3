package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/reverie-memory/reverie/cmd/welcome"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/internal/intake"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// asks reports whether init asks which parts to set up: on a terminal, unless options name some.
func (o *initOptions) asks(env *Env) bool {
	named := len(o.agents.Value()) > 0 || o.hooks || o.trailers || o.agentsMD || o.ci != ""
	return !o.dry && !env.JSON && (o.yes || env.Interactive && !named)
}

// agrees asks a person a question of init, unless there is nothing to ask or --yes answers it.
func (o *initOptions) agrees(env *Env, question string) bool {
	return question != "" && (o.yes || env.Ask(question, "y"))
}

// askSetup asks which settings and hooks to change. Without a program that they could call it asks
// nothing.
func (o *initOptions) askSetup(ctx context.Context, w *workspace) {
	plan, err := setup.Init(ctx, w.Reader, setup.Options{Agents: setup.AgentOptions{Names: []string{setup.AllAgents}, FilterOf: guard.FilterOf}, GitHooks: true, Dry: true})
	if err != nil {
		w.env.Warn("neither agents nor git are connected: %v", err)
		return
	}
	if o.agrees(w.env, welcome.Agents(plan.Written)) {
		o.agents = *cli.NewStringSlice(setup.AllAgents)
	}
	o.hooks = o.agrees(w.env, welcome.GitHooks(plan.GitHooks))
}

// askLearning asks which statements and sessions to take from this machine.
func (o *initOptions) askLearning(ctx context.Context, w *workspace, written []intake.Written) error {
	for _, one := range written {
		if !o.agrees(w.env, welcome.Written(one)) {
			continue
		}
		if err := runImportStores(ctx, w, "", importOptions{from: one.From, store: storeOptions{most: defaultChars}}); err != nil {
			return err
		}
	}
	found, err := ingester(w).LookBack(ctx, past.Query{}, 0)
	if err == nil && o.agrees(w.env, welcome.Past(found.Found)) {
		err = runBackfill(ctx, w, backfillOptions{}, modelChoice{})
	}
	return err
}
