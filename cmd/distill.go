package cmd

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func distillCommand(env *Env) *cli.Command {
	return dreaming(env, &cli.Command{
		Name:  "distill",
		Usage: "list workflows ripe for a skill, and propose skills with a model",
		Description: "A workflow is ripe when it was done in three distinct sessions and has no skill. What a model writes holds only\n" +
			"commands that those sessions ran with success, between plain words, and waits for a person.",
	}, "the last time is 30 days ago", "it looks at every workflow",
		func(c *cli.Context, env *Env, o dreamOptions) error { return runDistill(c.Context, env, o) })
}

// distillAfter is how long after the last time skills are due again.
const distillAfter = 30 * 24 * time.Hour

func runDistill(ctx context.Context, env *Env, o dreamOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	m, set, err := modelOf(w, ctx, o.model.asked())
	if err != nil {
		return err
	}
	var in dream.Ripeness
	var last time.Time
	err = w.view(ctx, func(v *record.View) error {
		c, err := w.Restrict(ctx, v)
		if err == nil {
			in, last, err = w.ripeness(ctx, v, c)
		}
		return err
	})
	if err != nil {
		return err
	}
	if wait := distillAfter - env.Now().Sub(last); o.ifDue && wait > 0 {
		env.Say("not due: the last time was at %s", last.Format(time.RFC3339))
		return nil
	}
	ripe := dream.Ripe(in)
	if m == nil {
		return w.tellRipe(ripe)
	}
	if len(ripe) == 0 {
		env.Say("no workflow is ripe: it takes three sessions that did the same, and have no skill yet, nor one that waits")
		return nil
	}
	purges := purge.Mark(w.State)
	found, err := dream.Distill(ctx, m, set, in, ripe, w.accountOf)
	if err != nil {
		return noAnswer(err, "nothing was changed; what is ripe stays so")
	}
	ops := found.Operations
	if !o.dryRun && len(found.Asked) > 0 {
		if ops, err = w.keepDistilled(ctx, m, found, purges); err != nil {
			return err
		}
	}
	refused := 0
	for _, n := range found.Refused {
		refused += n
	}
	env.Say("distill  %s: %s ripe, %d asked about: %s for a person, %d refused, %d set aside", m.Name, term.Count(len(ripe), "workflow is", "workflows are"),
		len(found.Asked), waits(len(ops)), refused, len(found.Notes))
	for _, why := range slices.Sorted(maps.Keys(found.Refused)) {
		env.Say("refused  %d: %s", found.Refused[why], why)
	}
	return w.tellProposed(ops)
}

// tellRipe lists workflows that would be worth a skill.
func (w *workspace) tellRipe(ripe []dream.Workflow) error {
	for _, r := range ripe {
		if w.env.JSON {
			err := w.env.Object(map[string]any{"workflow": r.Text, "memory": r.Memory, "sessions": record.Sessions(r.Sightings)})
			if err != nil {
				return err
			}
			continue
		}
		w.env.Print("%s\t%s\n", term.Count(record.Sessions(r.Sightings), "session", "sessions"), term.Visible(r.Text))
	}
	if len(ripe) == 0 {
		w.env.Say("no workflow is ripe: it takes three sessions that did the same")
	} else {
		w.env.Say("%s ripe; a model writes the skill: reverie distill --model NAME", term.Count(len(ripe), "workflow is", "workflows are"))
	}
	return nil
}

// ripeness is what there is to distill from, and when that was done last.
func (w *workspace) ripeness(ctx context.Context, v *record.View, c config.Config) (in dream.Ripeness, last time.Time, err error) {
	if in.Input, err = w.dreamInput(ctx, v, c, byCode, lately{}); err != nil {
		return in, last, err
	}
	if in.Skills, err = v.Skills(); w.Tolerate(err) != nil {
		return in, last, err
	}
	dreams, _, err := w.ownRecords(ctx, v)
	if err != nil {
		return in, last, err
	}
	in.Distilled = map[string]bool{}
	for _, d := range dreams {
		for _, id := range d.Distilled {
			in.Distilled[id] = true
			if d.Time.After(last) {
				last = d.Time
			}
		}
	}
	return in, last, nil
}

