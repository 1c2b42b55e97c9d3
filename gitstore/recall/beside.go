package recall

import (
	"cmp"
	"strings"
)

// Beside are the documents before and after one in its group, in whatever segments they are, or false.
func (x *Index) Beside(at Ref) (before, after Ref, hasBefore, hasAfter bool) {
	here := x.segments[at.Segment]
	group := here.Group(at.Doc)
	if group == "" {
		return
	}
	type place struct {
		Ref
		time int64
		key  string
	}
	of := func(r Ref) place {
		s := x.segments[r.Segment]
		return place{r, s.Time(r.Doc), s.Key(r.Doc)}
	}
	order := func(a, b place) int { return cmp.Or(cmp.Compare(a.time, b.time), strings.Compare(a.key, b.key)) }
	me := of(at)
	var low, high place
	for k, s := range x.segments {
		first, end := s.Members(group)
		lo, hi := first, end // the first that is not before me
		for lo < hi {
			if mid := (lo + hi) / 2; order(of(Ref{k, mid}), me) < 0 {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		for i := lo - 1; i >= first; i-- {
			if s.Live(i) {
				if p := of(Ref{k, i}); !hasBefore || order(p, low) > 0 {
					low, hasBefore = p, true
				}
				break
			}
		}
		for i := lo; i < end; i++ {
			if s.Live(i) && (Ref{k, i}) != at {
				if p := of(Ref{k, i}); !hasAfter || order(p, high) < 0 {
					high, hasAfter = p, true
				}
				break
			}
		}
	}
	return low.Ref, high.Ref, hasBefore, hasAfter
}
