package brief

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestHeedsFollowWhatCameOfACall(t *testing.T) {
	dir := t.TempDir()
	text, err := guard.Table{Key: "k"}.Encode([]guard.Rule{{ID: "aa", On: "Bash(npm *)", Strength: record.Ask}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, guard.File), text, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(id, command string) transcript.Event {
		return transcript.Event{Kind: transcript.Call, CallID: id, Action: transcript.Run, Command: command}
	}
	ended := func(id string, o transcript.Outcome) transcript.Event {
		return transcript.Event{Kind: transcript.Result, CallID: id, Outcome: o}
	}
	sessions := map[string][]transcript.Event{
		"claude/heeds":   {run("1", "npm i"), ended("1", transcript.Aborted), run("2", "pnpm i"), ended("2", transcript.OK)},
		"claude/ignores": {run("1", "npm i"), ended("1", transcript.Aborted), run("2", "npm i -f"), ended("2", transcript.Aborted)},
		"claude/allowed": {run("1", "npm i"), ended("1", transcript.OK)},
	}
	act := func(session, ruling string) Injection {
		return Injection{For: Calling, Session: session, Call: "1", Ruling: ruling, Items: []Given{{ID: "aa"}}}
	}
	all := []Injection{act("claude/heeds", "deny"), act("claude/ignores", ""), act("claude/allowed", "ask"), act("claude/unkept", "deny"),
		{For: Start, Session: "claude/heeds", Items: []Given{{ID: "aa"}}}}
	got := Heeds(all, guard.Open(dir), "/p", func(name string) []transcript.Event { return sessions[name] })
	want := map[string]Heed{"aa": {Acted: 4, Heeded: 1, Ignored: 1, Overruled: 1, Against: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
