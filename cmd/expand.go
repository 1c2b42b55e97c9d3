package cmd

import (
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
		Action: usage.One(func(c *cli.Context, word string) error {
			return env.with(c.Context, func(w *workspace) error { return runExpand(w, word) })
		}),
	}
}

func runExpand(w *workspace, name string) error {
	hash, text, err := upkeep.Originals(w.Clone).Get(name)
	switch {
	case errors.Is(err, compress.ErrNoOriginal):
		return exit.New(exit.Failed, err, "originals expire after sessions.keep-days days, and the oldest beyond 200 MiB; run the command again")
	case errors.Is(err, compress.ErrAmbiguous):
		return exit.New(exit.Failed, err, "give more digits of the hash")
	case err != nil:
		return err
	}
	if w.env.JSON {
		return w.env.Object(map[string]string{"hash": hash, "text": text})
	}
	w.env.Raw(text)
	return nil
}
