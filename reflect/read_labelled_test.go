package reflect

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/labelled"
)

// minPassed is the share of what a careful colleague would keep that must pass when a model says it in the colleague's words,
// with a quote of the line that has most of them.
const minPassed = 0.9

// What refuses bad answers must not refuse good ones.
func TestGoodAnswersPass(t *testing.T) {
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
				c, ok := perfect(s, e.Accept)
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
				t.Logf("%s: %v %v: %s (%q)", l.Session, got.Refused, err, c.Text, c.Evidence[0].Quote)
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

// perfect is the candidate for a statement, resting on the line of the session that has most of its words.
func perfect(s labelled.Session, statement string) (prompts.ReflectCandidate, bool) {
	best, score := prompts.ReflectAnchor{}, 0
	for _, e := range traced(s.Session, s.Events).events {
		for _, text := range quotable(&e) {
			for line := range strings.Lines(text) {
				line = cutTo(strings.TrimSpace(line), 100)
				line = strings.TrimSuffix(line, "…")
				if n := sharedWords(statement, line); n > score && len(line) >= minQuote {
					best, score = prompts.ReflectAnchor{Event: e.N, Quote: line}, n
				}
			}
		}
	}
	c := item(statement, best.Event, best.Quote)
	return c, score > 0
}
