package cmd

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/internal/exit"
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
			&cli.IntFlag{Name: "n", Usage: "at most `N`; 0 is all", Value: o.Limit, Destination: &o.Limit},
			&cli.BoolFlag{Name: "all", Usage: "also what people not trusted here have changed", Destination: &o.Withheld},
			&cli.BoolFlag{Name: "apart", Usage: "also those that say the same as one before them", Destination: &o.Apart},
			&cli.StringSliceFlag{Name: "file", Usage: "what is about `PATH`, which you work on, comes a little earlier"},
			&cli.BoolFlag{Name: "explain", Usage: "show what each score is made of", Destination: &o.explain},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() == 0:
				return exit.Usage(`reverie recall "two words"`, "recall needs a query")
			case o.Limit < 0:
				return exit.Usage("0 is all", "-n is %d", o.Limit)
			}
			o.Files = c.StringSlice("file")
			text, err := env.text(joined(c))
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
	for _, l := range a.Literals {
		env.Say("%s is looked for as words: %s", term.Visible(l.Text), l.Why)
	}
	if err != nil {
		return err
	}
	if a.At == "" {
		w.tellLost(ctx)
	}
	if len(a.Hits) == 0 && a.Query.Common() {
		env.Say("%s: words that nearly every text has are not looked for; add one that says more", term.Visible(strings.TrimSpace(a.Query.Text)))
	}
	return w.tellAnswer(a, o.explain)
}

// quotedList are texts in quotation marks.
func quotedList(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, `"`+term.Visible(t)+`"`)
	}
	return out
}

// snippetWidth is how many characters of a memory's body are shown where they answer beyond its statement.
const snippetWidth = 200

// tellAnswer shows the hits, and says what else there is.
func (w *workspace) tellAnswer(a reader.Answer, explain bool) error {
	env, q := w.env, a.Query
	w.tellPassedOver(a.Damaged)
	if len(q.Not) > 0 {
		env.Say("left out: what says %s", strings.Join(quotedList(q.Not), ", "))
	}
	if a.Loose {
		env.Say("nothing says %s word for word; these have words of it", strings.Join(quotedList(q.Phrases), ", "))
	}
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
	switch {
	case w.Shields() && a.Hidden > 0:
		w.tellShielded(a.Hidden)
	case a.Hidden == 1:
		env.Say("1 answer is withheld; 'reverie recall --all QUERY' shows it")
	case a.Hidden == reader.MaxNear:
		env.Say("at least %d answers are withheld; 'reverie recall --all QUERY' shows them", a.Hidden)
	case a.Hidden > 1 && len(a.Hits) == 0:
		env.Say("all %d answers are withheld; 'reverie recall --all QUERY' shows them", a.Hidden)
	case a.Hidden > 1:
		env.Say("%d answers are withheld; 'reverie recall --all QUERY' shows them", a.Hidden)
	case len(a.Hits) == 0:
		env.Say("%s", whyNothing(a))
	}
	if a.Far && len(a.Hits) > 0 {
		with := ""
		if said := reader.Restricted(q); said != nil {
			with = " with " + term.Visible(strings.Join(said, " "))
		}
		env.Say("no memory%s has these words; the nearest:", with)
	}
	var snippets recall.Snippets
	for _, h := range a.Hits {
		snippet := snippets.Of(h.Hit, q.Text, snippetWidth)
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
			note = strings.TrimPrefix(note+", "+term.Count(n, "other says", "others say")+" the same", ", ")
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
	all := "'reverie recall -n 0 QUERY' shows all"
	if w.env.caller != "" {
		all = "a narrower query finds them"
	}
	switch {
	case a.Far: // what is near has no end
	case a.Many:
		env.Say("there are more; %s", all)
	case a.More > 0:
		env.Say("%d more; %s", a.More, all)
	}
	return nil
}

// whyNothing says why a question has no answer: nothing is known at all, or a part of the query keeps memories from being found.
func whyNothing(a reader.Answer) string {
	switch n := a.Nothing; {
	case n.Empty && a.At != "":
		return "nothing was known then"
	case n.Empty:
		return "nothing is known here yet; next: reverie learn, or reverie remember TEXT"
	case n.Found > 0:
		found := term.Count(n.Found, "memory is", "memories are")
		if n.Found == reader.MaxNear {
			found = "at least " + found
		}
		return "nothing is found with " + term.Visible(strings.Join(n.Without, " ")) + "; without that " + found
	}
	return "nothing is known about that"
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

// terms is a lexical score as the sum of what each term and each part of the ranking added, and its factors.
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
