package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/urfave/cli/v2"
)

func loopCancelCommand(env *Env) *cli.Command {
	var remove bool
	return &cli.Command{
		Name:      "cancel",
		Usage:     "end a loop and commit its work",
		ArgsUsage: "[NAME]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "remove-worktree", Usage: "remove the worktree if it is clean; the branch stays", Destination: &remove},
		},
		Action: loopAction(env, 0, 1, func(w *workspace, c *cli.Context, words, _ []string) error {
			return runLoopCancel(c.Context, w, strings.Join(words, ""), remove)
		}),
	}
}

// runLoopCancel ends a loop. Its work is committed.
func runLoopCancel(ctx context.Context, w *workspace, name string, remove bool) error {
	s, gone, err := loops(w).Cancel(ctx, name, remove)
	if err != nil {
		return err
	}
	if w.env.JSON {
		return objectLoop(ctx, w, s.Name)
	}
	w.env.Say("loop %s is %s; %s", s.Name, loopPhase(s), fault.Work(s))
	if gone != "" {
		w.env.Say("removed the work tree %s; the branch stays", gone)
	}
	return nil
}
