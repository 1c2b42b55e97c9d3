package reader

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Answer holds the memories that answer a question.
type Answer struct {
	Query    recall.Query
	At       string // requested revision; empty: now
	Literals []Literal

	Hits    []Hit
	Lists   []string // that answered
	Weight  float64  // of ListVectors beside ListLexical, if both answered
	Not     string   // why ListVectors did not answer
	Loose   bool     // no memory has the phrases of the query: the hits have their words
	Hidden  int      // matches withheld for their authors, at most MaxNear
	Damaged []string // unreadable files, and why
	Far     bool     // no memory has a word of the query: the hits are only near
	More    int      // found, but not among the hits
	Many    bool     // there are more than anybody counted
	Nothing Nothing  // why there are no hits
}

// The lists that may answer a query.
const (
	ListLexical = "lexical"
	ListVectors = "vectors"
)

// MaxNear bounds the list of the nearest: there is always a nearest, and late ones are alike by
// chance.
const MaxNear = 50

// SnippetWidth bounds the part of a body that is shown with a hit, in characters.
const SnippetWidth = 200

// Hit is a memory that answers a query.
type Hit struct {
	recall.Fused
	Caveats Caveats
	Same    []string // ids of memories that say the same
}

// Ranks returns the rank of a hit in each list that has it, if there is more than one list.
func (h Hit) Ranks(lists []string) map[string]int {
	if len(lists) < 2 {
		return nil
	}
	all := map[string]int{}
	for list, rank := range map[string]int{ListLexical: h.Lexical, ListVectors: h.Near} {
		if rank > 0 {
			all[list] = rank
		}
	}
	return all
}

// lookup is one question to an index.
type lookup struct {
	r *Reader
	x *recall.Index // of the visible memories
	// of the withheld ones, which the caller closes; nil: no such memories
	withheld func() *recall.Index
	q        recall.Query
	Question
	near    func() nearness
	caveats func(record.Memory) Caveats
}

// answer asks the index, and the vectors if available. It reads only the memories of the answer,
// plus at most some fifty to count further matches or to explain an empty answer.
func (l lookup) answer(ctx context.Context) (Answer, error) {
	a, err := l.find(ctx)
	if err != nil {
		return a, err
	}
	if len(a.Hits) == 0 && a.Hidden == 0 {
		a.Nothing = l.whyNothing()
	}
	for i := range a.Hits {
		h := &a.Hits[i]
		CheckTree(ctx, l.r, h.Memory, &h.Caveats)
		for _, at := range h.Alike {
			m, err := l.x.Memory(at)
			if err != nil {
				return a, err
			}
			if l.Withheld || h.Caveats.Withheld || !l.caveats(m).Withheld {
				h.Same = append(h.Same, m.ID)
			}
		}
	}
	return a, nil
}

// find fills the hits.
func (l lookup) find(ctx context.Context) (a Answer, err error) {
	now := l.r.Now()
	a.Damaged = l.x.Notes()
	request := recall.Request{Text: l.q.Text, Phrases: l.q.Phrases, Not: l.q.Not, N: max(2*l.Limit, MaxNear), Now: now, Files: l.Files, Apart: l.Apart,
		Keep: l.x.Keep(l.q, now), HalfOf: recall.HalfLife, Done: ctx.Done()}
	if l.Limit <= 0 {
		request.N = 0
	}
	found, loose := l.ranked(&request)
	if err := ctx.Err(); err != nil {
		return a, err
	}
	a.Loose, a.Many = loose, request.N > 0 && len(found) == request.N
	a.Far = !Wordless(l.q) && !slices.ContainsFunc(found, func(f recall.Found) bool { return f.Covered > 0 })
	if !a.Far && !Wordless(l.q) {
		found = slices.DeleteFunc(found, besideOnly)
	}
	a.Hidden = l.hidden(request)
	var failed error
	each := func(yield func(recall.Hit, Caveats) bool) {
		for _, f := range found {
			h, c, err := l.speaker(f)
			if err != nil {
				failed = err
				return
			}
			if !yield(h, c) {
				return
			}
		}
	}
	near := l.near()
	a.Weight = near.weight
	a.Hits, a.Lists, a.Not = l.fused(each, near)
	if failed != nil {
		return a, failed
	}
	if !a.Many {
		a.More = l.unshown(found, a.Hits)
	}
	return a, nil
}

