package cmd

import (
	"context"
	"io"
	"os"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/worktree/loop"
	"github.com/urfave/cli/v2"
)

// loopHiddenCommands are the commands that git's hooks and --detach call.
func loopHiddenCommands(env *Env) []*cli.Command {
	background := func(name, summary string, claim func(*loop.Loops, context.Context, string) (*loop.Claim, error)) *cli.Command {
		return &cli.Command{Name: name, Usage: summary, ArgsUsage: "NAME", Hidden: true, Action: usage.One(func(c *cli.Context, word string) error {
			return runLoopBackground(c.Context, env, word, claim)
		})}
	}
	return []*cli.Command{
		{Name: "hook", Usage: "called by git's hooks", ArgsUsage: "HOOK", Hidden: true, Action: usage.One(func(c *cli.Context, word string) error {
			return runLoopHook(c.Context, env, word)
		})},
		background("wake", "called after a commit", (*loop.Loops).Wake),
		background("begin", "called after a commit of a plan", (*loop.Loops).Begin),
		background("carry", "called by --detach", (*loop.Loops).Take),
	}
}

// runLoopBackground carries on a loop in the background, if it can be claimed.
func runLoopBackground(ctx context.Context, env *Env, name string, claim func(*loop.Loops, context.Context, string) (*loop.Claim, error)) error {
	env.toBackground()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	c, err := claim(loops(w), ctx, name)
	if err != nil || c == nil {
		return err
	}
	return carryLoop(ctx, w, c)
}

// maxCommitMessage bounds the message of a commit that is checked before the commit, in bytes. All
// of it is checked afterwards.
const maxCommitMessage = 1 << 20

// runLoopHook answers git's hooks in a loop. An error refuses the commit of its agent.
func runLoopHook(ctx context.Context, env *Env, name string) error {
	if name == "post-commit" && job.Disabled() {
		return nil
	}
	index := os.Getenv("GIT_INDEX_FILE")
	git.LeaveRepository()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	switch name {
	case "pre-commit":
		return loop.CheckStaged(ctx, w.Clone, index)
	case "commit-msg":
		text, err := io.ReadAll(io.LimitReader(env.In, maxCommitMessage))
		if err != nil {
			return err
		}
		return loop.CheckMessage(string(text), w.Scanner)
	case "post-commit":
		return loop.AfterCommit(ctx, w.Reader)
	}
	return exit.Usage("git's hooks call it", "loop hook %s: no such hook", name)
}
