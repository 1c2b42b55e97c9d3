package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/urfave/cli/v2"
)

func exportCommand(env *Env) *cli.Command {
	var f filter
	var private bool
	return &cli.Command{
		Name:  "export",
		Usage: "write what is known as JSONL, which import takes in again",
		Description: "Private memories stay here, but with --private: then they alone are written, and are private again where they are imported.\n" +
			"Everything is written; nothing limits the number.",
		Flags: append(f.flags(true), &cli.BoolFlag{Name: "private", Usage: "those of this clone alone, instead of all others", Destination: &private}),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("reverie export >FILE", "export writes to standard output and takes no arguments")
			}
			return runExport(c.Context, env, f, private)
		},
	}
}

func runExport(ctx context.Context, env *Env, f filter, private bool) error {
	return f.read(ctx, env, func(_ *workspace, found []record.Memory, _ func(record.Memory) standing) error {
		for _, m := range found {
			if m.Private != private {
				continue
			}
			if err := env.object(imported{m.Text, m.Body, string(m.Kind), m.Paths, m.Tags, m.Ref, m.Private}); err != nil {
				return err
			}
		}
		return nil
	})
}
