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
	pending bool
	dryRun  bool
}

func reflectCommand(env *Env) *cli.Command {
	var o reflectOptions
	return &cli.Command{
		Name:      "reflect",
		Usage:     "study sessions and keep what they taught as reflections",
		ArgsUsage: "[SESSION…]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "pending", Usage: "every kept session that has no reflection yet", Destination: &o.pending},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be kept, and keep nothing", Destination: &o.dryRun},
		},
		Action: func(c *cli.Context) error {
			if o.pending == (c.NArg() > 0) {
				return usage("'reverie sessions' lists the sessions", "reflect wants sessions, or --pending")
			}
			return runReflect(c.Context, env, c.Args().Slice(), o)
		},
	}
}

func runReflect(ctx context.Context, env *Env, names []string, o reflectOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.pending {
		if names, err = w.pendingSessions(ctx); err != nil {
			return err
		}
		if len(names) == 0 {
			env.say("every kept session has its reflection")
			return nil
		}
	}
	studied, err := w.study(ctx, names)
	if err != nil {
		return err
	}
	switch {
	case o.dryRun && o.pending:
		if studied, err = w.unkept(ctx, studied); err != nil {
			return err
		}
	case !o.dryRun && len(studied) > 0:
		if _, err := w.ensure(ctx); err != nil {
			return err
		}
		if studied, err = w.keepReflections(ctx, studied); err != nil {
			return err
		}
		w.tellReflections(tallied(studied))
	}
	for _, r := range studied {
		if env.JSON {
			if err := env.object(r); err != nil {
				return err
			}
			continue
		}
		for _, c := range r.Candidates {
			env.print("%s\t%s\t%s\n", c.Kind, c.How, visible(c.Text))
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
	}
	return c
}
