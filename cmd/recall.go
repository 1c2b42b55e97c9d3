package cmd

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/cmd/help"
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
			switch {
			case c.NArg() == 0:
				return exit.Usage(`reverie recall "two words"`, "recall needs a query")
			case o.Limit < 0:
				return exit.Usage("0 means no limit", "-n is %d, but must be 0 or more", o.Limit)
			}
			o.Files = c.StringSlice("file")
			text, err := text(env, joined(c))
			if err != nil {
				return err
			}
			return env.Paged(c.Context, func() error { return runRecall(c.Context, env, text, o) })
		},
	}
}

func runRecall(ctx context.Context, env *Env, text string, o recallOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.Withheld {
		if err := w.WantTrust("recall --all"); err != nil {
			return err
		}
	}
	o.Text = text
	a, err := w.Recall(ctx, o.Question)
	for _, line := range a.Unsaid() {
		env.Say("%s", line)
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
			j := caveatsJSON(h.Memory, h.Caveats)
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
			env.Under(term.Span(term.Dim, explainScore(h, a.Lists)))
		}
	}
	if after != "" {
		env.Say("%s", after)
	}
	return nil
}

// explainScore says where a score comes from: what each list gave it, and there each term.
func explainScore(h reader.Hit, lists []string) string {
	if len(lists) < 2 && h.Score == 0 {
		return "nothing to score: the newest first"
	}
	if len(lists) < 2 {
		return term.Format2(h.Score) + " = " + terms(h)
	}
	var parts []string
	for _, list := range lists {
		if rank, ok := h.Ranks(lists)[list]; ok {
			parts = append(parts, list+" "+strconv.Itoa(rank))
		}
	}
	line := strconv.FormatFloat(h.Score, 'f', 4, 64) + " = " + strings.Join(parts, " + ")
	if h.Kept {
		line = reader.ListLexical + " " + strconv.Itoa(h.Lexical) + ", where it stays: it has no vector"
	}
	if h.Lexical > 0 {
		line += "; " + reader.ListLexical + " " + term.Format2(h.Own) + " = " + terms(h)
	}
	if h.Near > 0 {
		line += "; likeness " + term.Format2(h.Likeness)
	}
	return line
}

// terms is a lexical score as the sum of what each term and each part of the ranking added, and its
// factors.
func terms(h reader.Hit) string {
	var parts []string
	for _, p := range h.Words {
		parts = append(parts, term.Visible(p.String())+" "+term.Format2(p.Score))
	}
	p := h.Parts
	for _, part := range []struct {
		name  string
		score float64
	}{{"characters", p.Characters}, {"spelling", p.Grams}, {"neighbours", p.Near}, {"one passage", p.Passage}, {"same session", p.Beside}, {"same file", p.SameFile}} {
		if part.score >= 0.005 {
			parts = append(parts, part.name+" "+term.Format2(part.score))
		}
	}
	sum := strings.Join(parts, " + ")
	factor := func(f float64, name string) {
		if f != 1 && f != 0 {
			if strings.Contains(sum, " + ") && !strings.HasSuffix(sum, ")") {
				sum = "(" + sum + ")"
			}
			sum = term.Format2(f) + " " + name + " × " + sum
		}
	}
	factor(p.Prior, "age")
	factor(p.Files, "files")
	if s := h.Caveats; s.Stale || s.Withheld {
		factor(reader.Doubt, "doubt")
	}
	return sum + "; covers " + strconv.Itoa(int(100*h.Covered+0.5)) + " %"
}
