package cmd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/urfave/cli/v2"
)

type reflectOptions struct {
	pending     bool
	dryRun      bool
	model       modelChoice
	printPrompt bool
	from        string // file with a model's answer
}

func reflectCommand(env *Env) *cli.Command {
	var o reflectOptions
	return &cli.Command{
		Name:      "reflect",
		Usage:     "study sessions and keep what they taught as reflections",
		ArgsUsage: "[SESSION…]",
		Description: "Detectors study a session at once. Where a local model is wanted (--model, or the setting model.name), it reads the\n" +
			"session afterwards; what it finds waits for a person, whoever said it. --print-prompt prints what a model would be asked,\n" +
			"and --import takes in an answer to that, from a model that Reverie cannot reach.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "pending", Usage: "every kept session that has no reflection yet, or that the model has not read", Destination: &o.pending},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be kept, and keep nothing", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "print-prompt", Usage: "print what a model would be asked, and ask nobody", Destination: &o.printPrompt},
			&cli.StringFlag{Name: "import", Usage: "take the answer of model NAME (--model) from `FILE`, - is standard input", Destination: &o.from},
		}, modelFlags(&o.model)...),
		Action: func(c *cli.Context) error {
			if o.pending == (c.NArg() > 0) {
				return usage("'reverie sessions' lists the sessions", "reflect wants sessions, or --pending")
			}
			if err := o.check(c.NArg()); err != nil {
				return err
			}
			return runReflect(c.Context, env, c.Args().Slice(), o)
		},
	}
}

func (o reflectOptions) check(sessions int) error {
	switch {
	case o.from != "" && (sessions != 1 || o.printPrompt || o.model.none):
		return usage("an answer is about one session", "--import wants exactly one session, and neither --print-prompt nor --no-model")
	case o.printPrompt && o.dryRun:
		return usage("it keeps nothing anyway", "--print-prompt and --dry-run exclude each other")
	}
	return o.model.check()
}

func runReflect(ctx context.Context, env *Env, names []string, o reflectOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.printPrompt {
		return w.printPrompts(ctx, names, o)
	}
	if o.from != "" {
		return w.importAnswer(ctx, names[0], o)
	}
	m, set, err := w.model(ctx, o.model.asked())
	if err != nil {
		return err
	}
	toRead := names
	if o.pending {
		if names, err = w.pendingSessions(ctx); err != nil {
			return err
		}
		toRead = nil
		if m != nil {
			if toRead, err = w.unreadSessions(ctx, m); err != nil {
				return err
			}
		}
		if len(names)+len(toRead) == 0 {
			env.say("every kept session has its reflection")
			return nil
		}
	}
	studied, err := w.study(ctx, names)
	if err != nil {
		return err
	}
	keep := func(all []record.Reflection) error { return w.tellCandidates(all) }
	if !o.dryRun {
		if len(studied)+len(toRead) > 0 {
			if _, err := w.ensure(ctx); err != nil {
				return err
			}
		}
		keep = func(all []record.Reflection) error {
			fresh, err := w.keepReflections(ctx, all)
			if err != nil {
				return err
			}
			w.tellReflections(tallied(fresh))
			return w.tellCandidates(fresh)
		}
	} else if o.pending {
		if studied, err = w.unkept(ctx, studied); err != nil {
			return err
		}
	}
	if len(studied) > 0 {
		if err := keep(studied); err != nil {
			return err
		}
	}
	if m == nil {
		return nil
	}
	all, err := w.readAll(ctx, m, set, toRead, func(r record.Reflection) error { return keep([]record.Reflection{r}) })
	if all.left > 0 && err == nil {
		env.say("%s left to read: reverie reflect --pending", count(all.left, "session", "sessions"))
	}
	return err
}

// tellCandidates gives what reflections found.
func (w *workspace) tellCandidates(all []record.Reflection) error {
	for _, r := range all {
		if w.env.JSON {
			if err := w.env.object(r); err != nil {
				return err
			}
			continue
		}
		for _, c := range r.Candidates {
			w.env.print("%s\t%s\t%s\n", c.Kind, c.How, visible(c.Text))
		}
	}
	return nil
}

