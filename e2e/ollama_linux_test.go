package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// learnt is a repository that learned from a transcript, by settings given as "key value".
func learnt(t *testing.T, transcript string, settings ...string) (dir string, a answer) {
	t.Helper()
	dir = newRepo(t)
	must(t, dir, "init")
	for _, s := range settings {
		key, value, _ := strings.Cut(s, " ")
		must(t, dir, "config", key, value)
	}
	return dir, reverie(t, dir, "learn", transcript)
}

// whatIsKnown is everything that is memory, by the names of its files.
func whatIsKnown(t *testing.T, dir string) string {
	return git(t, dir, "ls-tree", "-r", "--name-only", "reverie/memory", "memories/")
}

// unharmed checks that a repository is whole, and knows of a transcript what it would know without
// a model.
func unharmed(t *testing.T, dir, transcript string) {
	t.Helper()
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	without, _ := learnt(t, transcript)
	if got, want := whatIsKnown(t, dir), whatIsKnown(t, without); got != want {
		t.Errorf("it knows\n%s\nand without a model\n%s", got, want)
	}
	must(t, dir, "check", "--deep")
	git(t, dir, "fsck", "--strict", "--no-dangling")
}

func TestRealModelInTheWholeWay(t *testing.T) {
	serveTiny(t)
	dir, a := learnt(t, example(t), "model.name tiny", "model.embed tiny-vectors")
	if a.code != 0 {
		t.Fatal(a)
	}
	doctor := reverie(t, dir, "doctor")
	for _, want := range []string{"tiny:latest, 8192 tokens of its 8192", "tiny-vectors:latest", "of 200 questions"} {
		if !strings.Contains(doctor.out, want) {
			t.Errorf("%q is missing: %s", want, doctor)
		}
	}
	if strings.Contains(doctor.out, "today 0 of") {
		t.Errorf("nothing was asked: %s", doctor)
	}
	for _, args := range [][]string{
		{"reflect", "--pending"}, {"reflect", "--pending", "--model", "tiny-random"}, {"dream", "--no-model"}, {"distill"}, {"distill", "--model", "tiny"},
	} {
		if a := reverie(t, dir, args...); a.code != 0 {
			t.Errorf("%s", a)
		}
	}
	// rubbish of the right form, or none that fits
	for _, model := range []string{"tiny", "tiny-random"} {
		if a := reverie(t, dir, "dream", "--model", model); a.code != 0 && !strings.Contains(a.err, "found without the model are pending") {
			t.Errorf("%s", a)
		}
	}
	for _, o := range strings.Split(strings.TrimSpace(must(t, dir, "review", "--json")), "\n") {
		if strings.Contains(o, `"how":"model"`) && !strings.Contains(o, `"quote"`) {
			t.Errorf("a model's operation rests on nothing: %s", o)
		}
	}
	eval := must(t, dir, "eval", "--model", "tiny", shortSet(t))
	if !strings.Contains(eval, "detectors") || !strings.Contains(eval, "tiny") {
		t.Error(eval)
	}
	unharmed(t, dir, example(t))
}

// shortSet is a labelled set of one session.
func shortSet(t *testing.T) string {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "labels.jsonl"), `{"session":"a.jsonl","want":[],"allow":[]}`+"\n")
	write(t, filepath.Join(dir, "a.jsonl"), read(t, example(t)))
	return dir
}

func TestRealVectorsFindWhatHasOtherWords(t *testing.T) {
	serveTiny(t)
	dir := newRepo(t)
	must(t, dir, "init")
	must(t, dir, "config", "model.embed", "tiny-vectors")
	for _, text := range []string{"The build fails because the cache is stale.", "Tabs are preferred over spaces in Go files.", "Orders are kept in Postgres."} {
		must(t, dir, "remember", text)
	}
	must(t, dir, "doctor", "--fix")
	got := must(t, dir, "recall", "--json", "-n", "1", "builds failing, stale caches")
	if !strings.Contains(got, "cache is stale") || !strings.Contains(got, `"lists":["lexical","vectors"]`) {
		t.Error(got)
	}
	if got = must(t, dir, "recall", "prefer tab indentation"); !strings.Contains(got, "Tabs are preferred") {
		t.Error(got)
	}
}

// A server that hangs, dies under a question or is not there leaves what the detectors found, and a
// session that is read later.
func TestRealServerFails(t *testing.T) {
	for name, fail := range map[string]func(*testing.T, *server, string){
		"stopped": func(t *testing.T, s *server, dir string) {
			s.signal(syscall.SIGSTOP)
			if a := reverie(t, dir, "learn", example(t)); a.code != 0 || !strings.Contains(a.err, "the model is not asked") {
				t.Errorf("%s", a)
			}
			s.signal(syscall.SIGCONT)
			if a := reverie(t, dir, "reflect", "--pending"); a.code != 0 || strings.Contains(a.err, "not asked") {
				t.Errorf("it was not read afterwards: %s", a)
			}
		},
		"killed under a question": func(t *testing.T, s *server, dir string) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			ask := exec.CommandContext(ctx, binary, "learn", example(t))
			ask.Dir = dir
			var talk strings.Builder
			ask.Stderr = &talk
			if err := ask.Start(); err != nil {
				t.Fatal(err)
			}
			for counted := filepath.Join(dir, ".git", "reverie", "model.json"); ctx.Err() == nil; time.Sleep(time.Millisecond) {
				if _, err := os.Stat(counted); err == nil { // a question counts before it is asked
					break
				}
			}
			s.kill()
			if err := ask.Wait(); err != nil {
				t.Errorf("%v\n%s", err, &talk)
			}
		},
		"without the model": func(t *testing.T, s *server, dir string) {
			must(t, dir, "config", "model.name", "nosuch")
			if a := reverie(t, dir, "learn", example(t)); a.code != 0 || !strings.Contains(a.err, "nosuch") {
				t.Errorf("%s", a)
			}
			if a := reverie(t, dir, "reflect", "--pending", "--model", "nosuch"); a.code != 128 || !strings.Contains(a.err, "ollama pull") {
				t.Errorf("%s", a)
			}
		},
		"a context too small": func(t *testing.T, s *server, dir string) {
			if a := reverie(t, dir, "config", "model.context", "2048"); a.code == 0 {
				t.Errorf("no question has room in that: %s", a)
			}
			must(t, dir, "config", "model.context", "6144")
			long := filepath.Join(t.TempDir(), "long.jsonl")
			var b strings.Builder
			fmt.Fprint(&b, `{"agent":"other","started_at":"2026-03-01T10:00:00Z","metadata":{"opendream_session_id":"long"},"messages":[`)
			for i := range 400 {
				role := []string{"user", "assistant"}[i%2]
				fmt.Fprintf(&b, `{"index":%d,"role":%q,"content":"Number %d: %s"},`, i, role, i, strings.Repeat("the gateway retries three times and then gives up. ", 8))
			}
			write(t, long, strings.TrimSuffix(b.String(), ",")+"]}\n")
			if a := reverie(t, dir, "learn", long); a.code != 0 {
				t.Errorf("%s", a)
			}
			must(t, dir, "learn", example(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveTiny(t)
			dir := newRepo(t)
			must(t, dir, "init")
			must(t, dir, "config", "model.name", "tiny")
			must(t, dir, "config", "model.patience", "20")
			fail(t, s, dir)
			unharmed(t, dir, example(t))
		})
	}
}
