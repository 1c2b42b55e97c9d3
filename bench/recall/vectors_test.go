package main

import (
	"testing"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

// For any model, both lists fused are never more than a point worse than the better of the two.
func TestFusionIsNeverAPointWorse(t *testing.T) {
	if testing.Short() {
		t.Skip("it only calculates")
	}
	sets, err := judge.Choice{Dirs: []string{"../../gitstore/recall/testdata/labelled"}, Split: "", Every: 1}.Read()
	if err != nil {
		t.Fatal(err)
	}
	lexical, err := judge.Run(judge.Ours, sets[0])
	if err != nil {
		t.Fatal(err)
	}
	gained := false
	for _, m := range judge.Models {
		l, err := vectorsOf(m, sets[0], lexical)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: lexical %.1f, vectors %.1f, fused %.1f, weight %v", l.Model, 100*l.Lexical, 100*l.Vectors, 100*l.Fused, l.Weights)
		if l.Better < -0.01 {
			t.Errorf("%s: lexical %.1f, vectors %.1f, fused %.1f with weight %v", l.Model, 100*l.Lexical, 100*l.Vectors, 100*l.Fused, l.Weights)
		}
		gained = gained || l.Better > 0.005
	}
	if !gained {
		t.Error("no model makes any answer better: the lists are not fused")
	}
}
