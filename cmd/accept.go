package cmd

import (
	"context"
	"errors"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func acceptCommand(env *Env) *cli.Command {
	var all, yes bool
	return &cli.Command{
		Name:      "accept",
		Usage:     "accept pending operations",
		ArgsUsage: "OP…",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "accept all pending operations except apparent attacks and guards that hold, ask or deny", Destination: &all},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask about an OP that looks like an attack on agents", Destination: &yes},
		},
		Action: func(c *cli.Context) error {
			switch {
			case all == (c.NArg() > 0):
				return exit.Usage("'reverie review' lists the pending operations", "accept takes operation ids, or --all")
			case all && yes:
				return exit.Usage("name them: reverie accept --yes OP", "--all leaves apparent attacks out, so it excludes --yes")
			}
			return runAccept(c.Context, env, c.Args().Slice(), yes, usage.Again(c, "--yes"))
		},
	}
}

// runAccept accepts operations. again is the command with --yes.
func runAccept(ctx context.Context, env *Env, ids []string, yes bool, again string) error {
	w, err := env.openToDecide(ctx, "accept")
	if err != nil {
		return err
	}
	queue, err := w.learner().Queue(ctx, ids)
	if err != nil {
		return err
	}
	if len(queue) == 0 {
		env.Say("no pending operations")
	}
	if len(ids) == 0 {
		var gates int
		if queue, gates = inbox.WithoutGates(queue); gates > 0 {
			env.Say("%s would hold up calls of tools; next: reverie review", plural.Count(gates, "operation", "operations"))
		}
	}
	rest, attacks := inbox.WithoutAttacks(queue)
	switch {
	case attacks == nil || yes:
	case len(ids) == 0:
		queue = rest
		env.Say("%s; next: reverie review", inbox.LeftOut(attacks))
	default:
		for _, why := range attacks {
			env.Warn("%s", why)
		}
		if !env.Ask("Accept anyway?", "n") {
			return exit.New(exit.NeedsPerson, errors.New("accept: nothing was accepted"), "to go ahead: "+again)
		}
	}
	accepted, err := w.learner().Accept(ctx, inbox.Operations(queue), "accept")
	return errors.Join(tellAccepted(w, accepted), err)
}

// tellAccepted writes what became memory.
func tellAccepted(w *workspace, ops []record.Operation) error {
	return rows(w.env, ops, func(o record.Operation) wire.Memory { return wire.OfOperation(o, "").Memory }, func(o record.Operation) {
		switch o.Op {
		case record.Retire:
			line(w, "-", term.Red, o.Memory, "")
		case record.Skill:
			line(w, "+", term.Green, o.Memory, o.Path)
		default:
			line(w, "+", term.Green, o.Memory, "")
			for _, id := range o.Memory.Supersedes {
				w.env.Say("%s is retired: %s replaces it", id[:8], o.Memory.ID[:8])
			}
		}
	})
}
