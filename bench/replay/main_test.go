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
// an optional error; "edit" changes a file.
func write(t *testing.T, dir, id string, day int, runs ...[2]string) {
	t.Helper()
	var b strings.Builder
	line := func(n int, kind, message string) {
		fmt.Fprintf(&b, `{"type":%q,"message":%s,"uuid":"%s-%d","timestamp":"2026-10-%02dT10:00:%02dZ","cwd":"/home/dev/p","sessionId":%q,"version":"2.1.0","isSidechain":false}`+"\n",
			kind, message, id, n, day, n, id)
	}
	line(0, "user", `{"role":"user","content":"have a look"}`)
	for i, run := range runs {
		if run[0] == "edit" {
			line(2*i+1, "assistant", fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Edit","input":{"file_path":"/home/dev/p/site.go","old_string":"3","new_string":"4"}}]}`, i))
			line(2*i+2, "user", fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"ok"}]}`, i))
			continue
		}
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
	// A red test that came back once an edit had mended it.
	red := [2]string{"make site", "error: want 3 pages, got 4"}
	write(t, dir, "a", 4, red, [2]string{"edit", ""}, [2]string{"make site", ""})
	write(t, dir, "e", 5, red)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("no transcript"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := replay(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.sessions != 5 || r.unread != 1 || len(r.memories) != 1 || len(r.classes) != 2 {
		t.Fatalf("%+v", r)
	}
	if c := *r.classes[0]; c.sessions != 3 || c.repaired != (again{2, 2, 1}) || c.learnable != (again{2, 2, 1}) {
		t.Errorf("%+v", c)
	}
	if c := *r.classes[1]; c.sessions != 2 || c.repaired != (again{1, 0, 0}) || c.learnable != (again{}) {
		t.Errorf("%+v", c)
	}
	all := r.figures()
	if f := all[7]; f.Name != "learnable, of which agents are given the lesson" || f.Value != 50 || f.N != 2 || f.Of != "failures again" || f.Range.High > 91 {
		t.Errorf("%+v", f)
	}
	if f := all[len(all)-1]; f.Value != 1 || f.N != 5 {
		t.Errorf("%+v", f)
	}
	var out bytes.Buffer
	r.list(&out)
	if want := "3 sessions, 2 repaired, 2 learnable, 2 covered, 1 given: wrap yarn unit: unrecognized subcommand 'yarn'\n"; !strings.Contains(out.String(), want) || strings.Count(out.String(), "memory: ") != 1 {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}
