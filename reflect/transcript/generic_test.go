package transcript

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenericLinesAreSessions(t *testing.T) {
	got := decodeText(t, Auto,
		strings.ReplaceAll(genericExample, "\n", ""),
		`{"agent":"aider","started_at":"2026-02-01T11:00:00Z","messages":[{"index":0,"role":"user","content":"second"}],"metadata":{"opencode_session_id":"ses_2"}}`,
		`{"agent":"aider","started_at":"2026-02-01T12:00:00Z","messages":[{"index":0,"role":"user","content":"third"}]}`)
	if len(got.sessions) != 3 {
		t.Fatalf("%d sessions, want 3: %v", len(got.sessions), got.bad)
	}
	want := []string{
		"user/injected: be brief",
		"user/typed: never use npm",
		"assistant: ok",
		"call/run bash: $ make", "result/run bash failed 2: no rule",
		"call/read read: [a]", "result/read read: file text",
		"call/run bash: $ make x", "result/run bash failed 1: boom",
		"user/injected: who?",
		"end ok:",
	}
	if d := diff(want, trimmed(got.sessions[0].brief())); d != "" {
		t.Error(d)
	}
	first := got.sessions[0].done
	if first.Client != "aider" || first.Title != "fix add" || first.ID != SafeID("../../evil") || first.Ended.Format("15:04") != "10:05" {
		t.Errorf("header %+v", first)
	}
	if id := got.sessions[1].done.ID; id != "ses_2" {
		t.Errorf("id %q", id)
	}
	if id := got.sessions[2].done.ID; len(id) != 16 {
		t.Errorf("id %q, want a hash", id)
	}
}

const genericExample = `{"agent":"aider","started_at":"2026-02-01T10:00:00Z","ended_at":"2026-02-01T10:05:00Z","task_description":"fix add","messages":[
{"index":0,"role":"system","content":"be brief"},
{"index":1,"role":"user","content":"never use npm"},
{"index":2,"role":"assistant","content":"ok","tool_name":"bash","tool_input":{"command":"make"}},
{"index":3,"role":"tool","content":"","tool_name":"bash","tool_output":{"stdout":"","stderr":"no rule","exit_code":2},"timestamp":"2026-02-01T10:01:00Z"},
{"index":4,"role":"tool","content":"file text","tool_name":"read","tool_input":{"path":"a"}},
{"index":5,"role":"tool","content":"Exit code 1\nboom","tool_name":"bash","tool_input":{"command":"make x"}},
{"index":6,"role":"unknown","content":"who?"}],
"outcome_known":true,"outcome_success":true,"metadata":{"opendream_session_id":"../../evil","opencode_session_id":"ses_1"}}`

func TestDocumentedLineIsASession(t *testing.T) {
	page, err := os.ReadFile("../../docs/learning.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "    {\"agent\"")
	example, _, ok := strings.Cut(example, "\n\n")
	got := decodeText(t, Auto, `{"agent"`+strings.ReplaceAll(example, "\n", " "))
	if !ok || len(got.sessions) != 1 {
		t.Fatalf("%d sessions: %v", len(got.sessions), got.bad)
	}
	want := []string{"user/typed: From now on always use pnpm in web/, never npm.", "call/run bash: $ make test", "result/run bash failed 2: no such service: db"}
	if d := diff(want, trimmed(got.sessions[0].brief())); d != "" {
		t.Error(d)
	}
}

func TestGenericProblemsNameLineAndField(t *testing.T) {
	good := `{"agent":"a","started_at":"2026-02-01T10:00:00Z","messages":[{"index":0,"role":"user","content":"x"}]}`
	got := decodeText(t, Auto, good,
		`{"started_at":"yesterday","messages":[]}`,
		`{"agent":"a","started_at":"2026-02-01T10:00:00Z","messages":[{"role":"robot","content":7,"tool_input":[]},{"index":1,"content":"x","timestamp":"now"}]}`,
		`[1,2]`,
		`{"agent":"a","started_at":"2026-02-01T`)
	want := []string{
		"2: agent: missing or not a string; started_at: missing or not a time as in 2006-01-02T15:04:05Z; messages: missing or empty",
		`3: messages[0].index: missing or not a number; messages[0].content: missing or not a string; messages[0].tool_input: not an object; messages[0].role: "robot" is not user, assistant, tool, system or unknown; messages[1].timestamp: not a time as in 2006-01-02T15:04:05Z; and 1 more`,
		"4: found a JSON array where an object belongs",
		"5: cut off in the middle of a JSON value",
	}
	if d := cmp.Diff(want, got.bad); d != "" {
		t.Error(d)
	}
	if d := diff([]string{"user/typed: x"}, got.one(t)); d != "" {
		t.Error(d)
	}
}

func TestGenericSessionsAreNamedAfterTheirBeginning(t *testing.T) {
	line := func(start, more string) string {
		return `{"agent":"a","started_at":"2026-02-01T10:` + start + `Z","messages":[{"index":0,"role":"user","content":"x"}` + more + `]}`
	}
	var ids [][]string
	for _, lines := range [][]string{
		{line("00:00", ""), line("00:01", ""), line("00:00", "")},
		{line("00:00", `,{"index":1,"role":"assistant","content":"y"}`), line("00:01", ""), line("00:00", "")},
	} {
		var of []string
		for _, s := range decodeText(t, Auto, lines...).sessions {
			of = append(of, s.done.ID)
		}
		ids = append(ids, of)
	}
	if d := cmp.Diff(ids[0], ids[1]); d != "" || len(ids[0]) != 3 || ids[0][0] == ids[0][1] || ids[0][2] != ids[0][0]+"-3" {
		t.Errorf("%q, grown %q", ids[0], ids[1])
	}
}
