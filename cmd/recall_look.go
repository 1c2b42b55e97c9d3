package cmd

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// recalled is what recall found.
type recalled struct {
	hits   []hit
	lists  []string // that answered
	weight float64  // of the nearest, where they did
	not    string   // why another did not
	loose  bool     // nothing has the phrases that were asked for: these have their words
	hidden int      // that answer and are withheld for their authors, maxNear at most
	notes  []string // of files that cannot be read
	far    bool     // no memory has a word of the query: these are only near
	more   int      // that were found and are not among the hits
	many   bool     // there are more, and nobody counted them
	why    string   // nothing was found
}

// lookup is one question to an index.
type lookup struct {
	w         *workspace
	x         *recall.Index        // of what may be found
	withheld  func() *recall.Index // of what may not, for its authors, to be closed; nil: there is none
	q         recall.Query
	o         recallOptions
	near      func() nearness
	standings func(record.Memory) standing
}

// look asks the index, and what is near where that is known. It reads no more memories than the answer needs, and at most some
// fifty to say how many more there are, or why there are none.
func (l lookup) look(ctx context.Context) (recalled, error) {
	a, err := l.find(ctx)
	if err != nil {
		return a, err
	}
	if len(a.hits) == 0 && a.hidden == 0 {
		a.why = l.whyNothing()
	}
	for i := range a.hits {
		h := &a.hits[i]
		for _, at := range h.Alike {
			m, err := l.x.Memory(at)
			if err != nil {
				return a, err
			}
			if l.o.foreign || h.standing.Withheld || !l.standings(m).Withheld {
				h.alike = append(h.alike, m.ID)
			}
		}
	}
	return a, nil
}

// find fills the hits.
func (l lookup) find(ctx context.Context) (a recalled, err error) {
	now := l.w.env.Now()
	a.notes = l.x.State().Notes
	request := recall.Request{Text: l.q.Text, Phrases: l.q.Phrases, Not: l.q.Not, N: max(2*l.o.limit, maxNear), Now: now, Files: l.o.files, Apart: l.o.apart,
		Keep: l.x.Keep(l.q, now), HalfOf: recall.HalfLife, Done: ctx.Done()}
	if l.o.limit <= 0 {
		request.N = 0
	}
	found, loose := l.ranked(&request)
	if err := ctx.Err(); err != nil {
		return a, err
	}
	a.loose = loose
	a.hidden = l.hidden(request)
	var failed error
	each := func(yield func(recall.Hit, standing) bool) {
		for _, f := range found {
			h, s, err := l.speaker(f)
			if err != nil {
				failed = err
				return
			}
			if !yield(h, s) {
				return
			}
		}
	}
	near := l.near()
	a.weight = near.weight
	a.hits, a.lists, a.not = l.fused(each, near)
	if failed != nil {
		return a, failed
	}
	a.far = !wordless(l.q) && !slices.ContainsFunc(found, func(f recall.Found) bool { return f.Covered > 0 })
	if a.many = request.N > 0 && len(found) == request.N; !a.many {
		a.more = l.unshown(found, a.hits)
	}
	return a, nil
}

// speaker is the best of those that say the same as a document which is given to agents, or else the document.
func (l lookup) speaker(f recall.Found) (hit recall.Hit, s standing, err error) {
	for i, at := range append([]recall.Ref{f.Ref}, f.Alike...) {
		m, err := l.x.Memory(at)
		if err != nil {
			return hit, s, err
		}
		stands := l.standings(m)
		if i > 0 && stands.Withheld {
			continue
		}
		hit, s = recall.Hit{Memory: m, Found: f}, stands
		if i > 0 {
			hit.Ref, hit.Alike = at, slices.Clone(f.Alike)
			hit.Alike[i-1] = f.Ref
		}
		if !s.Withheld {
			break
		}
	}
	return hit, s, nil
}

// hidden is how many memories that are withheld for their authors have words that a request asks for, at most maxNear.
func (l lookup) hidden(r recall.Request) (n int) {
	if l.withheld == nil {
		return 0
	}
	l.x, r.N, r.Apart = l.withheld(), maxNear, true
	defer l.x.Close()
	r.Keep = l.x.Keep(l.q, r.Now)
	return l.answers(&r)
}

// answers is how many documents answer a request: those that have some of its words, if it has any.
func (l lookup) answers(r *recall.Request) (n int) {
	found, _ := l.ranked(r)
	for _, f := range found {
		if f.Covered > 0 || wordless(l.q) {
			n++
		}
	}
	return n
}

// ranked are the documents that answer a request: those with its phrases, or, where there is none, those with the words of them,
// which is loose; the newest, where the query only filters.
func (l lookup) ranked(r *recall.Request) (found []recall.Found, loose bool) {
	if wordless(l.q) {
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

// unshown is how many of what was found are not among the hits.
func (l lookup) unshown(found []recall.Found, hits []hit) (n int) {
	if l.o.limit <= 0 || len(found) <= len(hits) {
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
func (l lookup) fused(found hitsOf, near nearness) (hits []hit, lists []string, not string) {
	alike := l.alike(near)
	if len(alike) == 0 {
		if not = near.why; near.query != nil {
			not = "none of these has one that is alike"
		}
		hits = best(found, l.o.limit)
		for i := range hits {
			hits[i].Lexical, hits[i].Own = i+1, hits[i].Score
		}
		return hits, []string{listLexical}, not
	}
	depth := 0
	if l.o.limit > 0 {
		depth = max(l.o.limit, maxNear)
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
			if !yield(recall.Hit{Memory: n.Memory, Found: recall.Found{Score: n.Likeness}}, l.standings(n.Memory)) {
				return
			}
		}
	}
	words, alikes := list(found, depth), list(nearest, maxNear)
	known := map[string]bool{} // what has a vector
	for _, h := range words {
		known[h.Memory.ID] = near.vectors.Has(h.Memory)
	}
	for _, f := range recall.Fuse(words, alikes, known, near.weight) {
		if l.o.limit <= 0 || len(hits) < l.o.limit {
			hits = append(hits, hit{Fused: f, standing: stands[f.Memory.ID]})
		}
	}
	return hits, []string{listLexical, listVectors}, ""
}

// alike are the nearest that may be found; none where the query has no vector.
func (l lookup) alike(near nearness) []vector.Near {
	if near.query == nil {
		return nil
	}
	keep := l.x.Keep(l.q, l.w.env.Now())
	return near.vectors.Nearest(near.query, 2*maxNear, func(id string) (m record.Memory, ok bool) {
		at, ok := l.x.ByID(id)
		if !ok || keep != nil && !keep(at) {
			return m, false
		}
		m, err := l.x.Memory(at)
		return m, err == nil
	})
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
