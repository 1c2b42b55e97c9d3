package recall

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"pgregory.net/rapid"
)

func numbered(n int) []record.Memory {
	var all []record.Memory
	for i := range n {
		all = append(all, record.Memory{ID: fmt.Sprintf("%016x", i)})
	}
	return all
}

func hitsOf(all []record.Memory, order ...int) []Hit {
	var out []Hit
	for i, n := range order {
		out = append(out, Hit{Memory: all[n], Found: Found{Score: float64(len(order) - i)}})
	}
	return out
}

func order(fused []Fused) (ids []int) {
	for _, f := range fused {
		n := 0
		fmt.Sscanf(f.Memory.ID, "%x", &n)
		ids = append(ids, n)
	}
	return ids
}

func knownOf(all []record.Memory, with ...int) map[string]bool {
	known := map[string]bool{}
	for _, n := range with {
		known[all[n].ID] = true
	}
	return known
}

// By hand, k = 10, weight 1: lexical 0 1 2, near 2 1 3.
// 0: 1/11 = .09091; 1: 1/12 + 1/12 = .16667; 2: 1/13 + 1/11 = .16783; 3: 1/13 = .07692.
func TestFuseIsReciprocalRank(t *testing.T) {
	all := numbered(4)
	got := Fuse(hitsOf(all, 0, 1, 2), hitsOf(all, 2, 1, 3), knownOf(all, 0, 1, 2, 3), 1, 0)
	if diff := cmp.Diff([]int{2, 1, 0, 3}, order(got)); diff != "" {
		t.Error(diff)
	}
	for i, want := range []float64{1./13 + 1./11, 2. / 12, 1. / 11, 1. / 13} {
		if math.Abs(got[i].Score-want) > 1e-12 {
			t.Errorf("place %d: %v, want %v", i+1, got[i].Score, want)
		}
	}
	if f := got[0]; f.Lexical != 3 || f.Near != 1 || f.Own != 1 || f.Likeness != 3 {
		t.Errorf("%+v", f)
	}
}

// By hand, lexical 0 1 2, near 2 3. Weight 1/2: 2 has 1/13 + .5/11 = .12238, 0 1/11 = .09091, 1
// 1/12 = .08333, 3 .5/12 = .04167. Weight 3: 2 has 1/13 + 3/11 = .34965, 3 3/12 = .25. Weight 0
// leaves the lexical list as it is.
func TestFuseWeighsTheNearest(t *testing.T) {
	all := numbered(4)
	for weight, want := range map[float64][]int{0: {0, 1, 2, 3}, 0.5: {2, 0, 1, 3}, 3: {2, 3, 0, 1}} {
		got := Fuse(hitsOf(all, 0, 1, 2), hitsOf(all, 2, 3), knownOf(all, 0, 1, 2, 3), weight, 0)
		if diff := cmp.Diff(want, order(got)); diff != "" {
			t.Errorf("weight %v: %s", weight, diff)
		}
	}
	long := numbered(60)
	var words, reverse []int
	for i := range 50 {
		words, reverse = append(words, i), append(reverse, 59-i)
	}
	got := order(Fuse(hitsOf(long, words...), hitsOf(long, reverse...), knownOf(long, append(words, reverse...)...), 0, 0))
	if diff := cmp.Diff(append(words, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50), got); diff != "" {
		t.Errorf("weight 0: %s", diff)
	}
}

