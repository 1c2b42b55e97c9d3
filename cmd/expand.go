package cmd

import (
	"context"
	"errors"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/upkeep"
	"github.com/reverie-memory/reverie/reflect/compress"
	"github.com/urfave/cli/v2"
)

func expandCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "expand",
		Usage:     "print the original of a compressed output",
		ArgsUsage: "HASH",
		Action:    usage.One(func(c *cli.Context, word string) error { return runExpand(c.Context, env, word) }),
	}
}

func runExpand(ctx context.Context, env *Env, name string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	hash, text, err := upkeep.Originals(w.Clone).Get(name)
	switch {
	case errors.Is(err, compress.ErrNoOriginal):
		return exit.New(exit.Failed, err, "originals expire after sessions.keep-days days, and the oldest beyond 200 MiB; run the command again")
	case errors.Is(err, compress.ErrAmbiguous):
		return exit.New(exit.Failed, err, "give more digits of the hash")
	case err != nil:
		return err
	}
	if env.JSON {
		return env.Object(map[string]string{"hash": hash, "text": text})
	}
	env.Raw(text)
	return nil
}
