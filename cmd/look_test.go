package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/preview"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// keptHere puts the shipped sessions into the agents' stores, as if they were about dir.
func keptHere(t *testing.T, dir string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{
		"claude-code.jsonl": ".claude/projects/-x/4b91b8f5-93c1-4344-b8d6-0d7fad1bbbf3.jsonl",
		"codex.jsonl":       ".codex/sessions/2026/11/05/rollout-1.jsonl",
	} {
		text, err := os.ReadFile(filepath.Join("..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("/home/ada/src/heron"), []byte(dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The fields of look that docs/json.md names.
func TestLookJSONIsAPromise(t *testing.T) {
	r := testrepo.New(t)
	keptHere(t, r.Dir)
	if err := os.WriteFile(filepath.Join(r.Dir, "AGENTS.md"), []byte("- Use npm in web/.\n- Run `make deploy` by hand.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("agents " + within("agents.", "name places sessions") +
		" contradictions contradictions.one contradictions.one.at contradictions.one.text contradictions.other contradictions.other.at contradictions.other.text" +
		" failures " + within("failures.", "agent command error keep lesson sessions time times") + " first last lessons orders partial" +
		" rules " + within("rules.", "agent keep quote session sessions text time") + " sessions statements unread unreadable workflows")
	slices.Sort(want)
	got := keys(t, answer(t, r.Dir, "", "look"))
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// However many sessions there are, look answers when its time is over, with the latest of them.
func TestLookKeepsToItsTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	keptHere(t, r.Dir)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(home, ".claude", "projects", "-x")
	text, err := os.ReadFile(filepath.Join(store, "4b91b8f5-93c1-4344-b8d6-0d7fad1bbbf3.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	long := append(first, '\n')
	for len(long) < 4<<20 {
		long = append(append(long, rest...), '\n')
	}
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(store, fmt.Sprintf("long-%d.jsonl", i)), long, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	out := answer(t, r.Dir, "", "look", "--within", "1s")
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	var p preview.Preview
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	if p.Unread == 0 || p.Unread+p.Sessions != 42 || p.Last.Format(time.DateOnly) != "2026-11-05" {
		t.Errorf("%d of 42 read, %d unread, the latest of %v", p.Sessions, p.Unread, p.Last)
	}
}
