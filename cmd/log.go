package cmd

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

type logOptions struct {
	limit      int
	patch, raw bool
}

func logCommand(env *Env) *cli.Command {
	var o logOptions
	return &cli.Command{
		Name:      "log",
		Usage:     "show the history of the memory, or of one statement",
		ArgsUsage: "[ID]",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "print at most `N` commits; 0: no limit", Destination: &o.limit},
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "print git's own output, with what each commit changed in each file", Destination: &o.patch},
			rawFlag(&o.raw),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return exit.Usage("", "log takes at most one id")
			}
			return env.paged(c.Context, func(w *workspace) error { return runLog(c.Context, w, c.Args().First(), o) })
		},
	}
}

func runLog(ctx context.Context, w *workspace, id string, o logOptions) error {
	ref, path, err := reader.Place(ctx, w.Reader, id)
	if err != nil {
		return err
	}
	if w.env.JSON {
		return history.Log(ctx, w.Repo, ref, path, o.limit, func(c history.Commit) error { return w.env.Object(c) })
	}
	if !o.raw && !o.patch {
		return history.Changes(ctx, w.Repo, ref, o.limit, path, func(c history.Commit, files []history.Version) error {
			tell.Commit(&w.env.Terminal, c, files)
			return nil
		})
	}
	args := []string{"log", colourFlag(w.env), "--no-ext-diff", "--no-textconv"}
	if o.limit > 0 {
		args = append(args, fmt.Sprintf("--max-count=%d", o.limit))
	}
	hang := subjectAt
	if o.patch {
		args, hang = append(args, "--patch"), 0
	}
	args = append(args, "--format=%C(yellow)%h%C(reset) %C(dim)%ad%C(reset) %s %C(dim)(%an)%C(reset)", "--date=short")
	return show(ctx, w, hang, append(append(args, ref, "--"), path...)...)
}

// subjectAt is the column of a subject, with ids in git's shortest form.
const subjectAt = len("0123456 2006-01-02 ")
