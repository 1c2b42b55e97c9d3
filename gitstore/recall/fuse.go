package recall

import (
	"cmp"
	"math"
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

// A lexical rank counts fully if its memory has fullCover of the query's information. A query of
// more than longQuery words wants less, because no memory has most of it. With less it counts less,
// but never less than leastCredit. If no memory has leastCover, the words do not tell the answer,
// and no lexical rank counts more than that. docs/decisions/0051 and 0055 have the figures.
const (
	fullCover   = 0.4
	leastCover  = 0.25
	longQuery   = 10.0
	leastCredit = 0.01
)

// credit returns the factor on the rank of each lexical hit for a query of so many words.
func credit(lexical []Hit, words int) func(Hit) float64 {
	if words == 0 {
		return func(Hit) float64 { return 1 }
	}
	scale := min(1, longQuery/float64(words))
	if !slices.ContainsFunc(lexical, func(h Hit) bool { return h.Covered >= leastCover*scale }) {
		return func(Hit) float64 { return leastCredit }
	}
	return func(h Hit) float64 { return max(leastCredit, min(1, h.Covered/(fullCover*scale))) }
}

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
// lexical order, then come merely near hits. known holds the ids of memories with a vector. words
// counts the words of the query; with 0 every lexical rank counts fully.
//
// A memory without a vector has no likeness, so it keeps its lexical rank exactly. Memories with a
// vector are fused among themselves and fill the other places. Without any vectors the answer is
// the lexical list; with all of them it is plain fusion. A memory without a vector takes the Score
// of the one before it.
func Fuse(lexical, near []Hit, known map[string]bool, weight float64, words int) []Fused {
	weight = max(weight, leastWeight)
	var fused, kept []Fused
	at := map[string]int{} // in fused
	credit := credit(lexical, words)
	for i, h := range lexical {
		f := Fused{Hit: h, Lexical: i + 1, Own: h.Score}
		f.Score = credit(h) / float64(rrf+f.Lexical)
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

// Trial is a query for one memory with the answers of two searches, each a list of ids, best first.
type Trial struct {
	Want          string
	Lexical, Near []string
}

// weights are the candidates. A greater one would keep only the nearest of the lexical hits. Trials
// use the memories' own words, so they cannot prove that likeness is worth that much more.
var weights = [...]float64{0, 0.1, 0.2, 0.3, 0.5, 0.7, 1}

// helps is the minimum gain of fusion over the words alone, in the mean nDCG@10 of trials, 0 to 1.
// Over some hundred trials the mean varies by about 0.01.
const helps = 0.02

// Weigh returns the best weight of the nearest for Fuse, and how well they find alone, 0 to 1.
//
// Trials use the memories' own words, which suits a word search better than a person's question
// does. If the nearest improve even on that, they err elsewhere than the words do. Then Weigh
// returns the weight that leaves half of the gain. If not, they most likely reflect words only, and
// less well: the weight is 0.
func Weigh(trials []Trial) (weight, alone float64) {
	if len(trials) == 0 {
		return 0, 0
	}
	mean := func(f func(Trial) []string) (sum float64) {
		for _, t := range trials {
			sum += gain(f(t), t.Want)
		}
		return sum / float64(len(trials))
	}
	alone = mean(func(t Trial) []string { return t.Near })
	words := mean(func(t Trial) []string { return t.Lexical })
	var good [len(weights)]float64
	best := words
	for i, w := range weights {
		good[i] = mean(func(t Trial) []string { return t.fused(w) })
		best = max(best, good[i])
	}
	if best-words < helps {
		return 0, alone
	}
	for i, w := range weights {
		if good[i] >= (best+words)/2 {
			weight = w
		}
	}
	return weight, alone
}

// gain returns the nDCG@10 of an answer where one memory is right: 1/log2(rank+1) down to rank 10
// (Järvelin and Kekäläinen, TOIS 2002).
func gain(answer []string, want string) float64 {
	for i, id := range answer[:min(10, len(answer))] {
		if id == want {
			return 1 / math.Log2(float64(i+2))
		}
	}
	return 0
}

// fused returns the answer of both searches.
func (t Trial) fused(weight float64) (ids []string) {
	known := map[string]bool{}
	hits := func(ids []string) (out []Hit) {
		for _, id := range ids {
			known[id] = true
			out = append(out, Hit{Memory: record.Memory{ID: id}})
		}
		return out
	}
	for _, f := range Fuse(hits(t.Lexical), hits(t.Near), known, weight, 0) {
		ids = append(ids, f.Memory.ID)
	}
	return ids
}
