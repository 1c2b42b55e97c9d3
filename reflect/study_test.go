package reflect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A script builds the events of a session by hand, one line per event.
type script []func(*[]transcript.Event)

func add(e transcript.Event) func(*[]transcript.Event) {
	return func(list *[]transcript.Event) {
		e.N = len(*list)
		e.Time = time.Date(2026, 11, 20, 14, 0, e.N, 0, time.UTC)
		*list = append(*list, e)
	}
}

// user types.
func user(text string) func(*[]transcript.Event) {
	return add(transcript.Event{Kind: transcript.User, Origin: transcript.Typed, Text: text})
}

// given adds text in the user's role that no person typed.
func given(o transcript.Origin, text string) func(*[]transcript.Event) {
	return add(transcript.Event{Kind: transcript.User, Origin: o, Text: text})
}

func agent(text string) func(*[]transcript.Event) {
	return add(transcript.Event{Kind: transcript.Assistant, Text: text})
}

// run adds a command that ends with an exit code and prints output.
func run(command string, exit int, output string) func(*[]transcript.Event) {
	return ran(transcript.Event{Command: command}, &exit, "", output)
}

func ran(call transcript.Event, exit *int, o transcript.Outcome, output string) func(*[]transcript.Event) {
	return func(list *[]transcript.Event) {
		id := string(rune('a' + len(*list)))
		call.Kind, call.Action, call.Tool, call.CallID = transcript.Call, transcript.Run, "Bash", id
		add(call)(list)
		if o == "" && exit != nil {
			o = transcript.OK
			if *exit != 0 {
				o = transcript.Failed
			}
		}
		add(transcript.Event{Kind: transcript.Result, Action: transcript.Run, CallID: id, Agent: call.Agent, Text: output, Exit: exit, Outcome: o})(list)
	}
}

// refused adds a command that the person refused.
func refused(command string) func(*[]transcript.Event) {
	return ran(transcript.Event{Command: command}, nil, transcript.Denied, "")
}

// edit replaces text in a file.
func edit(path, before, after string) func(*[]transcript.Event) {
	return func(list *[]transcript.Event) {
		id := string(rune('a' + len(*list)))
		add(transcript.Event{Kind: transcript.Call, Action: transcript.Edit, Tool: "Edit", CallID: id, Paths: strings.Fields(path), Old: before, New: after})(list)
		add(transcript.Event{Kind: transcript.Result, Action: transcript.Edit, CallID: id, Outcome: transcript.OK})(list)
	}
}

func (s script) events() []transcript.Event {
	var list []transcript.Event
	for _, f := range s {
		f(&list)
	}
	return list
}

// study is Study of a script, checked for what must hold of every reflection.
func study(t *testing.T, s script) record.Reflection {
	t.Helper()
	events := s.events()
	r := Study(transcript.Session{Client: "claude", ID: "s1", Dir: "/home/dev/project"}, events)
	checkEvidence(t, events, r)
	return r
}

// checkEvidence asserts that each quote stands verbatim in the event it names.
func checkEvidence(t testing.TB, events []transcript.Event, r record.Reflection) {
	t.Helper()
	for _, c := range r.Candidates {
		if len(c.Evidence) == 0 || c.Text == "" || strings.ContainsAny(c.Text, "\n\r") || utf8.RuneCountInString(c.Text) > maxStatement || c.Detector == "" || c.Kind == "" {
			t.Errorf("candidate out of shape: %+v", c)
		}
		for _, e := range c.Evidence {
			if e.Event < 0 || e.Event >= len(events) || e.Quote == "" || len(e.Quote) > record.MaxQuote {
				t.Errorf("evidence out of shape: %+v", e)
				continue
			}
			ev := events[e.Event]
			if !strings.Contains(strings.Join(append([]string{ev.Text, ev.Command, ev.Old, ev.New}, ev.Paths...), "\x00"), e.Quote) {
				t.Errorf("quote %q does not stand in event %d", e.Quote, e.Event)
			}
		}
	}
}

// texts returns the statements of a reflection for which one session suffices.
func texts(r record.Reflection) []string {
	var out []string
	for _, c := range r.Candidates {
		if !c.Weak {
			out = append(out, c.Text)
		}
	}
	return out
}

// wants fails unless the reflection of a script holds exactly these statements.
func wants(t *testing.T, s script, want ...string) record.Reflection {
	t.Helper()
	r := study(t, s)
	if diff := cmp.Diff(want, texts(r)); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
	return r
}

