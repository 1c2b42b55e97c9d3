package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/status"
	"github.com/urfave/cli/v2"
)

func statuslineCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "statusline",
		Usage: "print one line for a status bar or a shell prompt",
		Description: "Prints how many memories are in force and how many operations wait. Outside a repository with a\n" +
			"memory it prints nothing and ends with 0. For Claude Code, set statusLine in its settings to\n" +
			`{"type": "command", "command": "reverie statusline"}.`,
		Action: usage.Alone(func(c *cli.Context) error { return runStatusline(c.Context, env) }),
	}
}

func runStatusline(ctx context.Context, env *Env) error {
	w, err := env.open(ctx)
	if errors.Is(err, git.ErrNotRepository) || errors.Is(err, git.ErrUnsafe) {
		return nil
	}
	if err != nil {
		return err
	}
	l, err := status.ReadLine(ctx, w.Reader)
	switch {
	case clone.NoMemory(err):
		return nil
	case err != nil:
		return err
	case env.JSON:
		return env.Object(l)
	}
	line := "reverie: " + plural.Count(l.Known, "memory", "memories")
	if l.Waiting > 0 {
		line += fmt.Sprintf(", %d pending", l.Waiting)
	}
	env.Print("%s\n", line)
	return nil
}
