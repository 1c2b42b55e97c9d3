package recall

import (
	"slices"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// places reads the candidates once, in the order of their words, and adds what only that can tell: what each term
// weighs, which words are neighbours, and the passage that has most.
//
// Near is, over the words that follow each other in the query, the lesser of their information divided by the least
// distance at which they stand in the document. Pairs of characters are not counted: two that overlap say already what stands side by side.
// Passage is the most information of words in one passage.
func (r *ranking) places(all []candidate) {
	n := len(r.query)
	seen := make([]struct {
		tf      float64
		word    int64 // of its last place, -1: none
		passage int   // where it was counted last
		near    float64
	}, n)
	// which term of the query, from 1, a term of a segment is
	of := make([][]uint16, len(r.segments))
	share := make([]float64, 0, n)
	var positions []segment.Position
	mean := max(float64(r.totals.Length)/float64(r.totals.Docs), 1)
	for c := range all {
		f := &all[c]
		s := r.segments[f.Segment]
		if of[f.Segment] == nil {
			of[f.Segment] = r.lookups(f.Segment)
		}
		index := of[f.Segment]
		for i := range seen {
			seen[i].tf, seen[i].word, seen[i].passage, seen[i].near = 0, -1, -1, 0
		}
		passage, here, best := -1, 0.0, 0.0
		positions = s.Forward(f.Doc, positions[:0])
		for _, p := range positions {
			if int(p.Passage) != passage {
				passage, best, here = int(p.Passage), max(best, here), 0
			}
			i := int(index[p.Term]) - 1
			if i < 0 {
				continue
			}
			at, l := &seen[i], &r.query[i]
			at.tf += float64(p.Weight)
			if at.passage != passage {
				at.passage = passage
				here += l.weight * l.idf
			}
			if i > 0 && seen[i-1].word >= 0 {
				at.near = max(at.near, 1/float64(max(int64(p.Word)-seen[i-1].word, 1)))
			}
			if i+1 < n && seen[i+1].word >= 0 {
				seen[i+1].near = max(seen[i+1].near, 1/float64(max(int64(p.Word)-seen[i+1].word, 1)))
			}
			at.word = int64(p.Word)
		}
		f.Parts.Passage = passageWeight * max(best, here)
		f.Parts.Words = float64(r.words[f.at])
		length := max(float64(s.Length(f.Doc))/mean, 1e-6)
		share = share[:0]
		for i := range r.query {
			l := &r.query[i]
			if i > 0 && seen[i].near > 0 {
				if before := &r.query[i-1]; !(l.joined && before.joined) {
					f.Parts.Near += nearWeight * seen[i].near * min(l.weight*l.idf, before.weight*before.idf)
				}
			}
			share = append(share, 0)
			if seen[i].tf > 0 {
				share[i] = l.likeness(f.Segment)
				f.Words = append(f.Words, Part{l.text, l.weight * l.idf * share[i] * frequency(seen[i].tf, length)})
			}
		}
		f.Covered = r.covered(func(i int) float64 { return share[i] })
	}
}

// likeness is how much the best of a term's variants is like it.
func (l *lookup) likeness(k int) float64 {
	best := 0.0
	for _, v := range l.ids[k] {
		best = max(best, v.share)
	}
	return best
}

// lookups tells of each term of a segment which of the query it is, from 1; 0: none.
func (r *ranking) lookups(k int) []uint16 {
	out := make([]uint16, r.segments[k].Terms())
	for i := range slices.Backward(r.query) {
		for _, v := range r.query[i].ids[k] {
			out[v.id] = uint16(i + 1)
		}
	}
	return out
}
