package reader

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
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
	a.Loose = loose
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
	a.Far = !Wordless(l.q) && !slices.ContainsFunc(found, func(f recall.Found) bool { return f.Covered > 0 })
	if a.Many = request.N > 0 && len(found) == request.N; !a.Many {
		a.More = l.unshown(found, a.Hits)
	}
	return a, nil
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
