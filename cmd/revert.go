package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/undo"
	"github.com/urfave/cli/v2"
)

func revertCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "revert",
		Usage:     "undo one commit of the memory branch",
		ArgsUsage: "COMMIT",
		Action:    usage.One(func(c *cli.Context, word string) error { return runRevert(c.Context, env, word) }),
	}
}

func runRevert(ctx context.Context, env *Env, commit string) error {
	w, err := env.openToDecide(ctx, "revert")
	if err != nil {
		return err
	}
	if err := w.View(ctx, func(*record.View) error { return nil }); err != nil {
		return err // a store of a newer format, or none
	}
	res, err := w.Memory.Revert(ctx, commit, undo.Revertible)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Object(map[string]any{"commit": res.Commit, "changed": res.Changed})
	}
	if !res.Changed {
		env.Say("there was nothing to undo")
		return nil
	}
	return history.Changes(ctx, w.Repo, string(res.Commit), 1, nil, func(c history.Commit, files []history.Version) error {
		tell.Commit(&env.Terminal, c, files)
		return nil
	})
}
