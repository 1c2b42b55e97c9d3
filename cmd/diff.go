package cmd

import (
	"cmp"
	"context"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/urfave/cli/v2"
)

func diffCommand(env *Env) *cli.Command {
	var words, raw bool
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare two states of the memory",
		ArgsUsage: "[A [B]]",
		Description: "A defaults to the state before the newest commit, and B to the newest one. Each can be a commit or\n" +
			"tag of the code or of the memory branch, ~3 or @{yesterday}.",
		Flags: []cli.Flag{rawFlag(&raw), &cli.BoolFlag{Name: "words", Usage: "print git's own output, word by word", Destination: &words}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 2 {
				return exit.Usage("", "diff takes at most two states")
			}
			return env.paged(c.Context, func(w *workspace) error { return runDiff(c.Context, w, c.Args().Get(0), c.Args().Get(1), raw, words) })
		},
	}
}

func runDiff(ctx context.Context, w *workspace, a, b string, raw, words bool) error {
	to, err := w.Memory.Tip(ctx)
	if err != nil {
		return err
	}
	a = cmp.Or(a, "~1")
	from, err := w.PastState(ctx, a)
	if err != nil {
		return err
	}
	if b != "" {
		id, err := w.PastState(ctx, b)
		if err != nil {
			return err
		}
		to = gitstore.ID(id)
	}
	if !raw && !words && !w.env.JSON {
		files, err := history.Between(ctx, w.Repo, from, string(to), record.MemoryDir)
		for _, f := range files {
			tell.Change(&w.env.Terminal, nil, 0, f)
		}
		if err == nil {
			w.env.Print("%s\n", cmp.Or(tell.Tally(files), "no memory changed"))
		}
		return err
	}
	args := []string{"diff", colourFlag(w.env), "--no-ext-diff", "--no-textconv", "--no-renames"}
	if words {
		args = append(args, "--word-diff=plain")
	}
	args = append(args, from, string(to), "--", record.MemoryDir)
	if !w.env.JSON {
		return show(ctx, w, 0, args...)
	}
	patch, err := w.Repo.Git(ctx, nil, args...)
	if err != nil {
		return err
	}
	return w.env.Object(diffJSON{from, string(to), string(patch)})
}

type diffJSON struct {
	From  string `json:"from"` // commits
	To    string `json:"to"`
	Patch string `json:"patch"`
}
