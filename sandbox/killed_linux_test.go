package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEngineClientIsKilled repeatedly kills a process with containers at various moments. The next
// Prune removes all of its containers and none of a living process.
func TestEngineClientIsKilled(t *testing.T) {
	e := realEngine(t)
	lookers := len(looking())
	living, finish := started(t, e, Spec{Image: realImage, Workspace: place(t)}, "true")
	defer finish()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	running := 0
	const kills = 12
	for i := range kills {
		dir := place(t)
		mark := fmt.Sprintf("31%d%04d", os.Getpid(), i)
		child := exec.Command(self)
		child.Env = append(os.Environ(), "REVERIE_SANDBOX_CHILD="+dir, "REVERIE_SANDBOX_MARK="+mark)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(i) * 100 * time.Millisecond // from before anything is made until it runs
		if e.Name == "podman" {
			after *= 2 // Podman is slower
		}
		time.Sleep(after)
		runs := func() bool {
			return slices.ContainsFunc(mustList(t, e), func(c Container) bool { return c.Owner.PID == child.Process.Pid && c.Status == "running" })
		}
		late := time.Now().Add(time.Minute)
		for i == kills-1 && !runs() && time.Now().Before(late) { // none may run so early
			time.Sleep(50 * time.Millisecond)
		}
		child.Process.Kill()
		child.Wait()
		if runs() {
			running++
		}
		if _, err := e.Prune(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for range 20 { // an order on its way at the client's death may still run
			if time.Sleep(50 * time.Millisecond); len(mustList(t, e)) == 1 {
				break
			}
			if _, err := e.Prune(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range mustList(t, e) {
			if c.Owner.PID == child.Process.Pid {
				t.Errorf("after %s: %s is left, %s", after, c.Name, c.Status)
			}
		}
		gone(t, "sleep\x00"+mark)
		gone(t, "REVERIE_CHILD_"+mark)
	}
	if running == 0 {
		t.Error("no container ran when its client was killed")
	}
	t.Log(running, "of", kills, "were running when their client was killed")
	if rest := mustList(t, e); len(rest) != 1 || rest[0].ID != living {
		t.Errorf("the living one, %s, among %+v", living, rest)
	}
	if e.Name == "podman" { // missing from its List
		if own := looking(); len(own) > lookers+1 {
			t.Errorf("processes that look after containers: %v, of which one is the living one's", own)
		}
		if rest := strings.Fields(raw(t, "ps", "--all", "--external", "--quiet")); len(rest) != 1 {
			t.Errorf("containers that never came to be: %q", rest)
		}
	}
	if entries, err := os.ReadDir(e.folder); err != nil || len(entries) != 1 {
		t.Errorf("folders of containers: %v, %v", entries, err)
	}
}

func mustList(t *testing.T, e *Engine) []Container {
	t.Helper()
	list, err := e.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSilentEngine tests an engine that accepts a connection and does not answer.
func TestSilentEngine(t *testing.T) {
	realEngine(t) // it waits for the full timeout
	socket := socketIn(t)
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("DOCKER_HOST", "unix://"+socket)
	began := time.Now()
	if _, err := Find(t.Context(), "docker"); !errors.Is(err, ErrSilent) {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*infoTime {
		t.Errorf("it took %s", took)
	}
}

// looking returns the Podman processes that monitor our containers.
func looking() []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		if line, err := os.ReadFile(f); err == nil && bytes.Contains(line, []byte("conmon\x00")) && bytes.Contains(line, []byte("\x00reverie-")) {
			found = append(found, f)
		}
	}
	return found
}
