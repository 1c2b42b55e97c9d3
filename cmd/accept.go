package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func acceptCommand(env *Env) *cli.Command {
	var all bool
	return &cli.Command{
		Name:      "accept",
		Usage:     "accept pending operations",
		ArgsUsage: "OP…",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "everything that waits", Destination: &all}},
		Action: func(c *cli.Context) error {
			if all == (c.NArg() > 0) {
				return exit.Usage("'reverie review' shows what waits", "accept wants the ids of operations, or --all")
			}
			return runAccept(c.Context, env, c.Args().Slice(), all)
		},
	}
}

func runAccept(ctx context.Context, env *Env, ids []string, all bool) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.WantPerson("accept"); err != nil {
		return err
	}
	var ops []record.Operation
	err = w.view(ctx, func(v *record.View) error {
		ops, err = w.pick(v, ids, all)
		return err
	})
	if err != nil {
		return err
	}
	if len(ops) == 0 {
		env.Say("nothing waits")
	}
	accepted, err := w.accept(ctx, ops, "accept", nil)
	return errors.Join(w.tellAccepted(accepted), err)
}

// pick finds pending operations by the beginnings of their ids.
func (w *workspace) pick(v *record.View, ids []string, all bool) ([]record.Operation, error) {
	pending, err := w.pending(v)
	if all || err != nil {
		return pending, err
	}
	var out []record.Operation
	for _, id := range ids {
		o, err := record.FindOperation(pending, id)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// maxListed bounds what a commit message lists.
const maxListed = 50

// manyAccepted is from how many operations on they share a commit.
const manyAccepted = 20

// accept applies operations as they were shown, one commit each or, when they are many, one for
// all. let, which may be nil, judges each once more as it is under the lock. An operation that
// cannot be decided as shown is left where it is and told in the error; the others are done.
func (w *workspace) accept(ctx context.Context, shown []record.Operation, verb string, let func(config.Config, record.Operation) bool) (done []record.Operation, err error) {
	size := 1
	if len(shown) >= manyAccepted {
		size = len(shown)
	}
	var left []error
	for batch := range slices.Chunk(shown, size) {
		var applied []record.Operation
		var refused []error
		err := w.update(ctx, func(tx *record.Tx, c config.Config) error {
			applied, refused = nil, nil
			for _, o := range batch {
				now, err := tx.Pending(o)
				if err == nil && let != nil && !let(c, now) {
					continue
				}
				if err == nil {
					now.Memory.Supersedes, err = w.overruled(tx.View, now, applied)
				}
				if err == nil {
					err = tx.Accept(now)
				}
				switch {
				case record.Undecidable(err):
					refused = append(refused, err)
				case err != nil:
					return err
				default:
					applied = append(applied, now)
				}
			}
			tx.Describe(acceptCommit(verb, applied...))
			return nil
		})
		if err != nil {
			return done, errors.Join(append(left, err)...)
		}
		done, left = append(done, applied...), append(left, refused...)
	}
	return done, errors.Join(left...)
}

// overruled returns the ids of the memories that accepting an operation retires. The error wraps record.ErrChanged if it
// contradicts what the same commit adds.
func (w *workspace) overruled(v *record.View, o record.Operation, applied []record.Operation) ([]string, error) {
	for _, a := range applied {
		if o.Op == record.Add && slices.Contains(o.Contradicts, a.Memory.ID) {
			return nil, fmt.Errorf("accept %s: %w: it contradicts %s", o.ID, record.ErrChanged, a.Memory.ID)
		}
	}
	return dream.Overruled(v, o, w.env.Now()), nil
}

// acceptCommit says in a commit what was accepted and by what right.
func acceptCommit(verb string, ops ...record.Operation) gitstore.Commit {
	var c gitstore.Commit
	if len(ops) == 0 {
		return c
	}
	if len(ops) == 1 {
		o := ops[0]
		c.Subject = o.Verb() + ": " + record.CommitSubject(o.Memory.Text)
		c.Body = o.Memory.Body
		if o.Op == record.Skill {
			c.Body = o.Path
		}
	} else {
		c.Subject = fmt.Sprintf("remember: %d statements", len(ops))
		var lines []string
		for _, o := range ops[:min(maxListed, len(ops))] {
			lines = append(lines, "- "+o.Verb()+": "+o.Memory.Text)
		}
		if more := len(ops) - maxListed; more > 0 {
			lines = append(lines, fmt.Sprintf("- and %d more", more))
		}
		c.Body = strings.Join(lines, "\n")
	}
	c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Op", Value: verb})
	seen := map[string]bool{}
	byModel := func(name string) {
		if name != "" && !seen["model "+name] {
			seen["model "+name] = true
			c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Model", Value: name})
		}
	}
	for _, o := range ops {
		byModel(o.Model)
		for _, s := range o.Sightings {
			if name := s.Client + "/" + s.Session; !seen[name] && len(seen) < maxListed {
				seen[name] = true
				c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Session", Value: name})
			}
			byModel(s.Model)
		}
		if o.Dream != "" && !seen[o.Dream] {
			seen[o.Dream] = true
			c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Dream", Value: o.Dream})
		}
	}
	return c
}

// tellAccepted writes what became memory.
func (w *workspace) tellAccepted(ops []record.Operation) error {
	for _, o := range ops {
		if w.env.JSON {
			if err := w.env.Object(newOperationJSON(o, "").Memory); err != nil {
				return err
			}
			continue
		}
		switch o.Op {
		case record.Retire:
			w.line("-", term.Red, o.Memory, "")
		case record.Skill:
			w.line("+", term.Green, o.Memory, o.Path)
		default:
			w.line("+", term.Green, o.Memory, "")
			for _, id := range o.Memory.Supersedes {
				w.env.Say("%s is retired: %s takes its place", id[:8], o.Memory.ID[:8])
			}
		}
	}
	return nil
}