// besideOnly reports whether a document was found by nothing but its session.
func besideOnly(f recall.Found) bool {
	return f.Parts.Words == 0 && f.Parts.Grams == 0 && f.Parts.Characters == 0
}

// speaker returns the best of the memories that say the same as a document and that agents may see,
// or else the document itself.
func (l lookup) speaker(f recall.Found) (hit recall.Hit, c Caveats, err error) {
	for i, at := range append([]recall.Ref{f.Ref}, f.Alike...) {
		m, err := l.x.Memory(at)
		if err != nil {
			return hit, c, err
		}
		of := l.caveats(m)
		if i > 0 && of.Withheld {
			continue
		}
		hit, c = recall.Hit{Memory: m, Found: f}, of
		if i > 0 {
			hit.Ref, hit.Alike = at, slices.Clone(f.Alike)
			hit.Alike[i-1] = f.Ref
		}
		if !c.Withheld {
			break
		}
	}
	return hit, c, nil
}

// hidden counts the withheld memories that match a request, at most MaxNear.
func (l lookup) hidden(r recall.Request) (n int) {
	if l.withheld == nil {
		return 0
	}
	l.x, r.N, r.Apart = l.withheld(), MaxNear, true
	defer l.x.Close()
	r.Keep = l.x.Keep(l.q, r.Now)
	return l.answers(&r)
}

// answers counts the documents that match a request: those that have some of its words, if it has
// any.
func (l lookup) answers(r *recall.Request) (n int) {
	found, _ := l.ranked(r)
	for _, f := range found {
		if f.Covered > 0 || Wordless(l.q) {
			n++
		}
	}
	return n
}

// ranked returns the documents that match a request. If none has its phrases, loose is true and it
// returns those with the phrases' words. For a query of only filters it returns the newest.
func (l lookup) ranked(r *recall.Request) (found []recall.Found, loose bool) {
	if Wordless(l.q) {
		return l.x.Newest(r.N, l.x.Without(r.Not, r.Keep)), false
	}
	found = l.x.Rank(*r)
	if len(found) == 0 && len(r.Phrases) > 0 {
		r.Phrases = nil
		found = l.x.Rank(*r)
		return found, len(found) > 0
	}
	return found, false
}

// unshown counts the found memories that are not among the hits.
func (l lookup) unshown(found []recall.Found, hits []Hit) (n int) {
	if l.Limit <= 0 || len(found) <= len(hits) {
		return 0
	}
	shown := map[string]bool{}
	for _, h := range hits {
		shown[h.Memory.ID] = true
	}
	for _, f := range found {
		if m, err := l.x.Memory(f.Ref); err == nil && !shown[m.ID] {
			n++
		}
	}
	return n
}

// Wordless reports whether a query only filters.
func Wordless(q recall.Query) bool { return strings.TrimSpace(q.Text) == "" }

// Explain says where a score comes from: the rank in each list, and the share of each term.
func (h Hit) Explain(lists []string) string {
	if len(lists) < 2 && h.Score == 0 {
		return "nothing to score: the newest first"
	}
	if len(lists) < 2 {
		return digits(h.Score) + " = " + h.terms()
	}
	var parts []string
	for _, list := range lists {
		if rank, ok := h.Ranks(lists)[list]; ok {
			parts = append(parts, list+" "+strconv.Itoa(rank))
		}
	}
	line := strconv.FormatFloat(h.Score, 'f', 4, 64) + " = " + strings.Join(parts, " + ")
	if h.Kept {
		line = ListLexical + " " + strconv.Itoa(h.Lexical) + ", where it stays: it has no vector"
	}
	if h.Lexical > 0 {
		line += "; " + ListLexical + " " + digits(h.Own) + " = " + h.terms()
	}
	if h.Near > 0 {
		line += "; likeness " + digits(h.Likeness)
	}
	return line
}

