package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveModels starts a real server with the models of .ci/models.
func serveModels(t *testing.T) *server {
	models := os.Getenv("REVERIE_MODELS")
	if models == "" {
		t.Skip("REVERIE_MODELS names no models: .ci/models prints them")
	}
	return serve(t, models)
}

// corrected writes the part of the shipped transcript that begins with its first correction, and
// returns the file. A small model reads it in half the time.
func corrected(t *testing.T) string {
	t.Helper()
	before, after, found := strings.Cut(read(t, example(t)), "no, always use pnpm")
	if !found {
		t.Fatal("the transcript has no correction")
	}
	path := filepath.Join(t.TempDir(), "corrected.jsonl")
	write(t, path, before[strings.LastIndex(before, "\n")+1:]+"no, always use pnpm"+after)
	return path
}

// A small model answers little that is usable, or nothing in its time. It must do no harm: nothing
// becomes memory by it, the inbox stays small, each question ends in its time, and a prompt waits
// for none of them.
func TestSmallModelsInTheWholeWay(t *testing.T) {
	for _, c := range []struct {
		model      string
		transcript string
		patience   int // seconds of one question
		answers    bool
	}{
		{"smollm2:135m", example(t), 10, false},
		{"gemma3:270m-base", corrected(t), 120, true},
	} {
		t.Run(c.model, func(t *testing.T) {
			serveModels(t)
			dir := newRepo(t)
			must(t, dir, "init")
			must(t, dir, "config", "model.patience", strconv.Itoa(c.patience))
			must(t, dir, "config", "model.name", c.model)
			must(t, dir, "config", "model.embed", "all-minilm")
			must(t, dir, "learn", "--no-model", c.transcript)
			busy := make(chan struct{})
			go func() { // prompts beside the questions
				defer close(busy)
				worst := time.Duration(0)
				for range 10 {
					began := time.Now()
					if a := reverie(t, dir, "context", "--for", "prompt", "--query", "install with pnpm or npm in web/?"); a.code != 0 || !strings.Contains(a.out, "pnpm in web/") {
						t.Errorf("%s", a)
					}
					worst = max(worst, time.Since(began))
					time.Sleep(300 * time.Millisecond)
				}
				t.Logf("prompts: %v at most", worst.Round(time.Millisecond))
				if worst > 5*time.Second {
					t.Errorf("a prompt waited %v", worst)
				}
			}()
			for _, step := range []struct {
				args      []string
				questions int
			}{
				{[]string{"reflect", "--pending"}, 2},
				{[]string{"dream", "--model", c.model}, 2},
			} {
				calls, tokens := spent(t, dir)
				began := time.Now()
				a := reverie(t, dir, step.args...)
				took := time.Since(began)
				moreCalls, moreTokens := spent(t, dir)
				t.Logf("%s: %v, %d questions, %d tokens: %s", step.args[0], took.Round(100*time.Millisecond), moreCalls-calls, moreTokens-tokens, strings.TrimSpace(a.err))
				if limit := time.Duration(step.questions*c.patience+20) * time.Second; took > limit {
					t.Errorf("%v took more than %v", step.args, limit)
				}
				if a.code != 0 && !strings.Contains(a.err, "are pending") && !strings.Contains(a.err, "took too long") ||
					c.answers && (strings.Contains(a.err, "took too long") || moreCalls == calls) {
					t.Errorf("%s", a)
				}
			}
			<-busy
			if calls, tokens := spent(t, dir); calls == 0 || tokens == 0 {
				t.Errorf("%d questions, %d tokens: the model was not asked", calls, tokens)
			}
			inbox := strings.Split(strings.TrimSpace(must(t, dir, "review", "--json")), "\n")
			t.Logf("inbox: %d operations, %d by the model", len(inbox), strings.Count(strings.Join(inbox, "\n"), `"how":"model"`))
			if len(inbox) > 10 {
				t.Errorf("%d operations wait for a person", len(inbox))
			}
			unharmed(t, dir, c.transcript)
		})
	}
}

// spent returns the questions and tokens of the day.
func spent(t *testing.T, dir string) (calls, tokens int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ".git", "reverie", "model.json"))
	if os.IsNotExist(err) {
		return 0, 0
	}
	var day struct{ Calls, Tokens int }
	if err == nil {
		err = json.Unmarshal(text, &day)
	}
	if err != nil {
		t.Fatal(err)
	}
	return day.Calls, day.Tokens
}

func TestSmallModelFindsByMeaning(t *testing.T) {
	s := serveModels(t)
	dir := newRepo(t)
	must(t, dir, "init")
	for _, text := range []string{
		"Use pnpm in web/; npm and yarn write lock files that CI rejects.", "Postgres 15 in production, SQLite for unit tests only.",
		"Deploys are frozen from Friday noon until Monday morning.", "Passwords are hashed with argon2id.",
		"Images are distroless: there is no shell inside.", "Branches begin with the ticket: RIV-123-short-title.",
	} {
		must(t, dir, "remember", text)
	}
	const question = "can I release at the weekend"
	if got := must(t, dir, "recall", question); strings.Contains(got, "frozen") {
		t.Fatalf("words alone find it: %s", got)
	}
	must(t, dir, "config", "model.embed", "all-minilm")
	began := time.Now()
	must(t, dir, "doctor", "--fix")
	t.Logf("vectors of six memories: %v", time.Since(began).Round(time.Millisecond))
	// a busy machine may need more than the 300 ms of a search
	eventually := func(want string, args ...string) {
		t.Helper()
		var a answer
		for range 20 {
			began := time.Now()
			if a = reverie(t, dir, args...); strings.Contains(a.out, want) {
				t.Logf("%s: %v", args[0], time.Since(began).Round(time.Millisecond))
				return
			}
		}
		t.Errorf("%q is missing: %s", want, a)
	}
	eventually("frozen", "recall", "-n", "3", question)
	eventually("argon2id", "context", "--for", "prompt", "--query", "hashing user passwords")
	s.signal(syscall.SIGSTOP)
	defer s.signal(syscall.SIGCONT)
	began = time.Now()
	if a := reverie(t, dir, "context", "--for", "prompt", "--query", "Postgres 15 or SQLite in production?"); !strings.Contains(a.out, "Postgres 15") {
		t.Errorf("%s", a)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("a prompt waited %v for a server that hangs", took)
	}
}