// keepDistilled puts skills into the inbox, but for those that somebody else made meanwhile, and then what was asked into
// the journal.
func (w *workspace) keepDistilled(ctx context.Context, m *prompts.Model, found dream.Distilled, purges string) (ops []record.Operation, err error) {
	var d record.Dream
	var commit gitstore.Commit
	err = w.update(ctx, func(tx *record.Tx, c config.Config) error {
		if err := purge.Since(w.State, purges); err != nil {
			return fmt.Errorf("distill: %w", err)
		}
		now, _, err := w.ripeness(ctx, tx.View, c)
		if err != nil {
			return err
		}
		ripe := dream.Ripe(now)
		ops = slices.DeleteFunc(slices.Clone(found.Operations), func(o record.Operation) bool {
			return !slices.ContainsFunc(ripe, func(r dream.Workflow) bool { return r.ID == o.ID }) ||
				slices.ContainsFunc(now.Pending, func(p record.Operation) bool { return p.Path == o.Path })
		})
		d = record.Dream{Time: w.env.Now(), Model: m.Name, Digest: m.Digest, Prompt: strings.Join(found.Prompts, " "), Distilled: found.Asked,
			Notes: dreamNotes(dream.Result{Notes: found.Notes}) + refusedNotes(found.Refused)}
		for _, o := range ops {
			d.Operations = append(d.Operations, o.ID)
		}
		d = record.NewDream(d, tx.Key())
		for i := range ops {
			ops[i].Dream = d.ID
			if err := tx.PutOperation(ops[i]); err != nil {
				return err
			}
		}
		commit = modelCommit(fmt.Sprintf("distill: %s of %s", term.Count(len(ops), "skill", "skills"), term.Count(len(found.Asked), "workflow", "workflows")), d)
		tx.Describe(commit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ops, w.keepDream(ctx, d, commit)
}

// maxStepsOf is how many steps of one session are looked at, the last ones.
const maxStepsOf = 2000

// accountOf is what a session that is still kept here ran and edited with success, and what was said in it.
func (w *workspace) accountOf(s record.Sighting) dream.Account {
	kept, events, err := w.Sessions.Load(s.Client + "/" + s.Session)
	if err != nil {
		return dream.Account{}
	}
	var out dream.Account
	edits := map[string][]string{} // paths of open calls
	for _, e := range events {
		key := e.Agent + "\x00" + e.CallID
		switch {
		case e.Kind == transcript.User && e.Origin == transcript.Typed, e.Kind == transcript.Assistant:
			out.Said = append(out.Said, e.Text)
		case e.Kind == transcript.Call && e.Action == transcript.Edit:
			edits[key] = e.Paths
		case e.Kind != transcript.Result || !wentWell(e):
		case e.Command != "":
			out.Steps = append(out.Steps, dream.Step{N: e.N, Command: e.Command})
		default:
			for _, p := range edits[key] {
				if p, ok := inside(kept.Dir, p); ok {
					out.Steps = append(out.Steps, dream.Step{N: e.N, Path: p})
				}
			}
			delete(edits, key)
		}
	}
	out.Steps = out.Steps[max(0, len(out.Steps)-maxStepsOf):]
	return out
}

// wentWell reports whether a call did what it was to: where there is an exit code, that tells.
func wentWell(e transcript.Event) bool {
	if e.Exit != nil {
		return *e.Exit == 0 && (e.Outcome == transcript.OK || e.Outcome == transcript.Unknown)
	}
	return e.Outcome == transcript.OK
}

// inside is a path relative to a folder that it lies in, with slashes.
func inside(dir, path string) (string, bool) {
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return "", false
		}
		path = rel
	}
	path = filepath.ToSlash(filepath.Clean(path))
	return path, path != "." && filepath.IsLocal(filepath.FromSlash(path))
}
