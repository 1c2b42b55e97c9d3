package reflect

import (
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
	add(transcript.Event{Kind: transcript.User, Origin: transcript.Typed, Text: "Never push to main, CI deploys from it. Now fix the lint"})
	got := Stand(transcript.Session{Client: "claude", ID: "s", Dir: "/home/ann/src/heron"}, events)
	want := Progress{
		Asked:   []string{"make the build green", "Never push to main, CI deploys from it. Now fix the lint"},
		Changed: []string{".bashrc", "a.go", "b.go"},
		Failing: []string{"make lint"},
		Passing: []string{"go vet ./...", "make test"},
		Said:    []string{"Never push to main, CI deploys from it."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again := Stand(transcript.Session{Client: "claude", ID: "s", Dir: "/home/ann/src/heron"}, events); !cmp.Equal(got, again) {
		t.Error("not the same twice")
	}
}
