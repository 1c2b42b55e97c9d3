package cmd

import (
	"context"

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
			&cli.BoolFlag{Name: "all", Usage: "reject all pending operations", Destination: &o.all},
			&cli.StringFlag{Name: "reason", Usage: "record `WHY` you reject them", Destination: &o.reason},
		},
		Action: func(c *cli.Context) error {
			if o.all == (c.NArg() > 0) {
				return exit.Usage("'reverie review' lists the pending operations", "reject takes operation ids, or --all")
			}
			w, err := env.openToDecide(c.Context, "reject")
			if err != nil {
				return err
			}
			return reject(c.Context, w, c.Args().Slice(), o)
		},
	}
}

// reject drops operations and lists them.
func reject(ctx context.Context, w *workspace, ids []string, o rejectOptions) error {
	ops, err := w.learner().Reject(ctx, ids, o.all, o.reason)
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
		line(w, "-", term.Red, op.Memory, "")
	}
	return nil
}
