package vector

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// quantise is the direction of a vector in signed bytes, and the scale that gives them the length 1; scale 0 for a vector
// without direction. Each number is off by half a step of 1/127 of the greatest at most.
func quantise(x []float32) row {
	greatest := 0.0
	for _, f := range x {
		if size := math.Abs(float64(f)); !(size <= math.MaxFloat32) { // NaN and infinite
			return row{numbers: make([]byte, len(x))}
		} else if size > greatest {
			greatest = size
		}
	}
	r := row{numbers: make([]byte, len(x))}
	if greatest == 0 {
		return r
	}
	for i, f := range x {
		r.numbers[i] = byte(int8(math.Round(float64(f) / greatest * 127)))
	}
	r.scale = float32(1 / math.Sqrt(float64(dot(r.numbers, r.numbers))))
	return r
}

// likeness is the cosine of two vectors, −1 to 1.
func likeness(a, b row) float64 {
	return min(1, max(-1, float64(dot(a.numbers, b.numbers))*float64(a.scale)*float64(b.scale)))
}

// dot is the sum of products of signed bytes. It cannot overflow: MaxDim × 127² is less than 2³¹.
func dot(a, b []byte) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += int32(int8(x[0])) * int32(int8(y[0]))
		s1 += int32(int8(x[1])) * int32(int8(y[1]))
		s2 += int32(int8(x[2])) * int32(int8(y[2]))
		s3 += int32(int8(x[3])) * int32(int8(y[3]))
	}
	for ; i < len(a); i++ {
		s0 += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}

// Near is a memory that is alike.
type Near struct {
	Memory   record.Memory
	Likeness float64 // the cosine, above 0
}

// Nearest ranks memories by the likeness of their vectors to that of a query. It compares
// with all of them. Only those that point the way of the query, with a likeness above 0, are returned, at most n of them
// unless n is 0; equal ones keep their order. A memory of several texts counts with the one that is most alike.
//
// known are the ids of those that have a vector. A query of another dimension finds nothing.
func (v *Store) Nearest(query []float32, memories []record.Memory, n int) (hits []Near, known map[string]bool) {
	known = map[string]bool{}
	if v == nil || len(query) != v.space.Dim || len(v.file.rows) == 0 {
		return nil, known
	}
	q := quantise(query)
	if q.scale == 0 {
		return nil, known
	}
	type found struct {
		at       int // in memories
		likeness float64
	}
	var all []found
	var buffer []byte
	for i := range memories {
		best := math.Inf(-1)
		buffer = v.space.eachText(&memories[i], buffer, func(t []byte) {
			if r, ok := v.file.rows[sha256.Sum256(t)]; ok && r.scale > 0 {
				best = max(best, likeness(q, r))
			}
		})
		if math.IsInf(best, -1) {
			continue
		}
		known[memories[i].ID] = true
		if best > 0 {
			all = append(all, found{i, best})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.likeness, a.likeness) })
	if n > 0 && len(all) > n {
		all = all[:n]
	}
	for _, f := range all {
		hits = append(hits, Near{memories[f.at], f.likeness})
	}
	return hits, known
}
