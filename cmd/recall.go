package cmd

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type recallOptions struct {
	reader.Question
	explain bool
}

func recallCommand(env *Env) *cli.Command {
	o := recallOptions{Question: reader.Question{Limit: 10}}
	return &cli.Command{
		Name:        "recall",
		Usage:       "find memories",
		ArgsUsage:   "QUERY…|-",
		Description: help.Query,
		Flags: []cli.Flag{
			kindFlag(&o.Kind),
			atFlag(&o.At),
			&cli.IntFlag{Name: "n", Usage: "print at most `N` memories; 0: no limit", Value: o.Limit, Destination: &o.Limit},
			&cli.BoolFlag{Name: "all", Usage: "include memories withheld because an untrusted person changed them", Destination: &o.Withheld},
			&cli.BoolFlag{Name: "apart", Usage: "include memories that repeat an earlier result", Destination: &o.Apart},
			&cli.StringSliceFlag{Name: "file", Usage: "rank memories about `PATH`, a file you work on, a little higher"},
			&cli.BoolFlag{Name: "explain", Usage: "show how each score is computed", Destination: &o.explain},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return exit.Usage(`reverie recall "two words"`, "recall needs a query")
			}
			o.Files = c.StringSlice("file")
			text, err := text(env, joined(c))
			if err != nil {
				return err
			}
			return env.paged(c.Context, func(w *workspace) error { return runRecall(c.Context, w, text, o) })
		},
	}
}

func runRecall(ctx context.Context, w *workspace, text string, o recallOptions) error {
	if o.Withheld {
		if err := w.WantTrust("recall --all"); err != nil {
			return err
		}
	}
	o.Text = text
	a, err := w.Recall(ctx, o.Question)
	for _, line := range a.Unsaid() {
		w.env.Say("%s", line)
	}
	if err != nil {
		return err
	}
	if a.At == "" {
		w.tellLost(ctx)
	}
	return tellAnswer(w, a, o.explain)
}

// tellAnswer shows the hits, with the remarks on them.
func tellAnswer(w *workspace, a reader.Answer, explain bool) error {
	env, q := w.env, a.Query
	w.tellPassedOver(a.Damaged)
	if explain {
		line := "lists: " + strings.Join(a.Lists, ", ")
		if len(a.Lists) > 1 {
			line += " (weight " + strconv.FormatFloat(a.Weight, 'f', -1, 64) + ")"
		}
		if a.Not != "" {
			line += "; not " + reader.ListVectors + ": " + a.Not
		}
		env.Say("%s", line)
	}
	before, after := a.Remarks(w.Reader)
	for _, line := range before {
		env.Say("%s", line)
	}
	var snippets recall.Snippets
	for _, h := range a.Hits {
		snippet := snippets.Of(h.Hit, q.Text, reader.SnippetWidth)
		if env.JSON {
			j := wire.WithCaveats(h.Memory, h.Caveats)
			j.Score, j.Covered, j.Snippet, j.Alike, j.Lists, j.Ranks = &h.Score, &h.Covered, cmp.Or(snippet, h.Memory.Text), h.Same, a.Lists, h.Ranks(a.Lists)
			if err := env.Object(j); err != nil {
				return err
			}
			continue
		}
		note := remark(h.Memory, h.Caveats)
		if h.Covered == 0 && !a.Far && !reader.Wordless(q) {
			why := "none of the words"
			if h.Lexical == 0 {
				why = "only near"
			}
			note = strings.TrimPrefix(note+", "+why, ", ")
		}
		if n := len(h.Same); n > 0 {
			note = strings.TrimPrefix(note+", "+plural.Count(n, "other says", "others say")+" the same", ", ")
		}
		line := hitOf(mark(h.Memory, h.Caveats), term.Dim, h.Memory, note)
		for _, t := range h.Words {
			line.Words = append(line.Words, t.Term)
		}
		if !env.Verbose {
			line.Snippet = snippet
		}
		env.Hit(line)
		if h.Memory.Body != "" && env.Verbose {
			env.Indent(strings.Repeat(" ", env.Hang(term.StatedAt)), h.Memory.Body)
		}
		if explain {
			env.Under(term.Span(term.Dim, h.Explain(a.Lists)))
		}
	}
	if after != "" {
		env.Say("%s", after)
	}
	return nil
}
