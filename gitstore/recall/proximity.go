package recall

import (
	"slices"

	"github.com/reverie-memory/reverie/gitstore/catalog"
)

// slot links a term of a segment to a lookup.
type slot struct {
	lookup int // in query
	variant
	next uint16  // slot of another lookup that the term counts for, from 1; 0: none
	tf   float64 // in the document at hand
}

// slots are those of a segment.
type slots struct {
	all    []slot
	of     []uint16  // first slot of each term, from 1; 0: none
	begins []uint16  // character that each term begins with, from 1; nil: the query has none
	tf     []float64 // of each character, in the current document
}

func (r *ranking) slots(k int) *slots {
	s := &slots{of: make([]uint16, r.segments[k].Terms())}
	for i := range slices.Backward(r.query) {
		for _, v := range slices.Backward(r.query[i].ids[k]) {
			s.all = append(s.all, slot{lookup: i, variant: v, next: s.of[v.id]})
			s.of[v.id] = uint16(len(s.all))
		}
	}
	if len(r.chars) > 0 {
		s.begins, s.tf = make([]uint16, len(s.of)), make([]float64, len(r.chars))
	}
	for i, c := range r.chars {
		for _, id := range c.ids[k] {
			s.begins[id] = uint16(i + 1)
		}
	}
	return s
}

// places reads the candidates once, in the order of their words. It adds the weight of each term,
// the pairs of neighbouring words, and the best passage.
//
// Near sums over adjacent words of the query: the lesser of their information divided by their
// least distance in the document. It skips pairs of characters, because overlapping pairs already
// express adjacency. Passage is the greatest information of words in one passage.
func (r *ranking) places(all []candidate) {
	n := len(r.query)
	seen := make([]struct {
		word    int64 // of its last place, or -1
		passage int   // last one where it was counted
		near    float64
	}, n)
	of := make([]*slots, len(r.segments))
	share := make([]float64, n)
	var positions []catalog.Position
	mean := mean(r.totals.Length, r.totals.Docs)
	for c := range all {
		if r.request.over() {
			return
		}
		f := &all[c]
		s := r.segments[f.Segment]
		if of[f.Segment] == nil {
			of[f.Segment] = r.slots(f.Segment)
		}
		has := of[f.Segment]
		for i := range seen {
			seen[i].word, seen[i].passage, seen[i].near = -1, -1, 0
		}
		for i := range has.all {
			has.all[i].tf = 0
		}
		clear(has.tf)
		passage, here, best := -1, 0.0, 0.0
		positions = s.Forward(f.Doc, positions[:0])
		for _, p := range positions {
			if int(p.Passage) != passage {
				passage, best, here = int(p.Passage), max(best, here), 0
			}
			if has.begins != nil {
				if c := has.begins[p.Term]; c > 0 {
					has.tf[c-1] += float64(p.Weight)
				}
			}
			first := has.of[p.Term]
			if first == 0 {
				continue
			}
			for at := first; at > 0; at = has.all[at-1].next {
				has.all[at-1].tf += float64(p.Weight)
			}
			i := has.all[first-1].lookup
			at, l := &seen[i], &r.query[i]
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
		clear(share)
		r.weigh(f, has, max(float64(s.Length(f.Doc))/mean, 1e-6), share)
		for i := 1; i < n; i++ {
			l, before := &r.query[i], &r.query[i-1]
			if seen[i].near > 0 && !(l.joined && before.joined) {
				f.Parts.Near += nearWeight * seen[i].near * min(l.weight*l.idf, before.weight*before.idf)
			}
		}
		f.Covered = r.covered(func(i int) float64 { return share[i] })
	}
}

// weigh sets the Words and Characters of a candidate from its counts, in the order of the query. It
// fills share with the candidate's part of each lookup.
func (r *ranking) weigh(f *candidate, has *slots, length float64, share []float64) {
	for i := range slices.Backward(has.all) {
		at := &has.all[i]
		if at.tf == 0 {
			continue
		}
		l := &r.query[at.lookup]
		share[at.lookup] = max(share[at.lookup], at.share)
		p := Part{Term: l.text, Score: l.weight * l.idf * at.share * frequency(at.tf, length), tells: l.weight * l.idf}
		if at.spelt != "" {
			p.Term, p.asked, p.spelt = r.segments[f.Segment].TermText(at.id), l.written, at.spelt
		}
		f.Words = append(f.Words, p)
	}
	for i := range r.chars {
		c := &r.chars[i]
		if has.tf[i] == 0 || c.idf == 0 {
			continue
		}
		score := c.share * c.idf * frequency(has.tf[i], length)
		if c.share < 1 {
			f.Parts.Characters += score
			continue
		}
		n := slices.IndexFunc(r.query, func(l lookup) bool { return l.text == c.text })
		share[n] = 1
		if at := slices.IndexFunc(f.Words, func(p Part) bool { return p.Term == c.text }); at >= 0 {
			f.Words[at].Score += score
		} else {
			f.Words = append(f.Words, Part{Term: c.text, Score: score, tells: r.query[n].weight * r.query[n].idf})
		}
	}
	for _, p := range f.Words {
		f.Parts.Words += p.Score
	}
}
