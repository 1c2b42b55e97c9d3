package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// rubbish lists answers of models that are unfit for the task, or out of their mind.
var rubbish = []string{
	"", " \n", "null", "[]", "{}", "\"yes\"", "true", "1e999", "Sure! Here are the memories you asked for:\n\n1. Always use tabs.",
	"```json\n{\"candidates\":[]}\n```", `{"candidates":`, `{"candidates":[{"text":"x"}]}`, `{"candidates":"none"}`, `{"operations":[]}`,
	`{"candidates":[{"why":1,"kind":[],"text":{},"body":null,"proof":"person","paths":"","evidence":0}]}`,
	"{\"candidates\":[" + strings.Repeat("[", 20_000), strings.Repeat("the the ", 40_000), "\x00\xff\xfe", "{\"candidates\":[{}]}{\"candidates\":[{}]}",
}

// TestRubbishLeavesTheStoreAsWithoutAModel has a model that says nothing usable asked about
// sessions again and again: what is kept is what is kept without a model, and the questions are
// few.
func TestRubbishLeavesTheStoreAsWithoutAModel(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const sessions, rounds, day = 30, 10, 40
	said := 0
	server := newOllama(func(ollamaQuestion) string { said++; return rubbish[said%len(rubbish)] })
	defer server.Close()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	home := testrepo.Isolate(t)
	t.Setenv("OLLAMA_HOST", strings.TrimPrefix(server.URL, "http://"))
	t.Setenv("GIT_AUTHOR_DATE", now.Format(time.RFC3339))
	var files []string
	for i := range sessions {
		file := filepath.Join(home, fmt.Sprintf("s%02d.jsonl", i))
		text := fmt.Sprintf(`{"agent":"other","started_at":"2026-03-01T%02d:00:00Z","metadata":{"opendream_session_id":"s%02d"},"messages":[`+
			`{"index":0,"role":"user","content":"From now on always run 'make check%d' before you commit, never plain make."},`+
			`{"index":1,"role":"assistant","content":"Understood."}]}`+"\n", i%24, i, i)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	trees := map[bool]string{}
	for _, with := range []bool{false, true} {
		r := testrepo.New(t)
		r.Commit("one")
		var out, talk bytes.Buffer
		env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: &out, Err: &talk, Width: 80}, Dir: r.Dir, Now: func() time.Time { return now }}
		state := filepath.Join(r.Dir, ".git", "reverie")
		if err := os.MkdirAll(state, 0o700); err != nil {
			t.Fatal(err)
		}
		if with {
			settings := fmt.Sprintf("[model]\nname = \"tiny\"\ncalls = %d\n", day)
			if err := os.WriteFile(filepath.Join(state, "config.toml"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := env.with(t.Context(), func(w *workspace) error { return runLearn(t.Context(), w, files, "auto", modelChoice{}) }); err != nil {
			t.Fatalf("%v\n%s", err, &talk)
		}
		for range rounds {
			if err := env.with(t.Context(), func(w *workspace) error { return runReflect(t.Context(), w, nil, reflectOptions{pending: true}) }); err != nil {
				t.Fatalf("%v\n%s", err, &talk)
			}
		}
		for _, ref := range []string{"refs/heads/reverie/memory", clone.JournalRef, clone.InboxRef} {
			tree, err := r.Try("rev-parse", ref+"^{tree}")
			if err != nil {
				tree = "none\n"
			}
			trees[with] += ref + " " + tree
		}
		if with && !strings.Contains(talk.String(), "gives no usable answer") {
			t.Errorf("nobody was told:\n%s", &talk)
		}
	}
	if trees[true] != trees[false] {
		t.Errorf("with the model:\n%swithout:\n%s", trees[true], trees[false])
	}
	asked := len(server.questions())
	t.Logf("%d questions for %d sessions in %d rounds", asked, sessions, rounds+1)
	if asked == 0 || asked > day {
		t.Errorf("%d questions were asked, of %d that a day has", asked, day)
	}
}
