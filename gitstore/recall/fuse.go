package recall

import (
	"cmp"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// rrf is the k of reciprocal rank fusion: score(d) = Σ weight/(k + rank(d)), ranks from 1 (Cormack,
// Clarke, Büttcher, SIGIR 2009, with k = 60 for lists of a thousand). Our lists have about fifty,
// of which the first few matter.
const rrf = 10

// leastWeight replaces a weight of 0 for the nearest. It is too small to change the order of the
// first 50 lexical hits.
const leastWeight = 0.001

// Hit is a memory that answers a query.
type Hit struct {
	Memory record.Memory
	Found
}

// Fused is a memory of one list or both. Its Score is the fused one, independent of the lists' own
// scores.
type Fused struct {
	Hit
	Lexical  int     // rank from 1 in the lexical list; 0: not in it
	Near     int     // likewise among the nearest
	Kept     bool    // without a vector, it keeps its lexical place
	Own      float64 // score of the lexical list
	Likeness float64 // of the nearest: the cosine
}

// Fuse merges the hits of a word search with the nearest ones by reciprocal rank, each list best
// first. A rank among the nearest counts weight times a lexical one; Weigh finds the weight. With
// weight 0 the lexical list stays as it is, and merely near hits follow. Equal scores keep the
// lexical order, then come merely near hits. known holds the ids of memories with a vector.
//
// A memory without a vector has no likeness, so it keeps its lexical rank exactly. Memories with a
// vector are fused among themselves and fill the other places. Without any vectors the answer is
// the lexical list; with all of them it is plain fusion. A memory without a vector takes the Score
// of the one before it.
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
