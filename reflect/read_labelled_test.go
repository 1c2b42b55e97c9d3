package reflect

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/compress"
	"github.com/reverie-memory/reverie/reflect/labelled"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// minPassed is the minimum share of a careful colleague's statements that must pass. The model
// states each in the colleague's words, and quotes the line with most of them.
const minPassed = 0.9

// The checks against bad answers must not refuse good ones.
func TestGoodAnswersPass(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	passed, all := 0, 0
	why := map[string]int{}
	labels, err := labelled.Read(labelledDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range labels {
		sessions, err := l.Sessions(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			base := Study(s.Session, s.Events)
			for _, e := range l.Want {
				c, ok := perfect(s, base, e)
				if !ok {
					continue
				}
				m := &prompts.Model{Name: "colleague", Context: openContext, Ask: func(context.Context, prompts.Rendered) (prompts.Answer, error) {
					return prompts.Answer{Text: json.RawMessage(replyOf(c))}, nil
				}}
				all++
				got, err := Read(context.Background(), m, prompts.Set{}, s.Session, s.Events, base, nil)
				if err == nil && got.Found+got.Confirmed == 1 {
					passed++
					checkReading(t, s.Events, base, got)
					continue
				}
				t.Logf("%s: %v %v: %s (%q) %q", l.Session, got.Refused, err, c.Text, c.Evidence[0].Quote, got.Faults)
				for reason, n := range got.Refused {
					why[reason] += n
				}
			}
		}
	}
	t.Logf("%d of %d passed; refused %v", passed, all, why)
	if all < 20 || float64(passed) < minPassed*float64(all) {
		t.Errorf("%d of %d passed, want %.2f", passed, all, minPassed)
	}
}

// perfect returns the candidate for a statement, citing the line of the session with most of its
// words: a person's if a person said it, else a command's or its error.
func perfect(s labelled.Session, base record.Reflection, e labelled.Expectation) (prompts.ReflectCandidate, bool) {
	r := newReader(s.Session, s.Events, base, nil)
	best, score := prompts.ReflectAnchor{}, 0
	for _, n := range slices.Sorted(maps.Keys(r.shown)) {
		for _, text := range quotable(r.shown[n]) {
			for line := range strings.Lines(text) {
				line = cut.Marked(strings.TrimSpace(line), 100)
				line = strings.TrimSuffix(line, "…")
				if utf8.RuneCountInString(line) < minQuote || sharedWords(e.Accept, line)+pairsOf(line, e.Accept) <= score {
					continue
				}
				by := r.cite(r.shown[n], line)
				if by.why == "" && (by.by == record.ByPerson) == (e.How == record.Said) && by.by != "" && by.by != record.ByAgent {
					best, score = prompts.ReflectAnchor{Event: n, Quote: line}, sharedWords(e.Accept, line)+pairsOf(line, e.Accept)
				}
			}
		}
	}
	c := item(e.Accept, best.Event, best.Quote)
	c.Kind = string(e.Kind)
	return c, score > 0
}

// A model can quote everything that it sees: each line of a question that is not a marker occurs in
// its event, even in a shortened session. Otherwise it would be told that its quote is wrong.
func TestWhatIsShownCanBeQuoted(t *testing.T) {
	labels, err := labelled.Read(labelledDir)
	if err != nil {
		t.Fatal(err)
	}
	lines, marks := 0, 0
	for i, l := range labels {
		if i%3 > 0 && testing.Short() {
			continue
		}
		sessions, err := l.Sessions(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			r := newReader(s.Session, s.Events, Study(s.Session, s.Events), nil)
			q, err := askAbout(&prompts.Model{Context: 4 << 10}, prompts.Set{}, s.Session, s.Events, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range q.parts {
				for _, shown := range part {
					e := r.shown[shown.N]
					for text := range strings.Lines(prompts.Shown(shown.Text)) {
						text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "- "), "+ "))
						switch {
						case compress.IsMarker(text):
							marks++
						case utf8.RuneCountInString(text) < minQuote || len(text) > 200 || e.Kind == transcript.Call && strings.HasPrefix(text, e.Tool):
						default:
							lines++
							if _, ok := r.quoted(e, text); !ok && strings.ContainsFunc(text, isWordRune) {
								t.Errorf("%s, event %d, %s: %q is shown and cannot be quoted", l.Session, e.N, shown.Who, text)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d lines, %d marks", lines, marks)
	if lines < 1000 || marks == 0 {
		t.Errorf("only %d lines and %d marks", lines, marks)
	}
}
