package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

func TestLedgerRemembersSessions(t *testing.T) {
	repo, err := git.Find(t.Context(), testrepo.New(t).Dir)
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(repo.CommonDir, "reverie")
	now := time.Now()
	session := past.Session{Client: "claude", File: "/secret/place", Size: 7, Changed: now}
	other := past.Session{Client: "opencode", File: "/db", ID: "a", Changed: now.Add(-2 * time.Hour)}
	busy := past.Session{Client: "opencode", File: "/db", ID: "b", Changed: now.Add(-time.Minute)}
	for range 2 { // the second time adds to the file
		a := readLedger(state)
		a.add(session, now)
		a.add(other, now)
		a.add(busy, now)
		if err := a.write(repo); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(state, ledgerFile)
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("%v %s", err, text)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("%v", info.Mode())
	}
	os.WriteFile(path, append(text, `{"key":"torn`...), 0o600)
	again := readLedger(state)
	again.add(past.Session{Client: "codex", File: "/x"}, now)
	if err := again.write(repo); err != nil {
		t.Fatal(err)
	}
	again = readLedger(state)
	grown, moved := session, session
	grown.Size++
	moved.File = "/elsewhere"
	for _, c := range []struct {
		s    past.Session
		want bool
	}{{session, true}, {grown, false}, {moved, false}, {other, true}, {busy, false}, {past.Session{Client: "codex", File: "/x"}, true}} {
		if got := again.has(c.s); got != c.want {
			t.Errorf("%+v: %v", c.s, got)
		}
	}
}
