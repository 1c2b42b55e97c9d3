package reflect

import (
	"slices"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A statement about code that the session then changed is stale; a rule is not about the present
// code.
func TestCodeChangedSince(t *testing.T) {
	const fact, rule, diagnosis = "`loadTable` reads the whole table into memory.", "Always use `formatDay` for dates.", "An agent's diagnosis: `loadTable` never closes its rows."
	edit := func(path, was, now string) []transcript.Event {
		return []transcript.Event{{Kind: transcript.Call, CallID: path, Action: transcript.Edit, Paths: []string{path}, Old: was, New: now},
			{Kind: transcript.Result, CallID: path, Action: transcript.Edit, Outcome: transcript.OK}}
	}
	for _, c := range []struct {
		name, text string
		kind       record.Kind
		how        record.How
		before     []transcript.Event
		after      []transcript.Event
		want       bool
	}{
		{"a fact, untouched", fact, record.Fact, record.Said, nil, edit("a.go", "x := 1", "x := 2"), false},
		{"a fact, its line changed", fact, record.Fact, record.Said, nil, edit("a.go", "t := loadTable()", "t := loadTable(100)"), true},
		{"a fact, changed before", fact, record.Fact, record.Said, edit("a.go", "t := loadTable()", "t := loadTable(100)"), nil, false},
		{"a fact, a test changed", fact, record.Fact, record.Said, nil, edit("a_test.go", "t := loadTable()", "t := loadTable(100)"), false},
		{"a rule that is followed", rule, record.Convention, record.Said, nil, edit("a.go", "d.String()", "formatDay(d)"), false},
		{"a rule whose symbol went", rule, record.Convention, record.Said, nil, edit("a.go", "func formatDay(d Day) string {", "func dayText(d Day) string {"), true},
		{"a rule whose symbol moved", rule, record.Convention, record.Said, nil, append(edit("a.go", "func formatDay(d Day) string {", "x"), edit("b.go", "y", "func formatDay(d Day) string {")...), false},
		{"what a rule refuses went", "Use `formatDay`, not `dayText`.", record.Convention, record.Said, nil, edit("a.go", "dayText(d)", "formatDay(d)"), false},
		{"a diagnosis told after the fix", diagnosis, record.Failure, record.Model, edit("a.go", "rows := loadTable()", "rows := loadTable(); defer rows.Close()"), nil, true},
		{"what commands showed", "Before `make`, run `loadTable`.", record.Failure, record.Seen, nil, edit("a.go", "loadTable", ""), false},
	} {
		events := slices.Concat([]transcript.Event{{Kind: transcript.User, Origin: transcript.Typed, Text: "start"}}, c.before,
			[]transcript.Event{{Kind: transcript.User, Origin: transcript.Typed, Text: c.text}}, c.after)
		for i := range events {
			events[i].N = i
		}
		said := len(c.before) + 1
		evidence := []record.Evidence{{Event: said, Quote: c.text}}
		if c.how == record.Model {
			evidence = append(evidence, record.Evidence{Event: 0, Quote: "start"})
		}
		if got := overtaken(digest(transcript.Session{}, events), record.Candidate{Text: c.text, Kind: c.kind, How: c.how, Evidence: evidence}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestConjecturesStateNothing(t *testing.T) {
	for _, text := range []string{"Ideally every handler would always log the request id.", "So either must be a bug in the loader or an issue with the cache."} {
		if got := refuseSaid(&sentence{raw: text, lang: "en"}, text); got != "conjecture" {
			t.Errorf("%q: %q", text, got)
		}
	}
	if text := "When you are not sure about a price, ask the desk first."; refuseSaid(&sentence{raw: text, lang: "en"}, text) != "" {
		t.Errorf("a condition of doubt is refused: %q", text)
	}
}
