package recall

import (
	"math"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Trial is a query that one memory is wanted for, and what two searches answer, each the best first, by ids.
type Trial struct {
	Want          string
	Lexical, Near []string
}

// weights are those that are tried.
var weights = [...]float64{0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3}

// Mean nDCG@10 of trials, 0 to 1: below tolerance two weights are as good as each other; beyond lead one list finds better
// than the other. Trials are some hundred, and the mean of so many moves by about 0.03.
const (
	tolerance = 0.01
	lead      = 0.03
)

// Weigh is the weight with which Fuse should count the nearest, and how well they find alone, 0 to 1. Of the weights
// that are about as good as the best it is the smallest, for what was right by its words should stay where it is; or
// the greatest, if the nearest find more than the words do.
func Weigh(trials []Trial) (weight, alone float64) {
	if len(trials) == 0 {
		return 0, 0
	}
	mean := func(f func(Trial) float64) (sum float64) {
		for _, t := range trials {
			sum += f(t)
		}
		return sum / float64(len(trials))
	}
	alone = mean(func(t Trial) float64 { return gain(t.Near, t.Want) })
	var good [len(weights)]float64
	best := 0.0
	for i, w := range weights {
		good[i] = mean(func(t Trial) float64 { return gain(t.fused(w), t.Want) })
		best = max(best, good[i])
	}
	words := mean(func(t Trial) float64 { return gain(t.Lexical, t.Want) })
	found := false
	for i, w := range weights {
		if good[i] >= best-tolerance && (!found || alone > words+lead) {
			weight, found = w, true
		}
	}
	return weight, alone
}

// gain is the nDCG@10 of an answer where one memory is right: 1/log2(rank+1) down to rank 10 (Järvelin and Kekäläinen,
// TOIS 2002).
func gain(answer []string, want string) float64 {
	for i, id := range answer[:min(10, len(answer))] {
		if id == want {
			return 1 / math.Log2(float64(i+2))
		}
	}
	return 0
}

// fused is the answer of both searches.
func (t Trial) fused(weight float64) (ids []string) {
	known := map[string]bool{}
	hits := func(ids []string) (out []Hit) {
		for _, id := range ids {
			known[id] = true
			out = append(out, Hit{Memory: record.Memory{ID: id}})
		}
		return out
	}
	for _, f := range Fuse(hits(t.Lexical), hits(t.Near), known, weight) {
		ids = append(ids, f.Memory.ID)
	}
	return ids
}
