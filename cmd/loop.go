package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/reverie-memory/reverie/worktree/loop/status"
	"github.com/urfave/cli/v2"
)

func loopCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "loop",
		Usage:     "run an agent on a plan until its checks pass",
		ArgsUsage: "COMMAND",
		Description: "A plan is a Markdown file; a block marked ```verify lists the commands that check it. In each\n" +
			"iteration an agent codes, and Reverie commits the result on the branch reverie/loop/NAME. Then the\n" +
			"plan's commands run, and an audit looks for defects. The loop is done when the commands pass and no\n" +
			"finding blocks. Without NAME, a command uses the only loop that has not ended, else the only loop.",
		Subcommands: append([]*cli.Command{
			loopLintCommand(env), loopStartCommand(env), loopStatusCommand(env), loopOutputCommand(env), loopFindingsCommand(env),
			loopCancelCommand(env), loopResumeCommand(env), loopRemoveCommand(env),
		}, loopHiddenCommands(env)...),
		Action: usage.NoVerb,
	}
}

// loopAction opens the repository for a command below loop that takes least to most words.
func loopAction(env *Env, least, most int, run func(w *workspace, c *cli.Context, words, command []string) error) cli.ActionFunc {
	return usage.Takes(least, most, func(c *cli.Context, words, command []string) error {
		return env.with(c.Context, func(w *workspace) error { return run(w, c, words, command) })
	})
}

// loops returns the loops of the clone. Their notes go to the terminal.
func loops(w *workspace) *loop.Loops {
	return &loop.Loops{
		Planner: &plan.Planner{Reader: w.Reader, Notify: w.tellLoopNote, Model: func(ctx context.Context, name string) (*prompts.Model, prompts.Set, error) {
			return w.model(ctx, model.Other, name)
		}},
		Ingest: func(ctx context.Context) error { return ingester(w).Sweep(ctx) },
		Learn: func(ctx context.Context, session string) (int, error) {
			res, err := w.learner().Learn(ctx, []string{session})
			if err != nil || len(res.Rest) == 0 {
				return 0, err
			}
			return res.Waiting, nil
		},
	}
}

// tellLoopNote words a note of loops.
func (w *workspace) tellLoopNote(n plan.Note) {
	env := w.env
	switch n := n.(type) {
	case loop.Stepped:
		env.Say("%s", worktree.Subject(n.Before, n.After, n.Event))
	case plan.Doubtful:
		env.Say("%s about the plan; see them: reverie loop lint %s", plural.Count(n.N, "warning", "warnings"), n.Plan)
	case loop.NoSubmodules:
		env.Warn("%s", n.Text)
	case loop.Lacks:
		env.Warn("the %s is given no memories: %v", n.Reader, n.Err)
	case loop.Stays:
		env.Warn("its work tree stays: %v; to remove it then: reverie loop cancel %s --remove-worktree", n.Err, n.Loop)
	case plan.Removed:
		const most = 20
		for _, gone := range n[:min(len(n), most)] {
			env.Warn("removed %s, which was made inside: %s", term.Visible(gone.Path), gone.Why)
		}
		if len(n) > most {
			env.Warn("removed %d more like these", len(n)-most)
		}
	case loop.Interrupted:
		env.Say("the iteration's work is kept; to continue: reverie loop resume %s", n.Loop)
	case loop.NotIngested:
		env.Warn("sessions of the loop's agents wait: %v", n.Err)
	case loop.NotLearned:
		env.Warn("nothing is learned from the loop: %v", n.Err)
	case loop.Kept:
		env.Say("the loop is kept as the session %s; 'reverie learn' learns from it", n.Session)
	case loop.Learned:
		env.Say("%s for a person; next: reverie review", waits(n.Waiting))
	}
}

// carryLoop carries a loop on and tells how it ended.
func carryLoop(ctx context.Context, w *workspace, c *loop.Claim) error {
	end, waits, err := c.Carry(ctx)
	if err != nil {
		return err
	}
	if !waits {
		return tellLoopEnd(ctx, w, end)
	}
	j, err := status.Read(ctx, w.Clone, end.Name)
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(j)
	}
	w.env.Print("%s\n", j.Dir)
	w.env.Say("loop %s, iteration %d: %s", end.Name, end.Iteration, loop.Next(ctx, w.Reader, j, j.Dir))
	return nil
}

// tellLoopEnd tells how a loop ended. It returns an error unless the loop is done.
func tellLoopEnd(ctx context.Context, w *workspace, s worktree.State) error {
	if w.env.JSON {
		if err := objectLoop(ctx, w, s.Name); err != nil {
			return err
		}
	}
	switch s.Phase {
	case worktree.Stopped:
		return fault.Stopped(s)
	case worktree.Done:
		branch := strings.TrimPrefix(s.Branch, "refs/heads/")
		if !w.env.JSON {
			w.env.Print("%s\n", branch)
		}
		w.env.Say("loop %s is done after %s; to see the change: git diff %.12s...%s", s.Name, plural.Count(s.Iteration, "iteration", "iterations"), s.Base, branch)
		if s.InPlace == "" {
			w.env.Say("to take it: git merge %s; then: reverie loop remove %s, git branch -d %s", branch, s.Name, branch)
		}
	}
	return nil
}

// objectLoop answers with the status of a loop in JSON.
func objectLoop(ctx context.Context, w *workspace, name string) error {
	j, err := status.Read(ctx, w.Clone, name)
	if err != nil {
		return err
	}
	return w.env.Object(j)
}
