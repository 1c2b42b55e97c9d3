package vector

import (
	"cmp"
	"math"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// quantise returns a vector's direction in signed bytes, and the scale that gives them the length
// 1. The scale is 0 for a zero vector. Each number is off by at most half a step of 1/127 of the
// greatest.
func quantise(x []float32) value {
	greatest := 0.0
	for _, f := range x {
		if size := math.Abs(float64(f)); !(size <= math.MaxFloat32) { // NaN and infinite
			return value{numbers: make([]byte, len(x))}
		} else if size > greatest {
			greatest = size
		}
	}
	r := value{numbers: make([]byte, len(x))}
	if greatest == 0 {
		return r
	}
	for i, f := range x {
		r.numbers[i] = byte(int8(math.Round(float64(f) / greatest * 127)))
	}
	r.scale = float32(1 / math.Sqrt(float64(dot(r.numbers, r.numbers))))
	return r
}

// likeness returns the cosine of two vectors, −1 to 1.
func likeness(a, b value) float64 {
	return min(1, max(-1, float64(dot(a.numbers, b.numbers))*float64(a.scale)*float64(b.scale)))
}

// dot returns the sum of products of signed bytes. It cannot overflow: MaxDim × 127² is less than
// 2³¹.
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

// Nearest ranks memories by the likeness of their vectors to a query's, above 0 only, equal ones by
// id. It compares with all vectors, then asks find about the candidates, the most alike first. It
// stops after n accepted memories; n = 0 sets no limit. find rejects memories that may not be in
// the answer. A memory with several texts counts by the most similar one. A query of another
// dimension finds nothing.
func (v *Store) Nearest(query []float32, n int, find func(id string) (record.Memory, bool)) []Near {
	if v.Empty() || len(query) != v.space.Dim {
		return nil
	}
	return v.nearest(quantise(query), n, find)
}

func (v *Store) nearest(q value, n int, find func(id string) (record.Memory, bool)) []Near {
	c := v.content
	scores := make([]float32, c.len())
	for i := range scores {
		r := c.row(i)
		scores[i] = float32(dot(q.numbers, r.numbers())) * r.scale()
	}
	for take := 2 * n; ; take *= 4 {
		var out []Near
		seen := map[string]bool{}
		best := greatest(scores, take)
		for _, i := range best {
			r := c.row(i)
			if id := r.id(); !seen[id] {
				m, ok := find(id)
				if !ok || !c.sound(r) || !slices.Contains(v.space.keys(&m), r.key()) {
					continue
				}
				seen[id] = true
				if out = append(out, Near{m, likeness(q, r.value())}); len(out) == n {
					return out
				}
			}
		}
		if n <= 0 || len(best) < take {
			return out
		}
	}
}

// Likeness returns how similar a memory is to a query, as Nearest does; 0 without a vector.
func Likeness(v *Store, query []float32, m record.Memory) (best float64) {
	if v.Empty() || len(query) != v.space.Dim {
		return 0
	}
	q := quantise(query)
	for _, k := range v.space.keys(&m) {
		if r, ok := v.content.find(k); ok && v.content.sound(r) {
			best = max(best, likeness(q, r.value()))
		}
	}
	return best
}

// Has reports whether a memory has a vector.
func (v *Store) Has(m record.Memory) bool {
	if v.Empty() {
		return false
	}
	return slices.ContainsFunc(v.space.keys(&m), func(k key) bool {
		r, ok := v.content.find(k)
		return ok && r.scale() > 0
	})
}

// greatest returns the indices of the n greatest positive numbers, the greatest first, equal ones
// in order; with n = 0 all of them.
func greatest(scores []float32, n int) (places []int) {
	order := func(i, j int) int { return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(i, j)) }
	least := float32(0) // threshold
	for i, s := range scores {
		if !(s > least) {
			continue
		}
		places = append(places, i)
		if n > 0 && len(places) == 2*n {
			slices.SortFunc(places, order)
			places = places[:n]
			least = scores[places[n-1]]
		}
	}
	slices.SortFunc(places, order)
	if n > 0 && len(places) > n {
		places = places[:n]
	}
	return places
}
