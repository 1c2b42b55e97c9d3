package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/urfave/cli/v2"
)

func forgetCommand(env *Env) *cli.Command {
	var reason string
	return &cli.Command{
		Name:      "forget",
		Usage:     "take a memory out of force; it stays in history and cannot be learned again",
		ArgsUsage: "ID",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY` it no longer holds", Destination: &reason}},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 || reason == "" {
				return usage(`reverie forget ID --reason "the v1 client is gone"`, "forget wants one id, and a reason for those who wonder later")
			}
			return runForget(c.Context, env, c.Args().First(), reason)
		},
	}
}

func runForget(ctx context.Context, env *Env, id, reason string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if env.caller != "" {
		return w.suggestForget(ctx, id, reason)
	}
	if err := w.wantsPerson("forget"); err != nil {
		return err
	}
	var m record.Memory
	already := false
	err = w.update(ctx, func(t *record.Tx, _ config.Config) error {
		held, err := t.Find(id)
		if err != nil {
			return err
		}
		m, already = held, held.Status == record.Retired
		if already {
			return nil
		}
		m = held.Retire(reason)
		commit := gitstore.Commit{Subject: "forget: " + lowerFirst(m.Text), Body: reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "forget"}}}
		t.Describe(commit)
		return t.PutMemory(m, &held)
	})
	if err != nil {
		return err
	}
	if already {
		env.say("it was retired already: %s", visible(strings.Join(m.Reasons(), " ")))
	}
	if env.JSON {
		return env.object(newMemoryJSON(m))
	}
	if already {
		w.line("-", red, m, strings.Join(m.Reasons(), " "))
		return nil
	}
	w.line("-", red, m, "retired; its text stays in git's history")
	return nil
}

// suggestForget puts into the inbox that an agent wants a memory out of force.
func (w *workspace) suggestForget(ctx context.Context, id, reason string) error {
	var o record.Operation
	var said string
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		said = ""
		held, err := tx.Find(id)
		if err != nil {
			return err
		}
		if held.Status == record.Retired {
			said = "it was retired already"
			return nil
		}
		clean, _ := w.book.Clean(held.Retire(reason))
		blob, _ := tx.Blob(held.ID)
		o = record.NewOperation(record.Operation{
			Op: record.Retire, How: record.Written, Memory: clean, Why: "an agent wants it forgotten: " + w.env.caller,
			Base: []record.Base{{ID: held.ID, Path: held.Path(), Blob: string(blob)}}, Proposed: w.env.Now().UTC().Truncate(time.Second),
		})
		pending, err := w.pending(tx.View)
		if err != nil {
			return err
		}
		rejected, err := tx.Rejections()
		if err := w.tolerate(err); err != nil {
			return err
		}
		switch {
		case slices.ContainsFunc(pending, func(p record.Operation) bool { return p.ID == o.ID }):
			said = "that waits already"
			return nil
		case slices.ContainsFunc(rejected, func(r record.Rejection) bool { return r.ID == o.ID }):
			return &failure{exitPerson, errors.New("forget: a person rejected that before, and an agent cannot ask again"), "a person can: reverie forget, in a terminal"}
		}
		tx.Describe(gitstore.Commit{Subject: "suggest: forget " + lowerFirst(held.Text), Body: reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "suggest"}}})
		return tx.PutOperation(o)
	})
	if err != nil {
		return err
	}
	if said != "" {
		w.env.say("%s", said)
		return nil
	}
	w.tidy(ctx)
	w.env.say("an agent cannot decide this: it waits for a person; next: reverie review")
	w.env.print("%s\n", o.ID)
	return nil
}
