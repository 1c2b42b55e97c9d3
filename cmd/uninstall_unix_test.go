//go:build unix

package cmd

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A worker that hangs is ended, with what it started; then all goes.
func TestUninstallEndsAWorkerThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", "")
	r := testrepo.New(t)
	env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, Dir: r.Dir, Now: time.Now}
	w, err := env.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	lock, err := job.TryLock(w.State, job.Worker) // the kernel gives it back when its holder dies; so do we
	if lock == nil || err != nil {
		t.Fatal(lock, err)
	}
	hangs := exec.Command("sleep", "300")
	hangs.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := hangs.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangs.Process.Kill() })
	died := make(chan error, 1)
	go func() {
		died <- hangs.Wait()
		lock.Close()
	}()
	text, _ := json.Marshal(job.Status{PID: hangs.Process.Pid, Until: time.Now().Add(time.Hour)})
	if err := w.Repo.WriteState(job.Worker.StatusFile(), text, false); err != nil {
		t.Fatal(err)
	}
	if err := runUninstall(t.Context(), env, uninstallOptions{yes: true}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-died:
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("the worker ended with %v", err)
		}
	default:
		t.Error("the worker goes on")
	}
	if _, err := os.Lstat(w.State); !os.IsNotExist(err) {
		t.Errorf("%s: %v", w.State, err)
	}
}
