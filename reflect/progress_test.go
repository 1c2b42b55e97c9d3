package reflect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestStand(t *testing.T) {
	var events []transcript.Event
	add := func(e transcript.Event) { e.N = len(events); events = append(events, e) }
	run := func(command string, exit int) {
		outcome := transcript.OK
		if exit != 0 {
			outcome = transcript.Failed
		}
		id := command + string(rune('a'+len(events)))
		add(transcript.Event{Kind: transcript.Call, CallID: id, Action: transcript.Run, Command: command})
		add(transcript.Event{Kind: transcript.Result, CallID: id, Action: transcript.Run, Command: command, Outcome: outcome, Exit: &exit})
	}
	edit := func(file string) {
		add(transcript.Event{Kind: transcript.Call, CallID: file, Action: transcript.Edit, Paths: []string{file}})
		add(transcript.Event{Kind: transcript.Result, CallID: file, Action: transcript.Edit, Outcome: transcript.OK})
	}
	add(transcript.Event{Kind: transcript.User, Origin: transcript.Injected, Text: "be brief"})
	add(transcript.Event{Kind: transcript.User, Origin: transcript.Typed, Text: "make the build green"})
	run("make test", 1)
	run("go vet ./...", 0)
	run("ls -la", 0)
	edit("/home/ann/src/heron/b.go")
	edit("/home/ann/src/heron/a.go")
	edit("/home/ann/.bashrc")
	run("make lint", 2)
	run("make test", 0)
	add(transcript.Event{Kind: transcript.Call, Action: transcript.Other, Tool: "TodoWrite", Text: `{"todos":[{"content":"gone from the list","status":"pending"}]}`})
	add(transcript.Event{Kind: transcript.Call, Action: transcript.Other, Tool: "TodoWrite", Text: `{"todos":[{"content":"lint","status":"in_progress"},{"content":"test","status":"completed"}]}`})
	add(transcript.Event{Kind: transcript.Call, Action: transcript.Other, Tool: "TodoWrite", Agent: "sub", Text: `{"todos":[{"content":"a sub-agent's","status":"pending"}]}`})
	add(transcript.Event{Kind: transcript.User, Origin: transcript.Typed, Text: "Never push to main, CI deploys from it. Now fix the lint"})
	s := transcript.Session{Client: "claude", ID: "s", Dir: "/home/ann/src/heron"}
	got := Stand(s, events)
	want := Progress{
		Asked:   []string{"make the build green", "Never push to main, CI deploys from it. Now fix the lint"},
		Changed: []string{".bashrc", "a.go", "b.go"},
		Failing: []string{"make lint"},
		Passing: []string{"go vet ./...", "make test"},
		Todo:    []string{"lint"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Never push to main, CI deploys from it."}, Lasting(s, events)); diff != "" {
		t.Error(diff)
	}
	if again := Stand(s, events); !cmp.Equal(got, again) {
		t.Error("not the same twice")
	}
}

// The last command that was worth a repair decides whether a session is broken; git's are not.
func TestStandTellsWhetherTheLastCommandFailed(t *testing.T) {
	for _, c := range []struct {
		runs string // command, then ! if it failed
		want bool
	}{
		{"make test!", true}, {"make test!; make test", false}, {"make lint!; make test", false}, {"make test; make lint!", true},
		{"make test!; git commit -m x; ls", true}, {"make test; git push!", false}, {"make test; grep x y!", false}, {"", false},
	} {
		var events []transcript.Event
		for i, run := range strings.Split(c.runs, "; ") {
			command, failed := strings.CutSuffix(run, "!")
			e := transcript.Event{N: 2 * i, Kind: transcript.Call, CallID: fmt.Sprint(i), Action: transcript.Run, Command: command}
			r := e
			r.N, r.Kind, r.Outcome = e.N+1, transcript.Result, transcript.OK
			if failed {
				r.Outcome = transcript.Failed
			}
			events = append(events, e, r)
		}
		if got := Stand(transcript.Session{Client: "claude", ID: "s"}, events).Broken; got != c.want {
			t.Errorf("%s: %v", c.runs, got)
		}
	}
}

// Each agent's list of tasks is read as it writes it: Claude Code, OpenCode, Codex, Gemini.
func TestOpenTasks(t *testing.T) {
	for _, c := range []struct {
		input string
		want  []string
		ok    bool
	}{
		{`{"todos":[{"content":"a","status":"pending","activeForm":"doing a"},{"content":"b","status":"completed"}]}`, []string{"a"}, true},
		{`{"todos":[{"content":"a","status":"cancelled","priority":"high"},{"content":"b","status":"in_progress"}]}`, []string{"b"}, true},
		{`{"explanation":"x","plan":[{"step":"a","status":"completed"},{"step":"b","status":"pending"}]}`, []string{"b"}, true},
		{`{"todos":[{"description":"a","status":"pending"}]}`, []string{"a"}, true},
		{`{"todos":[]}`, nil, true}, {`{}`, nil, false}, {`{"todos":"a"}`, nil, false}, {`{"todos":[{"content":"cut o`, nil, false}, {``, nil, false},
	} {
		got, ok := openTasks(c.input)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
			t.Errorf("%s: %v %s", c.input, ok, diff)
		}
	}
}
