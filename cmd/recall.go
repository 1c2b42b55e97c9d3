package cmd

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type recallOptions struct {
	filter
	files   []string // that the asker works on
	limit   int
	apart   bool // those that say the same too
	explain bool
	foreign bool
}

func recallCommand(env *Env) *cli.Command {
	o := recallOptions{limit: 10}
	return &cli.Command{
		Name:        "recall",
		Usage:       "find memories",
		ArgsUsage:   "QUERY…|-",
		Description: help.Query,
		Flags: append(o.flags(false),
			&cli.IntFlag{Name: "n", Usage: "at most `N`; 0 is all", Value: o.limit, Destination: &o.limit},
			&cli.BoolFlag{Name: "all", Usage: "also what people not trusted here have changed", Destination: &o.foreign},
			&cli.BoolFlag{Name: "apart", Usage: "also those that say the same as one before them", Destination: &o.apart},
			&cli.StringSliceFlag{Name: "file", Usage: "what is about `PATH`, which you work on, comes a little earlier"},
			&cli.BoolFlag{Name: "explain", Usage: "show what each score is made of", Destination: &o.explain}),
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() == 0:
				return exit.Usage(`reverie recall "two words"`, "recall needs a query")
			case o.limit < 0:
				return exit.Usage("0 is all", "-n is %d", o.limit)
			}
			o.files = c.StringSlice("file")
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
	if o.foreign {
		if err := w.WantTrust("recall --all"); err != nil {
			return err
		}
	}
	ask := typed{w: w, text: text, o: &o}
	q, err := ask.parse(ctx)
	if err != nil {
		return err
	}
	defer w.openIndex()()
	return w.viewAt(ctx, o.at, func(v *record.View) error {
		if o.at == "" {
			w.tellLost(ctx)
		}
		asked := v
		if !o.foreign {
			if asked, err = w.agents(ctx, v); err != nil {
				return err
			}
		}
		standings, err := w.standings(ctx, asked)
		if err != nil {
			return err
		}
		near := sync.OnceValue(w.askNear(ctx, q))
		defer func() { near().vectors.Close() }()
		var a recalled
		look := func(x *recall.Index, withheld func() *recall.Index) error {
			if q, err = ask.settle(x, q); err != nil {
				return err
			}
			a, err = lookup{w, x, withheld, q, o, near, standings}.look(ctx)
			return err
		}
		if o.foreign {
			err = w.searchAll(ctx, v, o.at != "", func(x *recall.Index) error { return look(x, nil) })
		} else {
			err = w.searchTrusted(ctx, v, o.at != "", recall.Limits{}, look)
		}
		if err != nil {
			return err
		}
		ask.tellCommon(q, len(a.hits))
		return w.tellAnswer(a, q, o)
	})
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

func (w *workspace) tellAnswer(a recalled, q recall.Query, o recallOptions) error {
	env := w.env
	w.tellPassedOver(a.notes)
	if len(q.Not) > 0 {
		env.Say("left out: what says %s", strings.Join(quotedList(q.Not), ", "))
	}
	if a.loose {
		env.Say("nothing says %s word for word; these have words of it", strings.Join(quotedList(q.Phrases), ", "))
	}
	if o.explain {
		line := "lists: " + strings.Join(a.lists, ", ")
		if len(a.lists) > 1 {
			line += " (weight " + strconv.FormatFloat(a.weight, 'f', -1, 64) + ")"
		}
		if a.not != "" {
			line += "; not " + listVectors + ": " + a.not
		}
		env.Say("%s", line)
	}
	switch {
	case w.Shields() && a.hidden > 0:
		w.tellShielded(a.hidden)
	case a.hidden == 1:
		env.Say("1 answer is withheld; 'reverie recall --all QUERY' shows it")
	case a.hidden == maxNear:
		env.Say("at least %d answers are withheld; 'reverie recall --all QUERY' shows them", a.hidden)
	case a.hidden > 1 && len(a.hits) == 0:
		env.Say("all %d answers are withheld; 'reverie recall --all QUERY' shows them", a.hidden)
	case a.hidden > 1:
		env.Say("%d answers are withheld; 'reverie recall --all QUERY' shows them", a.hidden)
	case a.why != "":
		env.Say("%s", a.why)
	}
	if a.far && len(a.hits) > 0 {
		env.Say("no memory%s has these words; the nearest:", restricted(q))
	}
	var snippets recall.Snippets
	for _, h := range a.hits {
		snippet := snippets.Of(h.Hit, q.Text, snippetWidth)
		if env.JSON {
			j := standingJSON(h.Memory, h.standing)
			j.Score, j.Covered, j.Snippet, j.Alike, j.Lists, j.Ranks = &h.Score, &h.Covered, cmp.Or(snippet, h.Memory.Text), h.alike, a.lists, h.ranks(a.lists)
			if err := env.Object(j); err != nil {
				return err
			}
			continue
		}
		note := remark(h.Memory, h.standing)
		if h.Covered == 0 && !a.far && !wordless(q) {
			why := "none of the words"
			if h.Lexical == 0 {
				why = "only near"
			}
			note = strings.TrimPrefix(note+", "+why, ", ")
		}
		if n := len(h.alike); n > 0 {
			note = strings.TrimPrefix(note+", "+term.Count(n, "other says", "others say")+" the same", ", ")
		}
		line := hitOf(mark(h.Memory, h.standing), term.Dim, h.Memory, note)
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
		if o.explain {
			env.Under(term.Span(term.Dim, explainScore(h, a.lists)))
		}
	}
	all := "'reverie recall -n 0 QUERY' shows all"
	if w.env.caller != "" {
		all = "a narrower query finds them"
	}
	switch {
	case a.far: // what is near has no end
	case a.many:
		env.Say("there are more; %s", all)
	case a.more > 0:
		env.Say("%d more; %s", a.more, all)
	}
	return nil
}

// explainScore says where a score comes from: what each list gave it, and there each term.
func explainScore(h hit, lists []string) string {
	if len(lists) < 2 && h.Score == 0 {
		return "nothing to score: the newest first"
	}
	if len(lists) < 2 {
		return term.Format2(h.Score) + " = " + terms(h)
	}
	var parts []string
	for _, list := range lists {
		if rank, ok := h.ranks(lists)[list]; ok {
			parts = append(parts, list+" "+strconv.Itoa(rank))
		}
	}
	line := strconv.FormatFloat(h.Score, 'f', 4, 64) + " = " + strings.Join(parts, " + ")
	if h.Kept {
		line = listLexical + " " + strconv.Itoa(h.Lexical) + ", where it stays: it has no vector"
	}
	if h.Lexical > 0 {
		line += "; " + listLexical + " " + term.Format2(h.Own) + " = " + terms(h)
	}
	if h.Near > 0 {
		line += "; likeness " + term.Format2(h.Likeness)
	}
	return line
}

// terms is a lexical score as the sum of what each term and each part of the ranking added, and its factors.
func terms(h hit) string {
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
	if s := h.standing; s.Stale || s.Withheld {
		factor(doubted, "doubt")
	}
	return sum + "; covers " + strconv.Itoa(int(100*h.Covered+0.5)) + " %"
}
