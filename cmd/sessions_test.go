package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A long first prompt is cut to the screen, and never fills more than a line of its own.
func TestSessionsCutThePromptToTheScreen(t *testing.T) {
	r := testrepo.New(t)
	prompt := "Rename 設定ファイル everywhere, " + strings.Repeat("and look at the docs ", 30)
	r.Write("s.jsonl", `{"agent":"demo","started_at":"2026-11-02T10:00:00Z","metadata":{"opencode_session_id":"long"},"messages":[{"index":0,"role":"user","content":"`+prompt+`"}]}`+"\n")
	answer(t, r.Dir, "", "init")
	answer(t, r.Dir, "", "ingest", "s.jsonl")
	for width, most := range map[int]int{80: 2, 160: 1} {
		var out bytes.Buffer
		env := &Env{Terminal: term.Terminal{Out: &out, Err: &out, Screen: true, Width: width}, Dir: r.Dir, Now: time.Now}
		if err := env.with(t.Context(), func(w *workspace) error { return runSessions(t.Context(), w) }); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
		if len(lines) > most || !strings.Contains(out.String(), "Rename 設定ファイル everywhere") || !strings.HasSuffix(lines[len(lines)-1], "…") {
			t.Errorf("%d columns:\n%s", width, out.String())
		}
		for _, l := range lines {
			if n := displaywidth.String(l); n > width {
				t.Errorf("%d columns of %d: %s", n, width, l)
			}
		}
	}
}
