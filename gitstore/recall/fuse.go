package recall

import (
	"cmp"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// rrf is the k of reciprocal rank fusion: score(d) = Σ weight/(k + rank(d)), ranks from 1 (Cormack,
// Clarke, Büttcher, SIGIR 2009, with k = 60 for lists of a thousand). The lists here have some
// fifty, of which the first few matter.
const rrf = 10

// leastWeight is that of the nearest where their weight is 0: too little to change the order of the
// first 50 that the words have found.
const leastWeight = 0.001

// Hit is a memory that answers a query.
type Hit struct {
	Memory record.Memory
	Found
}

// Fused is a memory of one list or of two. Its Score is the fused one, and no share of what the
// lists' own scores say.
type Fused struct {
	Hit
	Lexical  int     // rank from 1 in the lexical list; 0: not in it
	Near     int     // likewise among the nearest
	Kept     bool    // it has no vector, and keeps its place of the lexical list
	Own      float64 // score of the lexical list
	Likeness float64 // of the nearest: the cosine
}

// Fuse merges the answer of a search by words with the nearest, each the best first, by reciprocal
// rank, where a rank among the nearest counts weight times one of the lexical list; Weigh finds it.
// With weight 0 the lexical list stays as it is, and what is only near follows. Equal scores keep
// the order of the lexical list, and what is only near comes after that. known are the ids of
// memories that have a vector.
//
// A memory without a vector says nothing about its likeness, so no rank is made up for it: it keeps
// its place. At the rank that the lexical list gave it, it stands in the answer, and those with a
// vector are fused among themselves and fill the places between. So the missing vector moves it
// neither down nor up; with no vectors at all the answer is the lexical list, and with all of them
// it is the plain fusion. Its Score is that of the one before it.
func Fuse(lexical, near []Hit, known map[string]bool, weight float64) []Fused {
	weight = max(weight, leastWeight)
	var fused, kept []Fused
	at := map[string]int{} // in fused
	for i, h := range lexical {
		f := Fused{Hit: h, Lexical: i + 1, Own: h.Score}
		f.Score = 1 / float64(rrf+f.Lexical)
		if f.Kept = !known[h.Memory.ID]; f.Kept {
			kept = append(kept, f)
			continue
		}
		at[h.Memory.ID] = len(fused)
		fused = append(fused, f)
	}
	for i, h := range near {
		n, both := at[h.Memory.ID]
		if !both {
			n = len(fused)
			fused = append(fused, Fused{Hit: Hit{Memory: h.Memory}})
		}
		f := &fused[n]
		f.Near, f.Likeness = i+1, h.Score
		f.Score += weight / float64(rrf+f.Near)
	}
	slices.SortStableFunc(fused, func(a, b Fused) int { return cmp.Compare(b.Score, a.Score) })
	out := make([]Fused, 0, len(fused)+len(kept))
	for len(fused)+len(kept) > 0 {
		if len(kept) == 0 || len(fused) > 0 && len(out)+1 < kept[0].Lexical {
			out, fused = append(out, fused[0]), fused[1:]
			continue
		}
		next := kept[0]
		switch {
		case len(out) > 0:
			next.Score = out[len(out)-1].Score
		case len(fused) > 0:
			next.Score = max(next.Score, fused[0].Score)
		}
		out, kept = append(out, next), kept[1:]
	}
	return out
}
