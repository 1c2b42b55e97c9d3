package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn/dreams"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// dreamOptions are those of dream and of distill.
type dreamOptions struct {
	model  modelChoice
	ifDue  bool
	dryRun bool
	which  dreams.SessionFilter // dream's alone
}

func dreamCommand(env *Env) *cli.Command {
	var e dreamByHand
	var l filterFlags
	return dreaming(env, &cli.Command{
		Name:  "dream",
		Usage: "turn reflections into pending operations",
		Description: "A model, named by a setting or by --model, also proposes operations, and judges which of several\n" +
			"conflicting statements hold. Its proposals always wait for a person. --print-prompt prints the\n" +
			"prompts for a model, and --import reads the answers of a model that Reverie cannot reach.",
		Flags: slices.Concat(l.flags(), e.flags()),
	}, "5 reflections are new and the last dream is a day old, or 20 are new", "--since and --last choose among the reflections that are new",
		func(c *cli.Context, env *Env, o dreamOptions) (err error) {
			if o.which, err = l.filter(c, o.ifDue, env.Now()); err != nil {
				return err
			}
			ctx := c.Context
			if e == (dreamByHand{}) {
				return env.with(ctx, func(w *workspace) error { return runDream(ctx, w, o) })
			}
			if err := e.check(o); err != nil {
				return err
			}
			return e.run(ctx, env, o)
		})
}

// dreaming gives a command the flags of one that puts what follows from the sessions into the
// inbox. due is when it is, and all says what else to choose by.
func dreaming(env *Env, command *cli.Command, due, all string, run func(*cli.Context, *Env, dreamOptions) error) *cli.Command {
	var o dreamOptions
	command.Flags = slices.Concat([]cli.Flag{
		&cli.BoolFlag{Name: "if-due", Usage: "run only if " + due, Destination: &o.ifDue},
		&cli.BoolFlag{Name: "dry-run", Usage: "print what would change, and change nothing", Destination: &o.dryRun},
	}, command.Flags, modelFlags(&o.model))
	command.Action = func(c *cli.Context) error {
		if c.NArg() > 0 {
			return exit.Usage(all, "%s takes no arguments", command.Name)
		}
		if err := o.model.check(); err != nil {
			return err
		}
		return run(c, env, o)
	}
	return command
}

func runDream(ctx context.Context, w *workspace, o dreamOptions) error {
	m, set, err := modelOf(w, ctx, model.Dream, o.model.asked())
	if err != nil {
		return err
	}
	l := w.learner()
	if o.ifDue {
		due, wait, err := l.Due(ctx, m)
		if err != nil {
			return err
		}
		if !due {
			w.env.Say("not due: %s", whyNotDue(wait))
			return nil
		}
	}
	var plan dream.Result
	if o.dryRun {
		plan, err = l.Plan(ctx, o.which)
	} else {
		plan, _, err = l.Dream(ctx, o.which)
		l.Land(ctx)
	}
	if err != nil {
		return err
	}
	if err := tellProposed(w, plan.Operations); err != nil || m == nil {
		return err
	}
	var asked dream.Considered
	if o.dryRun {
		asked, err = l.Preview(ctx, m, set, o.which, plan)
	} else {
		asked, err = l.Consider(ctx, m, set, o.which)
	}
	if err != nil {
		return noAnswer(err, "the operations found without the model are pending; the next dream asks again")
	}
	return tellProposed(w, asked.Operations)
}

// modelOf is workspace.model; tests put a scripted one in its place.
var modelOf = (*workspace).model

func whyNotDue(wait dreams.Wait) string {
	if wait.Last.IsZero() {
		return fmt.Sprintf("%s new, and it takes %d", plural.Count(wait.New, "reflection is", "reflections are"), wait.Wanted)
	}
	return fmt.Sprintf("the last dream was at %s, less than a day ago, and fewer than %d reflections are new", wait.Last.Format(time.RFC3339), wait.Wanted)
}

// noAnswer is the end of a command that a model gave no usable answer.
func noAnswer(err error, hint string) error {
	if f := new(exit.Error); errors.As(err, &f) || term.Interrupted(err) {
		return err
	}
	return exit.New(exit.Failed, err, hint)
}

func tellProposed(w *workspace, ops []record.Operation) error {
	return rows(w.env, ops, func(o record.Operation) wire.Operation { return wire.OfOperation(o, "") }, func(o record.Operation) {
		w.env.Print("%s\t%s\t%s\t%s\n", o.ID[:8], o.Op, o.Memory.Kind, term.Visible(o.Memory.Text))
	})
}
