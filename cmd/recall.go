package cmd

import (
	"cmp"
	"context"
	"errors"
	"iter"
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
	apart   bool // those that say the same too
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
			&cli.BoolFlag{Name: "apart", Usage: "also those that say the same as one before them", Destination: &o.apart},
			&cli.StringSliceFlag{Name: "file", Usage: "what is about `PATH`, which you work on, comes a little earlier"},
			&cli.BoolFlag{Name: "explain", Usage: "show what each score is made of", Destination: &o.explain}),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage(`quote it: reverie recall "two words"`, "recall wants exactly one query")
			}
			o.files = c.StringSlice("file")
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
		defer func() { near().vectors.Close() }()
		var a recalled
		err = w.search(ctx, v, o.at != "", recall.Limits{}, func(x *recall.Index) error {
			a, err = w.look(x, q, near, o, standings)
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
	loose  bool     // nothing has the phrases that were asked for: these have their words
	hidden int      // that were found and are withheld for their authors
	notes  []string // of files that cannot be read
}

// look asks the index, and what is near where that is known. It reads no more memories than the answer needs.
func (w *workspace) look(x *recall.Index, q recall.Query, near func() nearness, o recallOptions, standings func(record.Memory) standing) (a recalled, err error) {
	now := w.env.Now()
	a.notes = x.State().Notes
	request := recall.Request{Text: q.Text, Phrases: q.Phrases, Not: q.Not, Now: now, Files: o.files, Apart: o.apart, Keep: x.Keep(q, now), HalfOf: recall.HalfLife}
	for n := max(2*o.limit, maxNear); ; n *= 4 {
		if request.N = n; o.limit <= 0 {
			request.N = 0
		}
		found := w.ranked(x, &request, q, &a)
		a.hidden = 0
		var failed error
		each := func(yield func(recall.Hit, standing) bool) {
			for _, f := range found {
				m, err := x.Memory(f.Ref)
				if err != nil {
					failed = err
					return
				}
				s := standings(m)
				if !o.foreign && s.Foreign {
					a.hidden++
				} else if !yield(recall.Hit{Memory: m, Found: f}, s) {
					return
				}
			}
		}
		n := near()
		a.weight = n.weight
		a.hits, a.lists, a.not = w.fused(each, x, q, n, o, standings)
		if failed != nil {
			return a, failed
		}
		if a.hidden == 0 || len(a.hits) >= o.limit || request.N == 0 || len(found) < request.N {
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

// quotedList are texts in quotation marks.
func quotedList(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, `"`+visible(t)+`"`)
	}
	return out
}

// ranked are the documents that answer a request: those with its phrases, or, where there is none, those with the words of them;
// the newest, where a query only filters.
func (w *workspace) ranked(x *recall.Index, r *recall.Request, q recall.Query, a *recalled) []recall.Found {
	if strings.TrimSpace(q.Text) == "" {
		return x.Newest(r.N, r.Keep)
	}
	found := x.Rank(*r)
	if len(found) == 0 && len(r.Phrases) > 0 {
		r.Phrases = nil
		if found = x.Rank(*r); len(found) > 0 {
			a.loose = true
		}
	}
	return found
}

// snippetWidth is how many characters of a memory's body are shown where they answer beyond its statement.
const snippetWidth = 200

func (w *workspace) tellAnswer(a recalled, q recall.Query, o recallOptions) error {
	env := w.env
	for _, note := range a.notes {
		env.warn("passed over: %s", note)
	}
	if len(q.Not) > 0 {
		env.say("left out: what says %s", strings.Join(quotedList(q.Not), ", "))
	}
	if a.loose {
		env.say("nothing says %s word for word; these have words of it", strings.Join(quotedList(q.Phrases), ", "))
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
	case a.hidden == 1:
		env.say("1 answer is withheld; 'reverie recall --all QUERY' shows it")
	case a.hidden > 1:
		env.say("%d answers are withheld; 'reverie recall --all QUERY' shows them", a.hidden)
	case len(a.hits) == 0:
		env.say("nothing is known about that")
	}
	for _, h := range a.hits {
		snippet := h.Snippet(q.Text, snippetWidth)
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

// hitsOf are hits, the best first, with how they stand.
type hitsOf = iter.Seq2[recall.Hit, standing]

// fused are the first of what was found, fused with what is near where that is known, and the lists that answered. What is
// stale or withheld goes back in each list before their ranks count.
func (w *workspace) fused(found hitsOf, x *recall.Index, q recall.Query, near nearness, o recallOptions, standings func(record.Memory) standing) (hits []hit, lists []string, not string) {
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
		hits = best(found, o.limit)
		for i := range hits {
			hits[i].Lexical, hits[i].Own = i+1, hits[i].Score
		}
		return hits, []string{listLexical}, near.why
	}
	depth := 0
	if o.limit > 0 {
		depth = max(o.limit, maxNear)
	}
	stands := map[string]standing{}
	list := func(found hitsOf, depth int) (out []recall.Hit) {
		for _, h := range best(found, depth) {
			stands[h.Memory.ID] = h.standing
			out = append(out, h.Hit)
		}
		return out
	}
	nearest := func(yield func(recall.Hit, standing) bool) {
		for _, n := range alike {
			if !yield(recall.Hit{Memory: n.Memory, Found: recall.Found{Score: n.Likeness}}, standings(n.Memory)) {
				return
			}
		}
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
func best(found hitsOf, n int) []hit {
	var hits []hit
	firm := 0
	for h, s := range found {
		h := hit{Fused: recall.Fused{Hit: h}, standing: s}
		if s.Stale || s.Withheld {
			h.Score *= doubted
		} else {
			firm++
		}
		if hits = append(hits, h); n > 0 && firm == n {
			break
		}
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
		parts = append(parts, visible(p.String())+" "+format2(p.Score))
	}
	p := h.Parts
	for _, part := range []struct {
		name  string
		score float64
	}{{"characters", p.Characters}, {"spelling", p.Grams}, {"neighbours", p.Near}, {"one passage", p.Passage}, {"same session", p.Beside}} {
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
