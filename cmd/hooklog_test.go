package cmd

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reverie-memory/reverie/internal/capture"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A hook whose time is over is told of all the same, also where git has to be asked for the
// repository.
func TestFaultIsLoggedWhenTheTimeIsOver(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "init")
	state := filepath.Join(r.Dir, ".git", "reverie")
	if err := os.RemoveAll(filepath.Join(state, "found")); err != nil {
		t.Fatal(err)
	}
	env := system()
	env.Dir, env.Out, env.Err, env.In = r.Dir, io.Discard, io.Discard, strings.NewReader("{")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	runHook(ctx, env, capture.NewCall([]string{"claude", "UserPromptSubmit"}, env.Now))
	text, err := os.ReadFile(filepath.Join(state, "log"))
	if err != nil || strings.Count(string(text), capture.FaultMark+"claude UserPromptSubmit: ") != 1 {
		t.Errorf("the log has %q: %v", text, err)
	}
}

// If many find the log too long, one of them replaces it and keeps the old one.
func TestLogIsBegunAnewOnce(t *testing.T) {
	for range 100 {
		dir := t.TempDir()
		path := filepath.Join(dir, "log")
		if err := os.WriteFile(path, []byte(strings.Repeat("old line\n", job.MaxLog/8)), 0o600); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				log, err := job.OpenLog(dir)
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(log, "new line\n")
				log.Close()
			})
		}
		wg.Wait()
		old, err := os.ReadFile(path + ".old")
		if err != nil || len(old) < job.MaxLog {
			t.Fatalf("of the long log %d bytes are left: %v", len(old), err)
		}
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(old), "new") + strings.Count(string(now), "new"); lines != 8 {
			t.Errorf("%d lines of 8", lines)
		}
	}
}
