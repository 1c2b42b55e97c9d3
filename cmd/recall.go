package cmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/urfave/cli/v2"
)

type recallOptions struct {
	filter
	files   []string // that the asker works on
	limit   int
	explain bool
	foreign bool
}

func recallCommand(env *Env) *cli.Command {
	o := recallOptions{limit: 10}
	return &cli.Command{
		Name:      "recall",
		Usage:     "find what is known about something",
		ArgsUsage: "QUERY",
		Flags: append(o.flags(false),
			&cli.IntFlag{Name: "n", Usage: "at most `N`; 0 is all", Value: o.limit, Destination: &o.limit},
			&cli.BoolFlag{Name: "all", Usage: "also what people not trusted here have changed", Destination: &o.foreign},
			&cli.BoolFlag{Name: "explain", Usage: "show what each score is made of", Destination: &o.explain}),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage(`quote it: reverie recall "two words"`, "recall wants exactly one query")
			}
			return env.paged(c.Context, func() error { return runRecall(c.Context, env, c.Args().First(), o) })
		},
	}
}

func runRecall(ctx context.Context, env *Env, text string, o recallOptions) error {
	q, err := recall.Parse(text)
	if err == nil && o.kind != "" {
		var kind record.Kind
		kind, err = parseKind(o.kind)
		q.Kinds = []record.Kind{kind}
	}
	switch {
	case errors.Is(err, recall.ErrOnlyNot):
		return usage(`reverie recall "tests -slow"`, "%v", err)
	case err != nil:
		return usage("to look for it as it is written, put it in quotation marks", "%v", err)
	case o.at != "" && q.At != "":
		return usage("", "at: and --at were both given")
	case o.at == "":
		o.at = q.At
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	return w.viewAt(ctx, o.at, func(v *record.View) error {
		if o.at == "" {
			w.tellLost(ctx)
		}
		standings, err := w.standings(ctx, v)
		if err != nil {
			return err
		}
		near := sync.OnceValue(w.askNear(ctx, q))
		var a recalled
		err = w.search(ctx, v, o.at != "", recall.Limits{}, func(x *recall.Index) error {
			a, err = w.look(x, v, q, near, o, standings)
			return err
		})
		if err != nil {
			return err
		}
		return w.tellAnswer(a, q, o)
	})
}

// recalled is what recall found.
type recalled struct {
	hits   []hit
	lists  []string // that answered
	weight float64  // of the nearest, where they did
	not    string   // why another did not
	hidden int      // that were found and are withheld for their authors
	notes  []string // of files that cannot be read
}

// look asks the index, and what is near where that is known.
func (w *workspace) look(x *recall.Index, v *record.View, q recall.Query, near func() nearness, o recallOptions, standings func(record.Memory) standing) (a recalled, err error) {
	now := w.env.Now()
	a.notes = x.State().Notes
	request := recall.Request{Text: q.Text, Phrases: q.Phrases, Not: q.Not, Now: now, Files: o.files, Keep: x.Keep(q, now), HalfOf: recall.HalfLife}
	for n := max(2*o.limit, maxNear); ; n *= 4 {
		if request.N = n; o.limit <= 0 {
			request.N = 0
		}
		all := x.Rank(request)
		found := make([]recall.Hit, 0, len(all))
		a.hidden = 0
		for _, f := range all {
			m, err := x.Memory(f.Ref)
			if err != nil {
				return a, err
			}
			if !o.foreign && standings(m).Foreign {
				a.hidden++
				continue
			}
			found = append(found, recall.Hit{Memory: m, Found: f})
		}
		if len(found) >= o.limit || request.N == 0 || len(all) < request.N {
			n := near()
			a.weight = n.weight
			a.hits, a.lists, a.not = w.fused(found, x, q, n, o, standings)
			break
		}
	}
	for i := range a.hits {
		h := &a.hits[i]
		for _, at := range h.Alike {
			m, err := x.Memory(at)
			if err != nil {
				return a, err
			}
			h.alike = append(h.alike, m.ID)
		}
	}
	return a, nil
}

// snippetWidth is how many characters of a memory's body are shown where they answer better than its statement.
const snippetWidth = 200

func (w *workspace) tellAnswer(a recalled, q recall.Query, o recallOptions) error {
	env := w.env
	for _, note := range a.notes {
		env.warn("passed over: %s", note)
	}
	if o.explain {
		line := "lists: " + strings.Join(a.lists, ", ")
		if len(a.lists) > 1 {
			line += " (weight " + strconv.FormatFloat(a.weight, 'f', -1, 64) + ")"
		}
		if a.not != "" {
			line += "; not " + listVectors + ": " + a.not
		}
		env.say("%s", line)
	}
	switch {
	case len(a.hits) > 0:
		w.tellHidden(a.hidden)
	case a.hidden == 0:
		env.say("nothing is known about that")
	case a.hidden == 1:
		env.say("1 answer is withheld; 'reverie recall --all QUERY' shows it")
	default:
		env.say("%d answers are withheld; 'reverie recall --all QUERY' shows them", a.hidden)
	}
	for _, h := range a.hits {
		snippet := ""
		if h.Covered < 1 || h.Lexical == 0 {
			snippet = recall.Snippet(h.Memory.Body, q.Text, snippetWidth)
		}
		if env.JSON {
			j := standingJSON(h.Memory, h.standing)
			j.Score, j.Covered, j.Snippet, j.Alike, j.Lists, j.Ranks = h.Score, h.Covered, cmp.Or(snippet, h.Memory.Text), h.alike, a.lists, h.ranks(a.lists)
			if err := env.object(j); err != nil {
				return err
			}
			continue
		}
		note := remark(h.Memory, h.standing)
		if n := len(h.alike); n > 0 {
			note = strings.TrimPrefix(note+", "+count(n, "other says", "others say")+" the same", ", ")
		}
		line := hitOf(mark(h.Memory, h.standing), dim, h.Memory, note)
		for _, t := range h.Words {
			line.words = append(line.words, t.Term)
		}
		if !env.Verbose {
			line.snippet = snippet
		}
		env.hitline(line)
		if h.Memory.Body != "" && env.Verbose {
			env.indent(strings.Repeat(" ", env.hang(statedAt)), h.Memory.Body)
		}
		if o.explain {
			env.under(styled{dim, explainScore(h, a.lists)})
		}
	}
	return nil
}

// The lists that may answer a query.
const (
	listLexical = "lexical"
	listVectors = "vectors"
)

// maxNear is how long the list of the nearest is: there is always a nearest, and what comes late in it is alike by chance.
const maxNear = 50

// hit is a memory that answers a query, with how it stands here.
type hit struct {
	recall.Fused
	standing standing
	alike    []string // ids of those that say the same
}

// ranks are those of the hit in the lists that have it, where there is more than one list.
func (h hit) ranks(lists []string) map[string]int {
	if len(lists) < 2 {
		return nil
	}
	all := map[string]int{}
	for list, rank := range map[string]int{listLexical: h.Lexical, listVectors: h.Near} {
		if rank > 0 {
			all[list] = rank
		}
	}
	return all
}

// fused are the first of what was found, fused with what is near where that is known, and the lists that answered. What is
// stale or withheld goes back in each list before their ranks count.
func (w *workspace) fused(found []recall.Hit, x *recall.Index, q recall.Query, near nearness, o recallOptions, standings func(record.Memory) standing) (hits []hit, lists []string, not string) {
	defer near.vectors.Close()
	var alike []vector.Near
	known := map[string]bool{} // what has a vector
	if near.query != nil {
		keep := x.Keep(q, w.env.Now())
		alike = near.vectors.Nearest(near.query, 2*maxNear, func(id string) (m record.Memory, ok bool) {
			at, ok := x.ByID(id)
			if !ok || keep != nil && !keep(at) {
				return m, false
			}
			m, err := x.Memory(at)
			return m, err == nil && (o.foreign || !standings(m).Foreign)
		})
		if len(alike) == 0 {
			near = nearness{why: "none of these has one that is alike"}
		}
	}
	if near.query == nil {
		for i, h := range best(found, o.limit, standings) {
			h.Lexical, h.Own = i+1, h.Score
			hits = append(hits, h)
		}
		return hits, []string{listLexical}, near.why
	}
	depth := 0
	if o.limit > 0 {
		depth = max(o.limit, maxNear)
	}
	stands := map[string]standing{}
	list := func(found []recall.Hit, depth int) (out []recall.Hit) {
		for _, h := range best(found, depth, standings) {
			stands[h.Memory.ID] = h.standing
			out = append(out, h.Hit)
		}
		return out
	}
	var nearest []recall.Hit
	for _, n := range alike {
		nearest = append(nearest, recall.Hit{Memory: n.Memory, Found: recall.Found{Score: n.Likeness}})
	}
	words, alikes := list(found, depth), list(nearest, maxNear)
	for _, h := range words {
		known[h.Memory.ID] = near.vectors.Has(h.Memory)
	}
	for _, f := range recall.Fuse(words, alikes, known, near.weight) {
		if o.limit <= 0 || len(hits) < o.limit {
			hits = append(hits, hit{Fused: f, standing: stands[f.Memory.ID]})
		}
	}
	return hits, []string{listLexical, listVectors}, ""
}

// doubted is what the score of a stale or withheld memory is multiplied by.
const doubted = 0.5

// best are the n first of what was found, or all where n is 0, when what is stale or does not hold here is ranked
// lower. Where n of the others were met, nothing behind them can be among the first.
func best(found []recall.Hit, n int, standings func(record.Memory) standing) []hit {
	var hits []hit
	for firm := 0; len(found) > 0 && (n <= 0 || firm < n); found = found[1:] {
		h := hit{Fused: recall.Fused{Hit: found[0]}, standing: standings(found[0].Memory)}
		if h.standing.Stale || h.standing.Withheld {
			h.Score *= doubted
		} else {
			firm++
		}
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.Score, a.Score) })
	if n > 0 && len(hits) > n {
		hits = hits[:n]
	}
	return hits
}

