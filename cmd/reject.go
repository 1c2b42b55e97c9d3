package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type rejectOptions struct {
	all    bool
	undo   bool
	reason string
}

func rejectCommand(env *Env) *cli.Command {
	var o rejectOptions
	return &cli.Command{
		Name:      "reject",
		Usage:     "reject pending operations; they are not proposed again",
		ArgsUsage: "OP…",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "reject all pending operations", Destination: &o.all},
			&cli.BoolFlag{Name: "undo", Usage: "return rejected operations to the inbox; 'reverie review --rejected' lists them", Destination: &o.undo},
			&cli.StringFlag{Name: "reason", Usage: "record `WHY` you reject them", Destination: &o.reason},
		},
		Action: func(c *cli.Context) error {
			if o.all == (c.NArg() > 0) || o.undo && (o.all || o.reason != "") {
				return exit.Usage("'reverie review' lists the pending operations", "reject takes operation ids, or --all; --undo takes ids")
			}
			w, err := env.openToDecide(c.Context, "reject")
			if err != nil {
				return err
			}
			return reject(c.Context, w, c.Args().Slice(), o)
		},
	}
}

// reject drops operations, or returns rejected ones, and lists them.
func reject(ctx context.Context, w *workspace, ids []string, o rejectOptions) error {
	mark, colour, why := "-", term.Red, "rejected"
	var ops []record.Operation
	var lost []record.Rejection
	var err error
	if o.undo {
		mark, colour, why = "?", term.Dim, "waits again"
		ops, lost, err = w.learner().Restore(ctx, ids)
	} else {
		ops, err = w.learner().Reject(ctx, ids, o.all, o.reason)
	}
	if err != nil {
		return err
	}
	for _, r := range lost {
		w.env.Say("%s is not rejected any more, but its operation is lost; sessions may propose it again", r.ID[:8])
	}
	return rows(w.env, ops, func(o record.Operation) wire.Operation { return wire.OfOperation(o, why) },
		func(o record.Operation) { line(w, mark, colour, o.Memory, "") })
}
