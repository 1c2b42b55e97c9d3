package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a transcript of Claude Code in which commands run in order. Each is "command" with
// an optional error.
func write(t *testing.T, dir, id string, day int, runs ...[2]string) {
	t.Helper()
	var b strings.Builder
	line := func(n int, kind, message string) {
		fmt.Fprintf(&b, `{"type":%q,"message":%s,"uuid":"%s-%d","timestamp":"2026-10-%02dT10:00:%02dZ","cwd":"/home/dev/p","sessionId":%q,"version":"2.1.0","isSidechain":false}`+"\n",
			kind, message, id, n, day, n, id)
	}
	line(0, "user", `{"role":"user","content":"have a look"}`)
	for i, run := range runs {
		line(2*i+1, "assistant", fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":%q}}]}`, i, run[0]))
		output := "ok"
		if run[1] != "" {
			output = "Exit code 2\n" + run[1]
		}
		line(2*i+2, "user", fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":%q,"is_error":%t}]}`, i, output, run[1] != ""))
	}
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReplayCountsWhatWasLearnedBefore(t *testing.T) {
	dir := t.TempDir()
	wrong := [2]string{"wrap yarn unit", "error: unrecognized subcommand 'yarn'"}
	right := [2]string{"yarn unit", ""}
	// The files' names are not in order of time.
	write(t, dir, "d", 1, wrong, right)
	write(t, dir, "c", 2, wrong, right)
	write(t, dir, "b", 3, wrong)
	write(t, dir, "a", 4, [2]string{"make site", "error: want 3 pages, got 4"})
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("no transcript"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := replay(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.sessions != 4 || r.unread != 1 || len(r.memories) != 1 || len(r.classes) != 2 {
		t.Fatalf("%+v", r)
	}
	if c := *r.classes[0]; c.sessions != 3 || c.learnable != 2 || c.covered != 2 || c.given != 1 {
		t.Errorf("%+v", c)
	}
	if c := *r.classes[1]; c.sessions != 1 || c.learnable != 0 {
		t.Errorf("%+v", c)
	}
	var out bytes.Buffer
	if err := r.print(&out, true); err != nil || !strings.Contains(out.String(), "1 failure memories: 0.25 a session") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