// explainScore says where a score comes from: what each list gave it, and there each term.
func explainScore(h hit, lists []string) string {
	if len(lists) < 2 {
		return format2(h.Score) + " = " + terms(h)
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
		line += "; " + listLexical + " " + format2(h.Own) + " = " + terms(h)
	}
	if h.Near > 0 {
		line += "; likeness " + format2(h.Likeness)
	}
	return line
}

// terms is a lexical score as the sum of what each term and each part of the ranking added, and its factors.
func terms(h hit) string {
	var parts []string
	for _, p := range h.Words {
		parts = append(parts, visible(p.Term)+" "+format2(p.Score))
	}
	p := h.Parts
	for _, part := range []struct {
		name  string
		score float64
	}{{"spelling", p.Grams}, {"neighbours", p.Near}, {"one passage", p.Passage}, {"same session", p.Beside}} {
		if part.score >= 0.005 {
			parts = append(parts, part.name+" "+format2(part.score))
		}
	}
	sum := strings.Join(parts, " + ")
	factor := func(f float64, name string) {
		if f != 1 && f != 0 {
			if strings.Contains(sum, " + ") && !strings.HasSuffix(sum, ")") {
				sum = "(" + sum + ")"
			}
			sum = format2(f) + " " + name + " × " + sum
		}
	}
	factor(p.Prior, "age")
	factor(p.Files, "files")
	if s := h.standing; s.Stale || s.Withheld {
		factor(doubted, "doubt")
	}
	return sum + "; covers " + strconv.Itoa(int(100*h.Covered+0.5)) + " %"
}
