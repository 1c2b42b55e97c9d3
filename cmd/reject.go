package cmd

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type rejectOptions struct {
	all    bool
	reason string
}

func rejectCommand(env *Env) *cli.Command {
	var o rejectOptions
	return &cli.Command{
		Name:      "reject",
		Usage:     "reject pending operations; they are not proposed again",
		ArgsUsage: "OP…",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "everything that waits", Destination: &o.all},
			&cli.StringFlag{Name: "reason", Usage: "why, for those who wonder later", Destination: &o.reason},
		},
		Action: func(c *cli.Context) error {
			if o.all == (c.NArg() > 0) {
				return exit.Usage("'reverie review' shows what waits", "reject wants the ids of operations, or --all")
			}
			w, err := env.open(c.Context)
			if err != nil {
				return err
			}
			if err := w.WantPerson("reject"); err != nil {
				return err
			}
			return w.reject(c.Context, c.Args().Slice(), o)
		},
	}
}

func (w *workspace) reject(ctx context.Context, ids []string, o rejectOptions) error {
	var ops []record.Operation
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		var err error
		if ops, err = w.pick(tx.View, ids, o.all); err != nil {
			return err
		}
		for _, op := range ops {
			r := record.Rejection{ID: op.ID, Text: op.Memory.Text, Body: op.Memory.Body, Reason: o.reason, How: op.How, Time: w.env.Now().UTC()}
			if err := tx.Reject(r); err != nil {
				return err
			}
		}
		tx.Describe(gitstore.Commit{Subject: fmt.Sprintf("reject: %s", term.Count(len(ops), "operation", "operations")), Body: o.reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "reject"}}})
		return nil
	})
	if err != nil {
		return err
	}
	for _, op := range ops {
		if w.env.JSON {
			if err := w.env.Object(newOperationJSON(op, "rejected")); err != nil {
				return err
			}
			continue
		}
		w.line("-", term.Red, op.Memory, "")
	}
	return nil
}
