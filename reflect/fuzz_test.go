package reflect

import (
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// FuzzStudy builds a session from text, one event per line, and asserts the properties of any
// reflection: verbatim quotes, well-formed statements, and the same result the second time.
func FuzzStudy(f *testing.F) {
	f.Add("u from now on always use `pnpm`, never npm\n$1 make test\n>connection refused\n$0 docker compose up -d\n$0 make test\n")
	f.Add("u 以后不要用 npm。必须用 pnpm，否则 CI 会失败\nu 今後は必ずテストを書いて\nu 앞으로 항상 pnpm 쓰세요\n")
	f.Add("$0 npm add x@2\n$1 npm test\n>error: \x1b[31mboom\x1b[0m ✗ é\n$0 npm remove x\n$0 npm test\nu no, use pnpm instead\nu scratch that")
	f.Add("eFROM a:1\neFROM a:2\n$1 docker build .\n>fatal: no\n")
	f.Add("u I want you to \xff\xfe always `use\nu remember: keep in mind: whenever you \"x\ni always use x\n")
	f.Fuzz(func(t *testing.T, text string) {
		var events []transcript.Event
		put := func(e transcript.Event) {
			e.N = len(events)
			events = append(events, e)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if len(line) < 2 {
				continue
			}
			rest := strings.ReplaceAll(line[2:], `\n`, "\n")
			id := string(rune(len(events) + 1))
			switch line[0] {
			case 'u':
				put(transcript.Event{Kind: transcript.User, Origin: transcript.Typed, Text: rest})
			case 'i':
				put(transcript.Event{Kind: transcript.User, Origin: transcript.Injected, Text: rest})
			case 'e':
				put(transcript.Event{Kind: transcript.Call, Action: transcript.Edit, CallID: id, Paths: []string{"Dockerfile"}, Old: "FROM x", New: line[1:]})
				put(transcript.Event{Kind: transcript.Result, Action: transcript.Edit, CallID: id, Outcome: transcript.OK})
			case '$':
				exit := int(line[1] - '0')
				put(transcript.Event{Kind: transcript.Call, Action: transcript.Run, CallID: id, Command: rest})
				put(transcript.Event{Kind: transcript.Result, Action: transcript.Run, CallID: id, Exit: &exit, Text: rest})
			case '>':
				if n := len(events); n > 0 {
					events[n-1].Text += line[1:] + "\n"
				}
			}
		}
		r := Study(transcript.Session{Client: "x", ID: "y", Dir: "/d"}, events)
		checkEvidence(t, events, r)
		if again := Study(transcript.Session{Client: "x", ID: "y", Dir: "/d"}, events); len(again.Candidates) != len(r.Candidates) || again.Hash != r.Hash {
			t.Error("another reflection of the same events")
		}
		if len(r.Candidates) > maxCandidates || len(r.Observations) > maxObservations {
			t.Errorf("%d candidates, %d observations", len(r.Candidates), len(r.Observations))
		}
	})
}
