package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/urfave/cli/v2"
)

func loopResumeCommand(env *Env) *cli.Command {
	var o loopChoice
	var detach bool
	sandbox := o.sandboxFlag() // is refused with a reason
	sandbox.Hidden = true
	return &cli.Command{
		Name:      "resume",
		Usage:     "continue a stopped or interrupted loop",
		ArgsUsage: "[NAME] [-- COMMAND [ARG…]]",
		Flags:     append(o.carryFlags(&detach), sandbox),
		Action: loopAction(env, 0, 1, func(w *workspace, c *cli.Context, words, command []string) error {
			return runLoopResume(c.Context, w, strings.Join(words, ""), o.choice(c, command), detach)
		}),
	}
}

// runLoopResume has a loop go on that stopped or was interrupted.
func runLoopResume(ctx context.Context, w *workspace, name string, o plan.Choice, detach bool) error {
	c, err := loops(w).Resume(ctx, name, o)
	switch {
	case err != nil:
		return err
	case c.State.Phase.Over(): // nothing was left to do
		return carryLoop(ctx, w, c)
	case !detach:
		w.env.Say("%s: iteration %d continues", c.State.Phase, c.State.Iteration)
	}
	return runLoop(ctx, w, c, detach)
}
