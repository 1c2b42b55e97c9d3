package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/urfave/cli/v2"
)

func revertCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "revert",
		Usage:     "undo one commit of the memory branch",
		ArgsUsage: "COMMIT",
		Action:    usage.One("'reverie log' shows the commits", "revert takes exactly one commit", func(c *cli.Context, word string) error { return runRevert(c.Context, env, word) }),
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
	res, err := w.Memory.Revert(ctx, commit, revertible)
	var later *gitstore.RevertError
	if errors.As(err, &later) && later.Refused {
		return exit.New(exit.Failed, err, "revert undoes only changes of memories, reflections and skills; edit the branch itself for others")
	}
	if errors.As(err, &later) {
		return exit.New(exit.NeedsPerson, err, "a later commit changed the same files: revert that one first, or edit them")
	}
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
	env.Print("%s\n", res.Commit)
	return nil
}

// revertible reports whether a change of this path of the memory branch may be undone: settings and
// READMEs are not what a memory is.
func revertible(path string) bool {
	return strings.HasPrefix(path, "memories/") || strings.HasPrefix(path, "reflections/") || strings.HasPrefix(path, record.SkillDir+"/")
}
