package reflect

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// The labelled sessions and the meaning of their labels: testdata/labelled/README.md.
const labelledDir = "testdata/labelled"

// What the detectors must reach over the whole set.
const (
	minPrecision = 0.9
	minRecall    = 0.8
)

type label struct {
	Session string
	Want    []expectation
	Allow   []expectation
}

type expectation struct {
	Class  string
	About  []string
	Accept string
}

// matches tells whether every pattern stands in the candidate's statement, body and paths.
func (e expectation) matches(t testing.TB, c record.Candidate) bool {
	text := c.Text + "\n" + c.Body + "\n" + strings.Join(c.Paths, "\n")
	for _, about := range e.About {
		re, err := regexp.Compile("(?i)" + about)
		if err != nil {
			t.Fatalf("label pattern %q: %v", about, err)
		}
		if !re.MatchString(text) {
			return false
		}
	}
	return true
}

func readLabels(t testing.TB) []label {
	t.Helper()
	f, err := os.Open(filepath.Join(labelledDir, "labels.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []label
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l label
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("labels.jsonl, line %d: %v", len(out)+1, err)
		}
		out = append(out, l)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// A labelledSession is one session of a labelled transcript, with its events.
type labelledSession struct {
	session transcript.Session
	events  []transcript.Event
}

func readSessions(t testing.TB, name string) []labelledSession {
	t.Helper()
	f, err := os.Open(filepath.Join(labelledDir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []labelledSession
	var events []transcript.Event
	_, err = transcript.Decode(context.Background(), f, transcript.Auto, transcript.Sink{
		Session: func(transcript.Session) error { events = nil; return nil },
		Event:   func(e transcript.Event) error { events = append(events, e); return nil },
		Done: func(s transcript.Session) error {
			out = append(out, labelledSession{s, events})
			return nil
		},
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// A score counts how candidates and labels met.
type score struct {
	hits, wrong   int // candidates
	found, wanted int // labels
}

func (s score) precision() float64 { return ratio(s.hits, s.hits+s.wrong) }
func (s score) recall() float64    { return ratio(s.found, s.wanted) }

func ratio(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// scoreLabelled studies every labelled session. It returns the whole score, and it by
// detector (precision) and by class of label (recall); say is told of each miss.
func scoreLabelled(t testing.TB, say func(string)) (all score, detectors, classes map[string]*score) {
	detectors, classes = map[string]*score{}, map[string]*score{}
	at := func(m map[string]*score, key string) *score {
		if m[key] == nil {
			m[key] = &score{}
		}
		return m[key]
	}
	for _, l := range readLabels(t) {
		found := make([]bool, len(l.Want))
		for _, s := range readSessions(t, l.Session) {
			r := Study(s.session, s.events)
			checkEvidence(t, s.events, r)
			for _, c := range r.Candidates {
				if c.Weak {
					continue
				}
				hit := false
				for i, e := range l.Want {
					if e.matches(t, c) {
						hit, found[i] = true, true
					}
				}
				d := at(detectors, c.Detector)
				switch {
				case hit:
					all.hits++
					d.hits++
				case !slices.ContainsFunc(l.Allow, func(e expectation) bool { return e.matches(t, c) }):
					all.wrong++
					d.wrong++
					say(fmt.Sprintf("%s: wrong: %s: %s", l.Session, c.Detector, c.Text))
				}
			}
		}
		for i, e := range l.Want {
			class := at(classes, e.Class)
			all.wanted++
			class.wanted++
			if found[i] {
				all.found++
				class.found++
			} else {
				say(fmt.Sprintf("%s: missed: %s: %s", l.Session, e.Class, e.Accept))
			}
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
		fmt.Fprintf(&table, "%-12s %5d %6d %10.2f\n", name, s.hits, s.wrong, s.precision())
	}
	fmt.Fprintf(&table, "\n%-12s %5s %6s %10s\n", "class", "found", "wanted", "recall")
	for _, name := range sortedKeys(classes) {
		s := classes[name]
		fmt.Fprintf(&table, "%-12s %5d %6d %10.2f\n", name, s.found, s.wanted, s.recall())
	}
	fmt.Fprintf(&table, "\nprecision %.3f, recall %.3f", all.precision(), all.recall())
	t.Log(table.String())
	if all.wanted < 20 {
		t.Fatalf("only %d labels: the set is not here", all.wanted)
	}
	if all.precision() < minPrecision || all.recall() < minRecall {
		t.Errorf("precision %.3f, recall %.3f: want at least %.2f, %.2f", all.precision(), all.recall(), minPrecision, minRecall)
	}
}

func sortedKeys(m map[string]*score) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func BenchmarkLabelled(b *testing.B) {
	var all score
	for b.Loop() {
		all, _, _ = scoreLabelled(b, func(string) {})
	}
	b.ReportMetric(all.precision(), "precision")
	b.ReportMetric(all.recall(), "recall")
}
