package reflect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// audit returns the two events of a finding.
func audit(id int, call AuditCall, file, text string, outcome transcript.Outcome) []transcript.Event {
	told, _ := json.Marshal(call)
	c := transcript.Event{Kind: transcript.Call, Tool: AuditTool, Action: transcript.Other, CallID: fmt.Sprint(id), Text: string(told), Paths: []string{file}}
	return []transcript.Event{c, {Kind: transcript.Result, Tool: AuditTool, Action: transcript.Other, CallID: c.CallID, Text: text, Outcome: outcome}}
}

func TestWhatAnAuditFoundAndALoopFixedIsOffered(t *testing.T) {
	bug, warning, idea := AuditCall{Severity: "bug"}, AuditCall{Severity: "warning"}, AuditCall{Severity: "suggestion"}
	again := AuditCall{Severity: "warning", Recurrences: 2}
	for _, test := range []struct {
		name, client string
		call         AuditCall
		file, text   string
		outcome      transcript.Outcome
		want         string // statement; "weak: " before it
		dropped      map[string]int
	}{
		{"a bug", "loop", bug, "a.go", "Next drops the last item.", transcript.OK, "Seen and fixed in `a.go`: Next drops the last item.", nil},
		{"a warning once", "loop", warning, "a.go", "Next drops the last item.", transcript.OK, "weak: Seen and fixed in `a.go`: Next drops the last item.", nil},
		{"a warning again", "loop", again, "a.go", "Next drops the last item.", transcript.OK, "Seen and fixed in `a.go`: Next drops the last item.", nil},
		{"a suggestion", "loop", idea, "a.go", "Next could be shorter.", transcript.OK, "", map[string]int{"a suggestion": 1}},
		{"one that is open", "loop", bug, "a.go", "Next drops the last item.", transcript.Failed, "", nil},
		{"of the change", "loop", bug, "a.go", "This patch drops the last item.", transcript.OK, "", map[string]int{"points at its change": 1}},
		{"a place outside", "loop", bug, "../a.go", "Next drops the last item.", transcript.OK, "Seen and fixed: Next drops the last item.", nil},
		{"nothing to see", "loop", bug, "a.go", "Next drops\u202e the last item.", transcript.OK, "", map[string]int{"hidden characters": 1}},
		{"another client", "claude", bug, "a.go", "Next drops the last item.", transcript.OK, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := audit(1, test.call, test.file, test.text, test.outcome)
			for i := range events {
				events[i].N = i
			}
			r := Study(transcript.Session{Client: test.client, ID: "s"}, events)
			got := ""
			for _, c := range r.Candidates {
				if c.How != record.Model || c.Evidence[0].Event != 1 {
					t.Errorf("how %s, event %d", c.How, c.Evidence[0].Event)
				}
				if got += c.Text; c.Weak {
					got = "weak: " + got
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if d := cmp.Diff(test.dropped, r.Dropped); d != "" {
				t.Error(d)
			}
		})
	}
}

// With many findings, recurring ones are kept first, then bugs.
func TestALoopProposesFewFindings(t *testing.T) {
	var events []transcript.Event
	for i := range 6 {
		events = append(events, audit(i, AuditCall{Severity: "bug"}, "a.go", fmt.Sprintf("Case %c of Next is wrong.", 'A'+i), transcript.OK)...)
	}
	events = append(events, audit(9, AuditCall{Severity: "warning", Recurrences: 1}, "b.go", "Close is called twice.", transcript.OK)...)
	for i := range events {
		events[i].N = i
	}
	r := Study(transcript.Session{Client: LoopClient, ID: "s"}, events)
	var got []string
	for _, c := range r.Candidates {
		got = append(got, c.Evidence[0].Quote)
	}
	want := []string{"Case A of Next is wrong.", "Case B of Next is wrong.", "Case C of Next is wrong.", "Case D of Next is wrong.", "Close is called twice."}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
