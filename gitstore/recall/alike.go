package recall

import (
	"slices"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// Documents that say the same are one hit. They do when they have the same terms in the same order, or, if they are not short,
// nearly all terms in any: a number that differs in a short one may be the point.
const (
	sameShare  = 0.95 // of the terms that either has, which both have
	leastShare = 20   // distinct terms of a document that may differ in some
)

// saying is what a document says: its terms in their order, and the distinct ones ascending.
type saying struct{ all, set []uint64 }

// fold takes the best that were asked for, and puts those that say the same as a better one under it.
func (r *ranking) fold(all []candidate) []Found {
	most := r.request.N
	if most == 0 {
		most = len(all)
	}
	var out []Found
	var said []saying
	var room []segment.Position
	for i := range all {
		c := &all[i]
		if len(out) == most || c.Score <= 0 {
			break
		}
		if !r.request.Apart {
			var this saying
			this, room = r.saying(c.Ref, room)
			if n := slices.IndexFunc(said, this.same); n >= 0 {
				out[n].Alike = append(out[n].Alike, c.Ref)
				continue
			}
			said = append(said, this)
		}
		out = append(out, c.Found)
	}
	return out
}

func (r *ranking) saying(at Ref, room []segment.Position) (saying, []segment.Position) {
	s := r.segments[at.Segment]
	room = s.Forward(at.Doc, room[:0])
	all := make([]uint64, len(room), 2*len(room))
	for i, p := range room {
		all[i] = uint64(p.Term)
		if len(r.segments) > 1 { // ids of two segments are not comparable
			all[i] = termHash(s.TermText(p.Term))
		}
	}
	set := append(all[len(all):], all...)
	slices.Sort(set)
	return saying{all, slices.Compact(set)}, room
}

func (a saying) same(b saying) bool {
	if slices.Equal(a.all, b.all) {
		return true
	}
	least, most := min(len(a.set), len(b.set)), max(len(a.set), len(b.set))
	if least < leastShare || float64(least) < sameShare*float64(most) {
		return false
	}
	both := 0
	for i, j := 0, 0; i < len(a.set) && j < len(b.set); {
		switch {
		case a.set[i] == b.set[j]:
			both++
			i++
			j++
		case a.set[i] < b.set[j]:
			i++
		default:
			j++
		}
	}
	return float64(both) >= sameShare*float64(least+most-both)
}

// termHash is FNV-1a.
func termHash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}
