package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUpdatesThatReplace(t *testing.T) {
	dir := t.TempDir()
	lines := `{"dialogue":1,"session":0,"started":"2026-01-02T10:00:00Z","messages":[{"role":"user","text":"Always start your class names with 'k_'."}],"adds":["always start class names with 'k_'"],"updates":[]}
{"dialogue":1,"session":1,"started":"2026-01-03T10:00:00Z","messages":[{"role":"user","text":"From now on, all class names must begin with 'c_'."}],"adds":[],"updates":[{"text":"always start class names with 'c_'","replaces":["always start class names with 'k_'"]}]}
{"dialogue":2,"session":0,"started":"2026-01-02T10:00:00Z","messages":[{"role":"user","text":"How are you?"}],"adds":["always start class names with 'k_'"],"updates":[]}
{"dialogue":2,"session":1,"started":"2026-01-03T10:00:00Z","messages":[{"role":"user","text":"Always start your class names with 'c_'."}],"adds":[],"updates":[{"text":"always start class names with 'c_'","replaces":["always start class names with 'k_'"]}]}
`
	if err := os.WriteFile(filepath.Join(dir, "part.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(&out, dir, true, false); err != nil {
		t.Fatal(err)
	}
	var figures bytes.Buffer
	if err := run(&figures, dir, false, true); err != nil || strings.Count(figures.String(), "\n") != 8 ||
		!strings.Contains(figures.String(), `"learned updates of a known instruction that replace it","value":100,"unit":"%","interval":{"low":20.`) {
		t.Errorf("%v\n%s", err, &figures)
	}
	for _, want := range []string{"instructions learned  ", "50.0 %", "replacing waiting, replacing accepted: always start class names with 'c_'", "first     waiting, first     accepted"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
