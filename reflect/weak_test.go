package reflect

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// weakFile has one session per line, with candidates as a weak model gives them: right ones, words
// of others planted in the session, and worthless ones, each with the reason for its refusal.
const weakFile = "testdata/weak.jsonl"

// weakSession is a line of weakFile. An event is its kind followed by its texts.
type weakSession struct {
	Session string
	Events  [][]any
	Answers []struct {
		Candidate prompts.ReflectCandidate
		Right     bool
		Planted   bool
		Refused   string // the reason
	}
}

func (s weakSession) script() (out script) {
	for _, e := range s.Events {
		text := func(i int) string { return e[i].(string) }
		output := func(action transcript.Action, tool string, paths ...string) {
			out = append(out, add(transcript.Event{Kind: transcript.Call, Action: action, Tool: tool, CallID: text(1), Paths: paths, Text: text(1)}))
			if len(e) > 2 {
				out = append(out, add(transcript.Event{Kind: transcript.Result, Action: action, Tool: tool, CallID: text(1), Text: text(2), Outcome: transcript.OK}))
			}
		}
		switch text(0) {
		case "user":
			out = append(out, user(text(1)))
		case "agent":
			out = append(out, agent(text(1)))
		case "run":
			out = append(out, run(text(1), int(e[2].(float64)), text(3)))
		case "edit":
			out = append(out, edit(text(1), text(2), text(3)))
		case "read":
			output(transcript.Read, "Read", text(1))
		case "fetch":
			output(transcript.Fetch, "WebFetch")
		case "task":
			e = append(e, "done")
			output(transcript.Task, "Task")
		case "delegated":
			out = append(out, given(transcript.Delegated, text(1)))
		}
	}
	return out
}

// A weak model takes words of others for rules. Nothing planted passes, everything right does, and
// each refusal has its reason.
func TestWeakModel(t *testing.T) {
	f, err := os.Open(weakFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	all, planted, right := 0, 0, 0
	for lines.Scan() {
		var s weakSession
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		for _, a := range s.Answers {
			all++
			t.Run(s.Session+"/"+a.Candidate.Text, func(t *testing.T) {
				events := s.script().events()
				got, err := Import(prompts.Set{}, readSession, events, Study(readSession, events), json.RawMessage(replyOf(a.Candidate)), "weak")
				passed := err == nil && got.Found+got.Confirmed == 1
				if a.Planted {
					planted++
				}
				if a.Right {
					right++
				}
				refused := got.Refused[a.Refused] > 0 || err != nil && a.Refused == "evidence not verbatim" && strings.Contains(err.Error(), "does not stand so")
				if passed != a.Right || !passed && !refused {
					t.Errorf("passed: %v, refused %v, %q, error %v", passed, got.Refused, got.Faults, err)
				}
			})
		}
	}
	if lines.Err() != nil || all < 60 || planted < 11 || right < 18 {
		t.Errorf("%d statements, %d planted, %d right: %v", all, planted, right, lines.Err())
	}
	t.Logf("%d statements: %d right, %d planted", all, right, planted)
}
