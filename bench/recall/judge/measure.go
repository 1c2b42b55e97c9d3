package judge

import (
	"cmp"
	"math"
	"slices"
)

// Depth is the number of memories of an answer that count.
const Depth = 10

// Score rates one answer, each part from 0 to 1.
type Score struct {
	Recall1, Recall5, Recall10 float64 // share of the right memories among the first ones
	MRR                        float64 // 1/rank of the first right one; 0 below Depth
	NDCG                       float64 // see ndcg
}

// Metrics lists the parts of a score, in display order.
var Metrics = []struct {
	Name string
	Of   func(Score) float64
}{
	{"recall@1", func(s Score) float64 { return s.Recall1 }},
	{"recall@5", func(s Score) float64 { return s.Recall5 }},
	{"recall@10", func(s Score) float64 { return s.Recall10 }},
	{"MRR@10", func(s Score) float64 { return s.MRR }},
	{"nDCG@10", func(s Score) float64 { return s.NDCG }},
}

// Measure scores an answer, ids best first, by the grades of the right memories. At least one grade
// is required.
func Measure(answer []string, rel map[string]float64) Score {
	answer = answer[:min(Depth, len(answer))]
	s := Score{
		Recall1:  share(answer, rel, 1),
		Recall5:  share(answer, rel, 5),
		Recall10: share(answer, rel, Depth),
		NDCG:     ndcg(answer, rel),
	}
	for i, id := range answer {
		if rel[id] > 0 {
			s.MRR = 1 / float64(i+1)
			break
		}
	}
	return s
}

func share(answer []string, rel map[string]float64, n int) float64 {
	found := 0
	for _, id := range answer[:min(n, len(answer))] {
		if rel[id] > 0 {
			found++
		}
	}
	return float64(found) / float64(len(rel))
}

// ndcg returns the discounted gain of an answer divided by the greatest possible one within Depth.
// A right memory gains its grade, discounted by log2(rank+1) (Järvelin and Kekäläinen, TOIS 2002,
// in trec_eval's form).
func ndcg(answer []string, rel map[string]float64) float64 {
	gain := 0.0
	for i, id := range answer {
		gain += rel[id] / math.Log2(float64(i+2))
	}
	var grades []float64
	for _, grade := range rel {
		grades = append(grades, grade)
	}
	slices.SortFunc(grades, func(a, b float64) int { return cmp.Compare(b, a) })
	best := 0.0
	for i, grade := range grades[:min(Depth, len(grades))] {
		best += grade / math.Log2(float64(i+2))
	}
	return gain / best
}
