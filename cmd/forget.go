package cmd

import (
	"context"
	"strings"

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
