package cmd

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/reflect/compress"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func expandCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "expand",
		Usage:     "print an output as it was before compress",
		ArgsUsage: "HASH",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return exit.Usage("as in the last line of what compress prints", "expand wants one hash")
			}
			return runExpand(c.Context, env, c.Args().First())
		},
	}
}

func runExpand(ctx context.Context, env *Env, name string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	hash, text, err := w.originals().Get(name)
	switch {
	case errors.Is(err, compress.ErrNoOriginal):
		return exit.New(exit.Failed, err, "originals go after the days of sessions.keep-days, and the oldest beyond 200 MiB; run the command again")
	case errors.Is(err, compress.ErrAmbiguous):
		return exit.New(exit.Failed, err, "give more of the hash")
	case err != nil:
		return err
	}
	if env.JSON {
		return env.object(map[string]string{"hash": hash, "text": text})
	}
	env.raw(text)
	return nil
}

// raw writes text byte for byte, but to a terminal: there it cannot move the cursor.
func (env *Env) raw(text string) {
	to := env.Out
	if out, ok := to.(*output); ok {
		to = out.to
	}
	if f, ok := to.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		text = visible(text)
	}
	io.WriteString(env.Out, text)
}
