package recall

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/catalog"
)

// Equal documents are one hit. They have the same terms in the same order or, unless they are
// short, nearly all terms in any order. In a short one a different number may be the point.
const (
	sameShare  = 19 // of sameOf terms in either, the number in both
	sameOf     = 20
	leastShare = 20 // distinct terms of a document that may differ in some
)

// maxNearly bounds the best long hits that a document is compared with term by term. With the other
// hits it is compared by a hash of its terms.
const maxNearly = 100

// fold takes the best hits and puts duplicates under the better one.
func (r *ranking) fold(all []candidate) []Found {
	most := r.request.N
	if most == 0 {
		most = len(all)
	}
	var out []Found
	f := folding{ranking: r, same: map[uint64]int{}, seed: maphash.MakeSeed(), hashes: make([][]uint64, len(r.segments))}
	for i := range all {
		c := &all[i]
		if len(out) == most || c.Score <= 0 || r.request.over() {
			break
		}
		if !r.request.Apart {
			if n, ok := f.under(c.Ref, len(out)); ok {
				out[n].Alike = append(out[n].Alike, c.Ref)
				continue
			}
		}
		out = append(out, c.Found)
	}
	return out
}

// folding is the state of a fold over the hits so far.
type folding struct {
	*ranking
	same   map[uint64]int // the hit that has the terms of a hash
	seed   maphash.Seed
	nearly []wording // at most maxNearly
	// hashes has, per segment, hashes of the terms; 0 if not computed yet. It is nil for a single
	// segment.
	hashes [][]uint64
	room   []catalog.Position
	bytes  []byte
}

// wording holds the distinct terms of a hit, ascending.
type wording struct {
	hit int
	set []uint64
}

// under returns the hit with the same content as a document. If no hit has it, the document becomes
// the hit with the number next.
func (f *folding) under(at Ref, next int) (hit int, ok bool) {
	set, sum := f.terms(at)
	if hit, ok = f.same[sum]; ok {
		return hit, true
	}
	if len(set) >= leastShare {
		slices.Sort(set)
		if set = slices.Compact(set); len(set) >= leastShare {
			if n := slices.IndexFunc(f.nearly, func(w wording) bool { return nearlySame(w.set, set) }); n >= 0 {
				return f.nearly[n].hit, true
			}
			if len(f.nearly) < maxNearly {
				f.nearly = append(f.nearly, wording{next, set})
			}
		}
	}
	f.same[sum] = next
	return 0, false
}

// terms returns the terms of a document in order, and their hash.
func (f *folding) terms(at Ref) (all []uint64, sum uint64) {
	s := f.segments[at.Segment]
	f.room = s.Forward(at.Doc, f.room[:0])
	all, f.bytes = make([]uint64, len(f.room)), f.bytes[:0]
	for i, p := range f.room {
		all[i] = uint64(p.Term)
		if len(f.segments) > 1 { // ids of two segments are not comparable
			all[i] = f.hash(at.Segment, p.Term)
		}
		f.bytes = binary.LittleEndian.AppendUint64(f.bytes, all[i])
	}
	return all, maphash.Bytes(f.seed, f.bytes)
}

// hash returns the hash of a term of a segment.
func (f *folding) hash(k int, term uint32) uint64 {
	s := f.segments[k]
	if f.hashes[k] == nil {
		f.hashes[k] = make([]uint64, s.Terms())
	}
	if int(term) >= len(f.hashes[k]) { // the segment is spoilt
		return 1
	}
	h := &f.hashes[k][term]
	if *h == 0 {
		*h = max(1, maphash.String(f.seed, s.TermText(term)))
	}
	return *h
}

// nearlySame reports whether two documents share enough of their distinct terms.
func nearlySame(a, b []uint64) bool {
	// both >= sameShare/sameOf · (a + b - both), without a fraction
	need := (sameShare*(len(a)+len(b)) + sameShare + sameOf - 1) / (sameShare + sameOf)
	both := 0
	for i, j := 0, 0; both+min(len(a)-i, len(b)-j) >= need; {
		switch {
		case both == need:
			return true
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
	return false
}
