package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/urfave/cli/v2"
)

func exportCommand(env *Env) *cli.Command {
	var f filter
	return &cli.Command{
		Name:        "export",
		Usage:       "write what is known as JSONL, which import takes in again",
		Description: "Private memories stay here. Everything is written; nothing limits the number.",
		Flags:       f.flags(true),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("reverie export >FILE", "export writes to standard output and takes no arguments")
			}
			return runExport(c.Context, env, f)
		},
	}
}

func runExport(ctx context.Context, env *Env, f filter) error {
	return f.read(ctx, env, func(_ *workspace, found []record.Memory, _ func(record.Memory) standing) error {
		for _, m := range found {
			if m.Private {
				continue
			}
			if err := env.object(imported{Text: m.Text, Body: m.Body, Kind: string(m.Kind), Paths: m.Paths, Tags: m.Tags, Ref: m.Ref}); err != nil {
				return err
			}
		}
		return nil
	})
}
