package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/urfave/cli/v2"
)

func loopStartCommand(env *Env) *cli.Command {
	var o loopChoice
	var order plan.Order
	var detach bool
	return &cli.Command{
		Name:      "start",
		Usage:     "start a loop and run it to its end",
		ArgsUsage: "PLAN [-- COMMAND [ARG…]]",
		Description: "PLAN is a Markdown file, or - for standard input. --agent or COMMAND writes the code; COMMAND reads\n" +
			"the prompt from standard input. --audit, --audit-agent or --audit-model names the auditor, which\n" +
			"looks for defects; --min-audits 0 does without one. An audit prints\n" +
			"{\"findings\":[{\"file\",\"line\",\"severity\",\"text\"}]}. Paths in COMMAND and --audit are relative\n" +
			"to the top of the loop's worktree. On a terminal a full screen follows the loop, which goes on in\n" +
			"the background if you leave.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "call the loop `NAME` (default: from the plan's title)", Destination: &order.Name},
			loopBaseFlag(&order.Base), o.sandboxFlag(),
			&cli.BoolFlag{Name: "in-place", Usage: "work in this worktree, on its branch; it must be clean", Destination: &order.InPlace},
		}, o.carryFlags(&detach)...),
		Action: loopAction(env, 1, 1, func(w *workspace, c *cli.Context, words, command []string) error {
			order.Choice, order.File = o.choice(c, command), words[0]
			return runLoopStart(c.Context, w, order, detach)
		}),
	}
}

// runLoopStart starts a loop, and carries it on until it ends.
func runLoopStart(ctx context.Context, w *workspace, o plan.Order, detach bool) (err error) {
	if err := fault.Outside("start"); err != nil { // before it waits for a plan on standard input
		return err
	}
	if o.Plan, err = planText(ctx, w.env, o.File); err != nil {
		return err
	}
	c, err := loops(w).Start(ctx, o)
	if err == nil {
		err = runLoop(ctx, w, c, detach)
	}
	return err
}

// planText reads a plan.
func planText(ctx context.Context, env *Env, name string) (string, error) {
	from := env.In
	if name != "-" {
		f, err := term.OpenFile(ctx, env.path(name))
		if err != nil {
			return "", fmt.Errorf("read the plan: %w", err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, worktree.MaxPlan+1))
	return string(text), err
}

// runLoop runs a loop in the background if detach is set. Else it runs the loop behind a person's
// full screen, or in this process.
func runLoop(ctx context.Context, w *workspace, c *loop.Claim, detach bool) error {
	if !detach && (w.env.follow == nil || w.env.JSON || w.env.Quiet || w.Asker() != "" || c.State.ByHand()) {
		return carryLoop(ctx, w, c)
	}
	ended, err := c.Detach(ctx)
	if err == nil && ended == nil && !detach {
		ended, err = w.env.follow(ctx, w, c.State.Name)
	}
	switch {
	case err != nil:
		return err
	case ended != nil && !detach:
		return tellLoopEnd(ctx, w, *ended)
	}
	name := c.State.Name
	if ended != nil {
		w.env.Say("loop %s is %s", name, loopPhase(*ended))
	} else {
		w.env.Say("loop %s continues in the background; to watch it: reverie loop status %s --watch", name, name)
	}
	if w.env.JSON {
		return w.env.Object(map[string]string{"name": name, "branch": strings.TrimPrefix(c.State.Branch, "refs/heads/")})
	}
	w.env.Print("%s\n", name)
	return nil
}

// loopPhase returns the phase of a loop, and why it stopped.
func loopPhase(s worktree.State) string {
	return strings.TrimSuffix(string(s.Phase)+": "+string(s.Reason), ": ")
}