func TestFuseKeepsThePlaceOfWhatHasNoVector(t *testing.T) {
	all := numbered(6)
	for name, test := range map[string]struct {
		lexical, near, known []int
		want                 []int
	}{
		"no vectors":           {[]int{0, 1, 2}, nil, nil, []int{0, 1, 2}},
		"first has none":       {[]int{0, 1, 2}, []int{2, 1}, []int{1, 2}, []int{0, 2, 1}},
		"middle has none":      {[]int{0, 1, 2}, []int{2}, []int{0, 2}, []int{2, 1, 0}},
		"two are near alone":   {[]int{0, 1}, []int{4, 5}, []int{0, 4, 5}, []int{0, 1, 4, 5}},
		"nothing is lexical":   {nil, []int{3, 4}, []int{3, 4}, []int{3, 4}},
		"the last one has one": {[]int{0, 1, 2}, []int{2}, []int{2}, []int{0, 1, 2}},
	} {
		got := order(Fuse(hitsOf(all, test.lexical...), hitsOf(all, test.near...), knownOf(all, test.known...), 1, 0))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// For any lists and vectors, Fuse returns each memory once. Memories without a vector keep their
// lexical rank, the others the order of fusion without them, and scores never rise.
func TestFuseProperties(t *testing.T) {
	all := numbered(12)
	rapid.Check(t, func(t *rapid.T) {
		ids := make([]int, len(all))
		for i := range ids {
			ids[i] = i
		}
		lexical := rapid.Permutation(ids).Draw(t, "lexical")
		lexical = lexical[:rapid.IntRange(0, len(ids)).Draw(t, "n")]
		var with []int
		for _, n := range ids {
			if rapid.Bool().Draw(t, "has") {
				with = append(with, n)
			}
		}
		near := rapid.Permutation(with).Draw(t, "near")
		near = near[:rapid.IntRange(0, len(with)).Draw(t, "m")]
		known := knownOf(all, with...)
		weight := rapid.SampledFrom(weights[:]).Draw(t, "weight")
		got := Fuse(hitsOf(all, lexical...), hitsOf(all, near...), known, weight, 0)
		seen := map[int]bool{}
		for place, n := range order(got) {
			if seen[n] || !slices.Contains(lexical, n) && !slices.Contains(near, n) {
				t.Fatalf("%d is there twice, or from nowhere", n)
			}
			seen[n] = true
			if rank := slices.Index(lexical, n); !known[all[n].ID] && rank != place {
				t.Fatalf("%d has no vector and lexical rank %d, and stands at %d", n, rank+1, place+1)
			}
			if place > 0 && got[place].Score > got[place-1].Score {
				t.Fatalf("score rises at %d", place+1)
			}
		}
		for _, n := range slices.Concat(lexical, near) {
			if !seen[n] {
				t.Fatalf("%d is lost", n)
			}
		}
		score := func(n int) (s float64) {
			if i := slices.Index(lexical, n); i >= 0 {
				s += 1 / float64(10+i+1)
			}
			if i := slices.Index(near, n); i >= 0 {
				s += max(weight, 0.001) / float64(10+i+1)
			}
			return s
		}
		last := math.Inf(1)
		for _, n := range order(got) {
			if known[all[n].ID] {
				if s := score(n); s > last+1e-12 {
					t.Fatalf("%d with a vector is behind one of less score", n)
				} else {
					last = s
				}
			}
		}
		if len(near) == 0 {
			if diff := cmp.Diff(lexical, order(got)); len(lexical) > 0 && diff != "" {
				t.Fatalf("with nothing near the order is not the lexical one: %s", diff)
			}
		}
	})
}

// A memory with hardly a word of the query gives way to one that means the same, and one with most
// of its words does not.
func TestFuseBelievesInWordsAsFarAsTheyCover(t *testing.T) {
	all := numbered(2)
	for covered, want := range map[float64][]int{0: {1, 0}, 0.1: {1, 0}, 0.4: {0, 1}, 1: {0, 1}} {
		words := hitsOf(all, 0)
		words[0].Covered = covered
		if diff := cmp.Diff(want, order(Fuse(words, hitsOf(all, 1), knownOf(all, 0, 1), 0.7, 6))); diff != "" {
			t.Errorf("covered %v: %s", covered, diff)
		}
	}
	words := hitsOf(all, 0)
	words[0].Covered = 0.2 // of a long prompt that is much
	if got := order(Fuse(words, hitsOf(all, 1), knownOf(all, 0, 1), 0.7, 20)); got[0] != 0 {
		t.Error(got)
	}
}

// A memory that is second by likeness comes first if it has enough of the query's words, and stays
// second if no memory has.
func TestFuseLeavesTheOrderToVectorsWhereWordsTellNothing(t *testing.T) {
	all := numbered(3)
	for covered, want := range map[float64][]int{0.2: {1, 0, 2}, 0.3: {0, 1, 2}} {
		words := hitsOf(all, 0)
		words[0].Covered = covered
		if diff := cmp.Diff(want, order(Fuse(words, hitsOf(all, 1, 0, 2), knownOf(all, 0, 1, 2), 0.7, 6))); diff != "" {
			t.Errorf("covered %v: %s", covered, diff)
		}
	}
}
