package main

import (
	"flag"
	"testing"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

var set = flag.String("set", labelled, "the `FOLDER` of the set on which lists are fused")

// For any model, both lists fused are never more than a point worse than the better of the two.
func TestFusionIsNeverAPointWorse(t *testing.T) {
	if testing.Short() {
		t.Skip("it only calculates")
	}
	s, err := judge.Read(*set)
	if err != nil {
		t.Fatal(err)
	}
	lexical, err := judge.Run(judge.Ours, s)
	if err != nil {
		t.Fatal(err)
	}
	gained := false
	ndcg := func(r judge.Result) float64 {
		return 100 * judge.Bootstrap(r.Values(func(s judge.Score) float64 { return s.NDCG })).Mean
	}
	for _, m := range simulated {
		h, err := judge.RunHybrid(m, s, lexical)
		if err != nil {
			t.Fatal(err)
		}
		words, vectors, fused := ndcg(h.Lexical), ndcg(h.Vectors), ndcg(h.Both)
		t.Logf("%s: lexical %.1f, vectors %.1f, fused %.1f, weight %v", m.Name, words, vectors, fused, h.Weights)
		better := fused - max(words, vectors)
		if better < -1 {
			t.Errorf("%s: %.1f points worse than the better list", m.Name, -better)
		}
		gained = gained || better > 0.5
	}
	if !gained {
		t.Error("no model makes any answer better: the lists are not fused")
	}
}
