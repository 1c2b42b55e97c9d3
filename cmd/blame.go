package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/dossier"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func blameCommand(env *Env) *cli.Command {
	raw := false
	return &cli.Command{
		Name:      "blame",
		Usage:     "show who wrote each statement of a memory",
		ArgsUsage: "ID",
		Flags:     []cli.Flag{rawFlag(&raw)},
		Action: usage.One(func(c *cli.Context, word string) error {
			return env.paged(c.Context, func(w *workspace) error { return runBlame(c.Context, w, word, raw) })
		}),
	}
}

func runBlame(ctx context.Context, w *workspace, id string, raw bool) error {
	ref, path, err := reader.Place(ctx, w.Reader, id)
	if err != nil {
		return err
	}
	models, err := reader.ModelCommits(ctx, w.Reader, id)
	if err != nil {
		return err
	}
	if raw && !w.env.JSON {
		if err := show(ctx, w, 0, "blame", "--no-textconv", "--date=short", ref, "--", path[0]); err != nil {
			return err
		}
		for _, c := range models {
			w.env.Say("%s was proposed by %s, a model", c.ID[:8], term.Visible(strings.Join(c.Models, ", ")))
		}
		return nil
	}
	byModel := map[string]string{}
	for _, c := range models {
		byModel[c.ID] = strings.Join(c.Models, " ")
	}
	var lines []history.Line
	err = history.Blame(ctx, w.Repo, ref, path[0], func(l history.Line) error {
		l.Model = byModel[l.Commit]
		lines = append(lines, l)
		return nil
	})
	if err != nil || w.env.JSON {
		return errors.Join(rows(w.env, lines, itself, nil), err)
	}
	return w.View(ctx, func(v *record.View) error {
		m, err := v.Find(id)
		if err != nil {
			return err
		}
		d, err := dossier.Collect(ctx, w.Reader, v, m)
		if err == nil {
			tell.Blame(&w.env.Terminal, m, lines, d)
		}
		return err
	})
}

// rawFlag asks for git's own output.
func rawFlag(raw *bool) cli.Flag {
	return &cli.BoolFlag{Name: "raw", Usage: "print git's own output", Destination: raw}
}
