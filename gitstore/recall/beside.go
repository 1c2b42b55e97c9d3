package recall

import (
	"cmp"
	"strings"
)

// Beside are the documents before and after one in its group, in whatever segments they are, or false.
func (x *Index) Beside(at Ref) (before, after Ref, hasBefore, hasAfter bool) {
	here := x.segments[at.Segment]
	take := func(k, low, high, first, end int) { // the nearest that are there, down from low and up from high
		for ; low >= first; low-- {
			if r := (Ref{k, low}); x.segments[k].Live(low) {
				if !hasBefore || x.order(r, before) > 0 {
					before, hasBefore = r, true
				}
				break
			}
		}
		for ; high < end; high++ {
			if r := (Ref{k, high}); x.segments[k].Live(high) {
				if !hasAfter || x.order(r, after) < 0 {
					after, hasAfter = r, true
				}
				break
			}
		}
	}
	group := here.Group(at.Doc)
	if group == "" {
		return
	}
	for k, s := range x.segments {
		first, end := s.Members(group)
		if k == at.Segment {
			take(k, at.Doc-1, at.Doc+1, first, end)
			continue
		}
		next, high := first, end // the first that comes behind at
		for next < high {
			if mid := (next + high) / 2; x.order(Ref{k, mid}, at) < 0 {
				next = mid + 1
			} else {
				high = mid
			}
		}
		take(k, next-1, next, first, end)
	}
	return before, after, hasBefore, hasAfter
}

// order compares two documents as the groups of a segment have them: by time, then by key.
func (x *Index) order(a, b Ref) int {
	s, t := x.segments[a.Segment], x.segments[b.Segment]
	return cmp.Or(cmp.Compare(s.Time(a.Doc), t.Time(b.Doc)), strings.Compare(s.Key(a.Doc), t.Key(b.Doc)))
}