func TestStudyIsPure(t *testing.T) {
	s := script{
		user("from now on always run `make lint` before you commit"),
		run("make test", 1, "dial tcp 127.0.0.1:5432: connect: connection refused"),
		run("docker compose up -d db", 0, "started"),
		run("make test", 0, "ok"),
		agent("done"),
	}
	events := s.events()
	session := transcript.Session{Client: "claude", ID: "s1"}
	if diff := cmp.Diff(Study(session, events), Study(session, events)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(s.events(), events); diff != "" {
		t.Errorf("Study changed its events:\n%s", diff)
	}
}

func TestStudyFillsTheHeader(t *testing.T) {
	began := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	session := transcript.Session{Client: "codex", ID: "s2", Parent: "s1", Branch: "main", Commit: "9c1e2f3", Started: began, Ended: began.Add(time.Hour)}
	events := script{agent("done")}.events()
	want := record.Reflection{
		Client: "codex", Session: "s2", Parent: "s1", Branch: "main", Commit: "9c1e2f3",
		Started: began, Ended: began.Add(time.Hour),
		Events: 1, Detectors: Detectors, Outcome: "completed",
		// printf '{"n":0,"kind":"assistant","time":"2026-11-20T14:00:00Z","text":"done"}\n' | sha256sum
		Hash: "8ae10559a47b19c7770056a4ad887563faf3134f31c41235e5ec104c7622d249",
	}
	if diff := cmp.Diff(want, Study(session, events)); diff != "" {
		t.Error(diff)
	}
}

func TestHashKnowsNoTimeZone(t *testing.T) {
	a := script{agent("done")}.events()
	b := script{agent("done")}.events()
	b[0].Time = b[0].Time.In(time.FixedZone("", 3600))
	if Hash(a) != Hash(b) {
		t.Error("one moment in two zones gives two hashes")
	}
	b[0].Text = "undone"
	if Hash(a) == Hash(b) {
		t.Error("two texts give one hash")
	}
}

func TestOutcome(t *testing.T) {
	for _, test := range []struct {
		name string
		s    script
		want string
	}{
		{"nothing", nil, ""},
		{"asked, not answered", script{user("hi")}, ""},
		{"answered", script{user("hi"), agent("hello")}, "completed"},
		{"stopped", script{user("hi"), add(transcript.Event{Kind: transcript.Error, Outcome: transcript.Aborted})}, "interrupted"},
		{"refused at the end", script{refused("rm -rf /")}, "interrupted"},
		{"model failed", script{add(transcript.Event{Kind: transcript.Error, Outcome: transcript.Failed})}, "failed"},
		{"end recorded", script{agent("bye"), add(transcript.Event{Kind: transcript.End, Outcome: transcript.OK})}, "completed"},
		{"end without a word", script{agent("bye"), add(transcript.Event{Kind: transcript.End})}, "completed"},
	} {
		if got := outcome(test.s.events()); got != test.want {
			t.Errorf("%s: outcome %q, want %q", test.name, got, test.want)
		}
	}
}

func TestObservations(t *testing.T) {
	r := study(t, script{
		refused("git push"),
		run("make test", 2, "boom"),
		run("make test", 2, "boom"),
		run("make lint", 1, "bad"),
		run("make lint", 0, "good"),
		add(transcript.Event{Kind: transcript.Error, Outcome: transcript.Aborted}),
	})
	want := []record.Observation{
		{Text: "1 tool call was refused by the user.", Events: []int{1}},
		{Text: "1 turn was stopped before its end.", Events: []int{10}},
		{Text: "`make test` failed 2 times and never passed.", Events: []int{3, 5}},
	}
	if diff := cmp.Diff(want, r.Observations); diff != "" {
		t.Error(diff)
	}
}

func TestStudyOfALongSession(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	var s script
	for i := range 250 {
		s = append(s,
			user("always use pnpm in web/, and never commit to main"),
			run("make test", i%2, "dial tcp 127.0.0.1:5432: connect: connection refused"),
			run("make generate", 0, "ok"),
			edit("a.go", "a", "b"))
	}
	r := study(t, s)
	if r.Events != 1750 || len(r.Candidates) > maxCandidates {
		t.Errorf("%d events, %d candidates", r.Events, len(r.Candidates))
	}
}

// BenchmarkStudy studies a session of about 20,000 events.
func BenchmarkStudy(b *testing.B) {
	var s script
	output := strings.Repeat("internal/pdf/money.go:14:9: looking at the next part, 12.3s\n", 30)
	for i := range 2200 {
		s = append(s,
			run("cd /home/dev/project && go test ./... 2>&1 | tail -20", 0, output),
			run("grep -rn foo .", 0, output),
			edit("a.go", "a", "b"),
			agent("I will now look at the next part, because it always comes next."),
			run("make lint", i%3, output+"error: boom\n"))
		if i%10 == 0 {
			s = append(s, user("can you look at the parser, it always fails when there is no newline. I think we never flush"))
		}
	}
	events := s.events()
	for b.Loop() {
		Study(transcript.Session{Client: "claude", ID: "s1"}, events)
	}
	b.ReportMetric(float64(len(events)), "events")
}

// BenchmarkFailures studies a session whose commands fail with long outputs.
func BenchmarkFailures(b *testing.B) {
	var s script
	var output strings.Builder
	for i := range 300 {
		fmt.Fprintf(&output, "--- FAIL: TestStore%d (0.01s)\n    store_test.go:%d: want no error, got unexpected value %d\nok  \texample/part%d\t0.3s\n", i, i, i, i)
	}
	size := 0
	for i := range 200 {
		s = append(s, run("go test ./...", 1, fmt.Sprint(output.String(), i)), run("make lint", i%2, output.String()))
		size += 2 * output.Len()
	}
	events := s.events()
	b.SetBytes(int64(size))
	for b.Loop() {
		Study(transcript.Session{Client: "claude", ID: "s1"}, events)
	}
}

// Examine gives what Study and Failures give alone.
func TestExamineIsBoth(t *testing.T) {
	for _, name := range []string{"claude-code.jsonl", "codex.jsonl"} {
		text, err := os.ReadFile(filepath.Join("..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		err = Sessions{}.Read(t.Context(), bytes.NewReader(text), transcript.Auto, func(s transcript.Session, events []transcript.Event) error {
			r, failed := Examine(s, events)
			if diff := cmp.Diff(Study(s, events), r) + cmp.Diff(Failures(s, events), failed); diff != "" || len(failed) == 0 {
				t.Errorf("%s: %d failures\n%s", name, len(failed), diff)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