// sessionNames are the names of every kept session, the oldest first.
func (w *workspace) sessionNames() ([]string, error) {
	kept, err := w.sessions.List()
	if err != nil {
		w.env.warn("%v", err)
	}
	var names []string
	for _, k := range kept {
		names = append(names, k.Name())
	}
	return names, nil
}

// pendingSessions are the names of the kept sessions that have no reflection as they are now, the
// oldest first. It reads no events. A session whose file does not tell its hash is among them.
func (w *workspace) pendingSessions(ctx context.Context) ([]string, error) {
	kept, err := w.sessions.List()
	if err != nil {
		w.env.warn("%v", err)
	}
	var stand []record.Reflection // what Study would name so
	for _, k := range kept {
		stand = append(stand, record.Reflection{Client: k.Client, Session: k.ID, Started: k.Started, Hash: k.Hash})
	}
	stand, err = w.unkept(ctx, stand)
	var names []string
	for _, r := range stand {
		names = append(names, r.Client+"/"+r.Session)
	}
	return names, err
}

// unkept are those of some reflections that are not in the journal. One without a hash counts as not kept.
func (w *workspace) unkept(ctx context.Context, all []record.Reflection) ([]record.Reflection, error) {
	var out []record.Reflection
	err := w.view(ctx, func(v *record.View) error {
		out = nil
		for _, r := range all {
			if len(r.Hash) < sha256.Size*2 || !v.Has(r) {
				out = append(out, r)
			}
		}
		return nil
	})
	if errors.Is(err, gitstore.ErrNoStore) && !errors.Is(err, gitstore.ErrDeleted) {
		return all, nil
	}
	return out, err
}

// study reads sessions and reflects on each.
func (w *workspace) study(ctx context.Context, names []string) ([]record.Reflection, error) {
	var out []record.Reflection
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kept, events, err := w.sessions.Load(name)
		if err != nil {
			return nil, fmt.Errorf("reflect: %w", err)
		}
		out = append(out, reflect.Study(kept.Session, events))
	}
	return out, nil
}

// keepReflections writes those that are not kept yet to the journal, in one commit, and returns
// them.
func (w *workspace) keepReflections(ctx context.Context, studied []record.Reflection) ([]record.Reflection, error) {
	var fresh []record.Reflection
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		fresh = nil
		for _, r := range studied {
			if tx.Has(r) {
				continue
			}
			if err := tx.PutReflection(record.Journal, r); err != nil {
				return err
			}
			fresh = append(fresh, r)
		}
		tx.Describe(reflectionCommit(fresh))
		return nil
	})
	return fresh, err
}

// reflected is what is told of a reflection.
type reflected struct {
	session        string
	found, refused int
}

func tallied(fresh []record.Reflection) []reflected {
	var out []reflected
	for _, r := range fresh {
		t := reflected{session: r.Client + "/" + r.Session, found: len(r.Candidates)}
		for _, n := range r.Dropped {
			t.refused += n
		}
		out = append(out, t)
	}
	return out
}

// maxReflected is how many reflections are told one by one; of more, what they come to together.
const maxReflected = 8

func (w *workspace) tellReflections(all []reflected) {
	if len(all) > maxReflected {
		sum := reflected{session: count(len(all), "session", "sessions")}
		for _, r := range all {
			sum.found, sum.refused = sum.found+r.found, sum.refused+r.refused
		}
		all = []reflected{sum}
	}
	for _, r := range all {
		w.env.say("reflect  %s: %s found, %d refused at the gate", r.session, count(r.found, "candidate", "candidates"), r.refused)
	}
}

func reflectionCommit(fresh []record.Reflection) gitstore.Commit {
	c := gitstore.Commit{Subject: fmt.Sprintf("reflect: %s", count(len(fresh), "session", "sessions")), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "reflect"}}}
	if len(fresh) == 1 {
		c.Subject = fmt.Sprintf("reflect: %s/%s", fresh[0].Client, fresh[0].Session)
	}
	for _, r := range fresh {
		c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Session", Value: r.Client + "/" + r.Session})
		if r.Model != "" {
			c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Model", Value: r.Model}, gitstore.Trailer{Key: "Reverie-Prompt", Value: r.Prompt})
		}
	}
	return c
}
