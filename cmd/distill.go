package cmd

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func distillCommand(env *Env) *cli.Command {
	return dreaming(env, &cli.Command{
		Name:  "distill",
		Usage: "list workflows ripe for a skill, and propose skills with a model",
		Description: "A workflow is ripe when it was done in three distinct sessions and has no skill. A skill that a\n" +
			"model writes contains only commands that succeeded in those sessions, between plain words. It waits\n" +
			"for a person.",
	}, "the last run is 30 days old", "it looks at every workflow",
		func(c *cli.Context, env *Env, o dreamOptions) error {
			return env.with(c.Context, func(w *workspace) error { return runDistill(c.Context, w, o) })
		})
}

// distillAfter is the time from one distill until skills are due again.
const distillAfter = 30 * 24 * time.Hour

func runDistill(ctx context.Context, w *workspace, o dreamOptions) error {
	m, set, err := modelOf(w, ctx, model.Other, o.model.asked())
	if err != nil {
		return err
	}
	l := w.learner()
	in, last, err := l.Ripeness(ctx)
	if err != nil {
		return err
	}
	if wait := distillAfter - w.env.Now().Sub(last); o.ifDue && wait > 0 {
		w.env.Say("not due: the last run was at %s", last.Format(time.RFC3339))
		return nil
	}
	ripe := dream.Ripe(in)
	if m == nil {
		return tellRipe(w, ripe)
	}
	if len(ripe) == 0 {
		w.env.Say("no workflow is ripe: it takes three sessions that did the same, without a skill or a pending one")
		return nil
	}
	purges := purge.Mark(w.State)
	found, err := l.Distill(ctx, m, set, in, ripe)
	if err != nil {
		return noAnswer(err, "nothing was changed; ripe workflows stay ripe")
	}
	ops := found.Operations
	if !o.dryRun && len(found.Asked) > 0 {
		if ops, err = l.KeepDistilled(ctx, m, found, purges); err != nil {
			return err
		}
	}
	refused := 0
	for _, n := range found.Refused {
		refused += n
	}
	w.env.Say("distill  %s: %s ripe, %d asked about: %s for a person, %d refused, %d set aside", m.Name, plural.Count(len(ripe), "workflow is", "workflows are"),
		len(found.Asked), waits(len(ops)), refused, len(found.Notes))
	for _, why := range slices.Sorted(maps.Keys(found.Refused)) {
		w.env.Say("refused  %d: %s", found.Refused[why], why)
	}
	return tellProposed(w, ops)
}

// tellRipe lists workflows that would be worth a skill.
func tellRipe(w *workspace, ripe []dream.Workflow) error {
	for _, r := range ripe {
		if w.env.JSON {
			err := w.env.Object(map[string]any{"workflow": r.Text, "memory": r.Memory, "sessions": record.Sessions(r.Sightings)})
			if err != nil {
				return err
			}
			continue
		}
		w.env.Print("%s\t%s\n", plural.Count(record.Sessions(r.Sightings), "session", "sessions"), term.Visible(r.Text))
	}
	if len(ripe) == 0 {
		w.env.Say("no workflow is ripe: it takes three sessions that did the same")
	} else {
		w.env.Say("%s ripe; a model writes the skill: reverie distill --model NAME", plural.Count(len(ripe), "workflow is", "workflows are"))
	}
	return nil
}
