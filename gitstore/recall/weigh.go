package recall

import (
	"math"

	"github.com/reverie-memory/reverie/gitstore/record"
)

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
	for _, f := range Fuse(hits(t.Lexical), hits(t.Near), known, weight) {
		ids = append(ids, f.Memory.ID)
	}
	return ids
}
