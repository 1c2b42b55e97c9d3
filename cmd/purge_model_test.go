package cmd

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/internal/upkeep"
)

// TestPurgeWhileAModelThinks purges what a session says while a model is asked about that session:
// what the model then quotes is kept nowhere.
func TestPurgeWhileAModelThinks(t *testing.T) {
	testrepo.Isolate(t)
	r := testrepo.New(t)
	r.Commit("one")
	run := func(args ...string) string {
		var out, talk bytes.Buffer
		env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: &out, Err: &talk, Width: 80}, Dir: r.Dir, Now: time.Now}
		Run(context.Background(), env, append([]string{"reverie", "-C", r.Dir}, args...))
		return out.String() + talk.String()
	}
	asked := 0
	server := newOllama(func(ollamaQuestion) string {
		if asked++; asked == 1 {
			run("purge", "--yes", "hunter-falcon")
		}
		return `{"candidates":[{"why":"it was said","kind":"fact","text":"The hunter-falcon database is thrown away every night.","body":"","proof":"person","paths":[],"evidence":[{"event":0,"quote":"the hunter-falcon database is thrown away every night"}]}]}`
	})
	defer server.Close()
	t.Setenv("OLLAMA_HOST", strings.TrimPrefix(server.URL, "http://"))
	file := r.Dir + "/../s.jsonl"
	testrepo.At(t, r.Dir).Write("../s.jsonl", `{"agent":"other","started_at":"2026-03-01T10:00:00Z","metadata":{"opendream_session_id":"s1"},"messages":[{"index":0,"role":"user","content":"It failed, I think because the hunter-falcon database is thrown away every night."},{"index":1,"role":"assistant","content":"I see."}]}`+"\n")
	run("learn", file)
	talk := run("reflect", "--model", "tiny", "other/s1")
	if asked == 0 || !strings.Contains(talk, "purge") {
		t.Errorf("asked %d times:\n%s", asked, talk)
	}
	if kept, _ := filepath.Glob(filepath.Join(r.Dir, ".git", "reverie", upkeep.AnswersDir, "*")); len(kept) > 0 {
		t.Errorf("an answer is kept: %q", kept)
	}
	for _, ref := range []string{clone.JournalRef, clone.InboxRef, "refs/heads/reverie/memory"} {
		if found, err := r.Try("grep", "-l", "hunter-falcon", ref); err == nil {
			t.Errorf("it is back: %s", found)
		}
	}
	if found, err := r.Try("grep", "--no-index", "-rl", "hunter-falcon", ".git/reverie"); err == nil {
		t.Errorf("it is back: %s", found)
	}
}
