package reflect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/labelled"
)

// The labelled sessions and the meaning of their labels: testdata/labelled/README.md.
const labelledDir = "testdata/labelled"

// Minimum scores of the detectors over the whole set.
const (
	minPrecision = 0.87
	minRecall    = 0.72
)

// scoreLabelled studies every labelled session and returns the total score; say receives each miss.
func scoreLabelled(t testing.TB, say func(string)) (all labelled.Score) {
	labels, err := labelled.Read(labelledDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range labels {
		sessions, err := l.Sessions(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var candidates []record.Candidate
		for _, s := range sessions {
			r := Study(s.Session, s.Events)
			checkEvidence(t, s.Events, r)
			candidates = append(candidates, r.Candidates...)
		}
		v := l.Judge(candidates)
		all.Add(v)
		for _, c := range v.Wrong {
			say(fmt.Sprintf("%s: wrong: %s: %s", l.Session, c.Detector, c.Text))
		}
		for _, e := range v.Missed {
			say(fmt.Sprintf("%s: missed: %s: %s", l.Session, e.Class, e.Accept))
		}
	}
	return all
}

func TestLabelled(t *testing.T) {
	all := scoreLabelled(t, func(s string) { t.Log(s) })
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-12s %5s %6s %10s\n", "detector", "right", "wrong", "precision")
	for _, name := range slices.Sorted(maps.Keys(all.Detectors)) {
		s := all.Detectors[name]
		fmt.Fprintf(&table, "%-12s %5d %6d %10.2f\n", name, s.N, s.Of-s.N, float64(s.N)/float64(s.Of))
	}
	fmt.Fprintf(&table, "\n%-12s %5s %6s %10s\n", "class", "found", "wanted", "recall")
	for _, name := range slices.Sorted(maps.Keys(all.Classes)) {
		s := all.Classes[name]
		fmt.Fprintf(&table, "%-12s %5d %6d %10.2f\n", name, s.N, s.Of, float64(s.N)/float64(s.Of))
	}
	fmt.Fprintf(&table, "\nprecision %.3f, recall %.3f", all.Precision(), all.Recall())
	t.Log(table.String())
	if wanted := all.Found + all.Missed; wanted < 20 {
		t.Fatalf("only %d labels: the set is not here", wanted)
	}
	if all.Precision() < minPrecision || all.Recall() < minRecall {
		t.Errorf("precision %.3f, recall %.3f: want at least %.2f, %.2f", all.Precision(), all.Recall(), minPrecision, minRecall)
	}
}

func BenchmarkLabelled(b *testing.B) {
	var all labelled.Score
	for b.Loop() {
		all = scoreLabelled(b, func(string) {})
	}
	b.ReportMetric(all.Precision(), "precision")
	b.ReportMetric(all.Recall(), "recall")
}
