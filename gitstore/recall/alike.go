package recall

import (
	"math"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// Documents that say the same are one hit. They do when they have the same terms, or, if they are not short, all but a
// twentieth: a number that differs in a short one may be the point.
const (
	sameShare  = 0.95 // of the terms that either has, which both have
	leastShare = 20   // distinct terms of a document that may differ in some
)

// fold takes the best that were asked for, and puts those that say the same as a better one under it.
func (r *ranking) fold(all []candidate) []Found {
	most := r.request.N
	if most == 0 {
		most = len(all)
	}
	var out []Found
	var sets [][]uint64
	var room []segment.Position
	for i := range all {
		if len(out) == most && (i == 0 || all[i].Parts.Words < all[i-1].Parts.Words) {
			break
		}
		c := &all[i]
		if c.Score <= 0 {
			continue
		}
		if r.request.Apart {
			if len(out) < most {
				out = append(out, c.Found)
			}
			continue
		}
		var set []uint64
		set, room = r.set(c.Ref, room)
		if n := slices.IndexFunc(sets, func(other []uint64) bool { return alike(set, other) }); n >= 0 {
			out[n].Alike = append(out[n].Alike, c.Ref)
			continue
		}
		if len(out) == most {
			continue
		}
		out, sets = append(out, c.Found), append(sets, set)
	}
	return out
}

// set are hashes of the distinct terms of a document, ascending.
func (r *ranking) set(at Ref, room []segment.Position) ([]uint64, []segment.Position) {
	s := r.segments[at.Segment]
	room = s.Forward(at.Doc, room[:0])
	set := make([]uint64, 0, len(room))
	for _, p := range room {
		set = append(set, uint64(p.Term))
	}
	slices.Sort(set)
	set = slices.Compact(set)
	if len(r.segments) > 1 { // ids of two segments are not comparable
		for i, id := range set {
			set[i] = termHash(s.TermText(uint32(id)))
		}
		slices.Sort(set)
	}
	return set, room
}

// termHash is FNV-1a.
func termHash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// alike compares two sets of terms.
func alike(a, b []uint64) bool {
	least := float64(min(len(a), len(b)))
	if share := least / math.Max(float64(max(len(a), len(b))), 1); share < sameShare {
		return false
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			both++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if len(a)+len(b)-2*both == 0 {
		return true
	}
	return least >= leastShare && float64(both) >= sameShare*float64(len(a)+len(b)-both)
}
