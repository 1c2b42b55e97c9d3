//go:build unix

package setup

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A hanging worker is killed with its child processes. Then everything is removed.
func TestRemoveKillsAHangingWorker(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", "")
	c, err := clone.Open(t.Context(), clone.Options{Dir: testrepo.New(t).Dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := share.Begin(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	lock, err := job.TryLock(c.State, job.Worker) // as a worker that hangs
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
	if err := c.Repo.State().Write(job.Worker.StatusFile(), text, false); err != nil {
		t.Fatal(err)
	}
	var notes []Note
	removal, err := FindRemoval(t.Context(), c, Scope{}, func(n Note) { notes = append(notes, n) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := removal.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || notes[0] != (Ending{Job: string(job.Worker), PID: hangs.Process.Pid}) {
		t.Errorf("notes: %+v", notes)
	}
	select {
	case err := <-died:
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("the worker ended with %v", err)
		}
	default:
		t.Error("the worker goes on")
	}
	if _, err := os.Lstat(c.State); !os.IsNotExist(err) {
		t.Errorf("%s: %v", c.State, err)
	}
}
