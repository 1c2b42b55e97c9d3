package recall

import (
	"cmp"
	"strings"
)

// Beside returns the documents before and after one in its group, in any segment.
func (x *Index) Beside(at Ref) (before, after Ref, hasBefore, hasAfter bool) {
	group := x.segments[at.Segment].Group(at.Doc)
	if group == "" {
		return
	}
	for k, s := range x.segments {
		n := s.Neighbours()
		i := s.FirstNeighbour(func(doc int) bool { return x.order(Ref{k, doc}, at) >= 0 })
		low, high := i-1, i
		if i < n && k == at.Segment && s.Neighbour(i) == at.Doc {
			high++
		}
		for ; low >= 0 && !s.Live(s.Neighbour(low)); low-- {
		}
		for ; high < n && !s.Live(s.Neighbour(high)); high++ {
		}
		if r := (Ref{k, 0}); low >= 0 {
			if r.Doc = s.Neighbour(low); s.Group(r.Doc) == group && (!hasBefore || x.order(r, before) > 0) {
				before, hasBefore = r, true
			}
		}
		if r := (Ref{k, 0}); high < n {
			if r.Doc = s.Neighbour(high); s.Group(r.Doc) == group && (!hasAfter || x.order(r, after) < 0) {
				after, hasAfter = r, true
			}
		}
	}
	return before, after, hasBefore, hasAfter
}

// order compares two documents as neighbours: by group, time and key.
func (x *Index) order(a, b Ref) int {
	s, t := x.segments[a.Segment], x.segments[b.Segment]
	return cmp.Or(strings.Compare(s.Group(a.Doc), t.Group(b.Doc)), cmp.Compare(s.Time(a.Doc), t.Time(b.Doc)), strings.Compare(s.Key(a.Doc), t.Key(b.Doc)))
}
