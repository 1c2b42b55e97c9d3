package reflect

import (
	"context"
	"fmt"
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

// scoreLabelled studies every labelled session. It returns the total score, and the scores by
// detector (precision) and by class of label (recall); say receives each miss.
func scoreLabelled(t testing.TB, say func(string)) (all labelled.Score, detectors, classes map[string]*labelled.Score) {
	detectors, classes = map[string]*labelled.Score{}, map[string]*labelled.Score{}
	at := func(m map[string]*labelled.Score, key string) *labelled.Score {
		if m[key] == nil {
			m[key] = &labelled.Score{}
		}
		return m[key]
	}
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
		for _, c := range v.Right {
			at(detectors, c.Detector).Right++
		}
		for _, c := range v.Wrong {
			at(detectors, c.Detector).Wrong++
			say(fmt.Sprintf("%s: wrong: %s: %s", l.Session, c.Detector, c.Text))
		}
		for _, e := range v.Found {
			at(classes, e.Class).Found++
		}
		for _, e := range v.Missed {
			at(classes, e.Class).Missed++
			say(fmt.Sprintf("%s: missed: %s: %s", l.Session, e.Class, e.Accept))
		}
	}
	return all, detectors, classes
}

func TestLabelled(t *testing.T) {
	all, detectors, classes := scoreLabelled(t, func(s string) { t.Log(s) })
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-12s %5s %6s %10s\n", "detector", "right", "wrong", "precision")
	for _, name := range sortedKeys(detectors) {
		s := detectors[name]
		fmt.Fprintf(&table, "%-12s %5d %6d %10.2f\n", name, s.Right, s.Wrong, s.Precision())
	}
	fmt.Fprintf(&table, "\n%-12s %5s %6s %10s\n", "class", "found", "wanted", "recall")
	for _, name := range sortedKeys(classes) {
		s := classes[name]
		fmt.Fprintf(&table, "%-12s %5d %6d %10.2f\n", name, s.Found, s.Found+s.Missed, s.Recall())
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

func sortedKeys(m map[string]*labelled.Score) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func BenchmarkLabelled(b *testing.B) {
	var all labelled.Score
	for b.Loop() {
		all, _, _ = scoreLabelled(b, func(string) {})
	}
	b.ReportMetric(all.Precision(), "precision")
	b.ReportMetric(all.Recall(), "recall")
}
