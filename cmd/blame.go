package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func blameCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "blame",
		Usage:     "show who last changed each line of a memory",
		ArgsUsage: "ID",
		Action: usage.One(func(c *cli.Context, word string) error {
			return env.Paged(c.Context, func() error { return runBlame(c.Context, env, word) })
		}),
	}
}

func runBlame(ctx context.Context, env *Env, id string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	ref, path, err := reader.Place(ctx, w.Reader, id)
	if err != nil {
		return err
	}
	models, err := reader.ModelCommits(ctx, w.Reader, id)
	if err != nil {
		return err
	}
	if env.JSON {
		byModel := map[string]string{}
		for _, c := range models {
			byModel[c.ID] = strings.Join(c.Models, " ")
		}
		return history.Blame(ctx, w.Repo, ref, path[0], func(l history.Line) error {
			l.Model = byModel[l.Commit]
			return env.Object(l)
		})
	}
	if err := show(ctx, w, 0, "blame", "--no-textconv", "--date=short", ref, "--", path[0]); err != nil {
		return err
	}
	for _, c := range models {
		env.Say("%s was proposed by %s, a model", c.ID[:8], term.Visible(strings.Join(c.Models, ", ")))
	}
	return nil
}
