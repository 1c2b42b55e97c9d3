package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// answer runs a command in this process and returns its answer.
func answer(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	code, out, talk := runJSON(dir, stdin, args)
	if code != exit.Done && code != exit.Negative {
		t.Fatalf("reverie %q: exit code %d\n%s", args, code, talk)
	}
	return out
}

// fails runs a command in this process and returns its exit code and talk.
func fails(t *testing.T, dir string, args ...string) (code int, talk string) {
	t.Helper()
	code, _, talk = runJSON(dir, "", args)
	if code == exit.Done {
		t.Errorf("reverie %q: no failure\n%s", args, talk)
	}
	return code, talk
}

func runJSON(dir, stdin string, args []string) (code int, answer, talk string) {
	var out, err bytes.Buffer
	env := &Env{Terminal: term.Terminal{In: strings.NewReader(stdin), Out: &out, Err: &err, Width: 80}, Dir: dir, Now: func() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }}
	code = Run(context.Background(), env, append([]string{"reverie", "-C", dir, "--json"}, args...))
	return code, out.String(), err.String()
}

// keys are the fields of the first object of an answer, those of objects in it after a dot.
func keys(t *testing.T, text string) []string {
	t.Helper()
	line, _, _ := strings.Cut(text, "\n")
	var v map[string]any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	var out []string
	var walk func(prefix string, v map[string]any)
	walk = func(prefix string, v map[string]any) {
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, prefix+k)
			inner := v[k]
			if list, ok := inner.([]any); ok && len(list) > 0 {
				inner = list[0]
			}
			if m, ok := inner.(map[string]any); ok {
				walk(prefix+k+".", m)
			}
		}
	}
	walk("", v)
	return out
}

const memoryKeys = "agent body branch commit created id kind path paths private ref said session source status tags text"

// within puts a prefix before every word.
func within(prefix, words string) string {
	return prefix + strings.Join(strings.Fields(words), " "+prefix)
}

// TestJSONIsAPromise pins every field that docs/json.md names. Fields may be added here, never
// taken out.
func TestJSONIsAPromise(t *testing.T) {
	r := testrepo.New(t)
	r.Run("commit", "--allow-empty", "-qm", "one")
	example, err := filepath.Abs("../examples/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	answer(t, r.Dir, "", "config", "accept", `["said"]`)
	operation := "alike base contradicts evidence evidence.client evidence.evidence evidence.evidence.event evidence.evidence.quote evidence.evidence.time " +
		"evidence.how evidence.reflection evidence.session how id memory " + within("memory.", memoryKeys+" topic") + " op sessions subject waits"
	steps := []struct {
		args []string
		want string
	}{
		{[]string{"init"}, "branch created"},
		{[]string{"ingest", example}, "branch change client ended events id model name started"},
		{[]string{"learn", example}, "accepted " + within("accepted.", memoryKeys+" guards strength topic") + " reflections sessions " + within("sessions.", "branch change client ended events id model name started") + " waiting " + within("waiting.", operation)},
		{[]string{"learn"}, "accepted found " + within("found.", "agent new places sessions size") + " reflections sessions waiting"},
		{[]string{"learn", "--dry-run"}, "accepted found " + within("found.", "agent new places sessions size") + " reflections sessions waiting"},
		{[]string{"review"}, operation + " quotes " + within("quotes.", "by client event how quote session")},
		{[]string{"remember", "One", "-k", "fact"}, memoryKeys},
		{[]string{"recall", "one"}, memoryKeys + " covered lists score snippet"},
		{[]string{"list", "-k", "fact"}, memoryKeys},
		{[]string{"context", "--session", "claude/s1", "--record"}, "bytes commit cut for items items.id items.why next older text tokens withheld"},
		{[]string{"why"}, "bytes commit cut for hash id items items.id items.why memories memories.id memories.kind memories.text memories.why next session time tokens"},
		{[]string{"why", "@one"}, "commit for injection session time why"},
		{[]string{"checkpoint", "a note"}, "branch client commit files n name reason session shared text time"},
		{[]string{"checkpoint", "list"}, "branch client commit files n name reason session shared text time"},
		{[]string{"kv", "set", "port", "8080"}, "expires key set value"},
		{[]string{"kv", "get", "port"}, "expires key set value"},
		{[]string{"kv", "list"}, "expires key set value"},
		{[]string{"kv", "delete", "port"}, "key"},
		{[]string{"statusline"}, "known waiting"},
		{[]string{"status"}, "adopted branch commit contested given given.acted given.heeded given.ignored given.memories given.overruled given.sessions memories memories.constraint memories.convention memories.fact older pending private reader reflections retired sessions shortened shortened.bytes shortened.outputs spooled stale unread unreadable values waiting withheld worker"},
		{[]string{"trust"}, "author memories own trusted withheld"},
		{[]string{"log", "-n", "1"}, "author commit op sessions subject time"},
		{[]string{"blame", "@one"}, "author commit line text time"},
		{[]string{"diff"}, "from patch to"},
		{[]string{"render", "agents-md"}, "file written"},
		{[]string{"render", "agents-md", "--check"}, "current file"},
		{[]string{"render", "memory-md"}, "text"},
		{[]string{"uninstall", "--dry-run"}, "what"},
		{[]string{"config", "accept"}, "help key origin value"},
		{[]string{"sessions"}, "branch client ended events id model name prompt started"},
		{[]string{"export", "-k", "fact"}, "id kind path source status text"},
		{[]string{"version"}, "commit go version"},
		{[]string{"revert", "reverie/memory"}, "changed commit"},
		{[]string{"reject", "--all"}, operation},
		{[]string{"review", "--rejected"}, "body how id text time"},
		{[]string{"undo"}, "commits time undone"},
	}
	one := "" // the id of the memory that was remembered: "@one" above
	for _, s := range steps {
		want := strings.Fields(s.want)
		slices.Sort(want)
		args := slices.Clone(s.args)
		for i := range args {
			if args[i] == "@one" {
				args[i] = one
			}
		}
		text := answer(t, r.Dir, "", args...)
		if s.args[0] == "remember" {
			var m wire.Memory
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			one = m.ID
		}
		got := keys(t, text)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s", s.args, diff)
		}
	}
	if got := answer(t, r.Dir, `{"text":"x","ref":"r"}`, "import", "-"); got != `{"added":1,"changed":0,"known":0,"refused":0}`+"\n" {
		t.Errorf("import: %s", got)
	}
}