// terms writes a lexical score as a sum of the terms and parts of the ranking, with its factors.
func (h Hit) terms() string {
	var parts []string
	for _, p := range h.Words {
		parts = append(parts, unseen.Visible(p.String())+" "+digits(p.Score))
	}
	p := h.Parts
	for _, part := range []struct {
		name  string
		score float64
	}{{"characters", p.Characters}, {"spelling", p.Grams}, {"neighbours", p.Near}, {"one passage", p.Passage}, {"same session", p.Beside}, {"same file", p.SameFile}} {
		if part.score >= 0.005 {
			parts = append(parts, part.name+" "+digits(part.score))
		}
	}
	sum := strings.Join(parts, " + ")
	factor := func(f float64, name string) {
		if f != 1 && f != 0 {
			if strings.Contains(sum, " + ") && !strings.HasSuffix(sum, ")") {
				sum = "(" + sum + ")"
			}
			sum = digits(f) + " " + name + " × " + sum
		}
	}
	factor(p.Prior, "age")
	factor(p.Files, "files")
	if s := h.Caveats; s.Stale || s.Withheld {
		factor(Doubt, "doubt")
	}
	return sum + "; covers " + strconv.Itoa(int(100*h.Covered+0.5)) + " %"
}

// digits returns a number with two digits after the point.
func digits(f float64) string { return fmt.Sprintf("%.2f", f) }

// hits iterates over the memories that match a query, best first.
type hits = iter.Seq2[recall.Hit, Caveats]

// fused returns the best of the found memories, fused with the nearest if known, and the lists that
// answered. Stale and withheld memories are demoted in each list before their ranks count.
func (l lookup) fused(found hits, near nearness) (first []Hit, lists []string, not string) {
	alike := l.alike(near)
	if len(alike) == 0 {
		if not = near.why; near.query != nil {
			not = "none of these has one that is alike"
		}
		first = best(found, l.Limit)
		for i := range first {
			first[i].Lexical, first[i].Own = i+1, first[i].Score
		}
		return first, []string{ListLexical}, not
	}
	depth := 0
	if l.Limit > 0 {
		depth = max(l.Limit, MaxNear)
	}
	caveats := map[string]Caveats{}
	list := func(found hits, depth int) (out []recall.Hit) {
		for _, h := range best(found, depth) {
			caveats[h.Memory.ID] = h.Caveats
			out = append(out, h.Hit)
		}
		return out
	}
	nearest := func(yield func(recall.Hit, Caveats) bool) {
		for _, n := range alike {
			if !yield(recall.Hit{Memory: n.Memory, Found: recall.Found{Score: n.Likeness}}, l.caveats(n.Memory)) {
				return
			}
		}
	}
	words, alikes := list(found, depth), list(nearest, MaxNear)
	known := map[string]bool{} // memories with a vector
	for _, h := range words {
		known[h.Memory.ID] = near.vectors.Has(h.Memory)
	}
	for _, f := range recall.Fuse(words, alikes, known, near.weight, near.words) {
		if l.Limit <= 0 || len(first) < l.Limit {
			first = append(first, Hit{Fused: f, Caveats: caveats[f.Memory.ID]})
		}
	}
	return first, []string{ListLexical, ListVectors}, ""
}

// alike returns the nearest visible memories, or nothing if the query has no vector.
func (l lookup) alike(near nearness) []vector.Near {
	if near.query == nil {
		return nil
	}
	keep := l.x.Keep(l.q, l.r.Now())
	return near.vectors.Nearest(near.query, 2*MaxNear, func(id string) (m record.Memory, ok bool) {
		at, ok := l.x.ByID(id)
		if !ok || keep != nil && !keep(at) {
			return m, false
		}
		m, err := l.x.Memory(at)
		return m, err == nil
	})
}

// Doubt is the factor on the score of a stale or withheld memory.
const Doubt = 0.5

// best returns the first n found memories, or all if n is 0, after lowering the scores of stale and
// withheld ones. It stops once no later one can be among the first n.
func best(found hits, n int) []Hit {
	var all []Hit
	firm := 0
	for h, c := range found {
		h := Hit{Fused: recall.Fused{Hit: h}, Caveats: c}
		if c.Stale || c.Withheld {
			h.Score *= Doubt
		} else {
			firm++
		}
		if all = append(all, h); n > 0 && firm == n {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	if n > 0 && len(all) > n {
		all = all[:n]
	}
	return all
}
