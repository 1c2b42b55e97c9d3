package reader

import (
	"cmp"
	"iter"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
)

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
	for _, f := range recall.Fuse(words, alikes, known, near.weight) {
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
