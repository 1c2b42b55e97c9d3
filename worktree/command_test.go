//go:build unix

package worktree

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// sh runs a shell command by Exec.
func sh(ctx context.Context, t *testing.T, c Command, script string) (Result, error) {
	t.Helper()
	c.Args, c.Dir, c.Env = []string{"sh", "-c", script}, t.TempDir(), os.Environ()
	return Exec(ctx, c)
}

// over reports whether a process has ended or is a zombie.
func over(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || strings.Contains(string(text), ") Z ")
}

func TestExecTellsTheResult(t *testing.T) {
	heard, leader := 0, 0
	r, err := sh(t.Context(), t, Command{Stdin: []byte("in"), Heard: func() { heard++ }, Began: func(pid int) { leader = pid }}, "cat; echo; echo err >&2; exit 3")
	if err != nil || r.Code != 3 || r.Output != "in\nerr\n" || heard == 0 || leader == 0 {
		t.Errorf("%+v, %v, heard %d, leader %d", r, err, heard, leader)
	}
	if _, err := Exec(t.Context(), Command{Args: []string{"no-such-program-here"}}); err == nil {
		t.Error("a program that is not there runs")
	}
	if r, err := sh(t.Context(), t, Command{Stdin: make([]byte, 1<<20)}, "exit 0"); err != nil || r.Code != 0 {
		t.Errorf("one that does not read: %+v, %v", r, err)
	}
}

func TestExecBoundsOutput(t *testing.T) {
	r, err := sh(t.Context(), t, Command{}, "echo first; yes 0123456789 | head -c 20000000; echo; echo last")
	if err != nil || len(r.Output) > 2*keptOutput || !strings.HasPrefix(r.Output, "first\n") || !strings.HasSuffix(r.Output, "last\n") || !strings.Contains(r.Output, "bytes are left out") {
		t.Errorf("%d bytes, %v", len(r.Output), err)
	}
}

func TestExecEndsTheWholeGroup(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("processes are looked at in /proc")
	}
	r, err := sh(t.Context(), t, Command{}, "sleep 1000 & echo $!")
	if pid := strings.TrimSpace(r.Output); err != nil || pid == "" || !over(pid) {
		t.Errorf("what a command leaves behind goes on: %q, %v", pid, err)
	}
	r, err = sh(t.Context(), t, Command{Time: 500 * time.Millisecond}, "trap '' TERM; echo $$; sleep 1000 & wait; sleep 1000")
	if pid := strings.TrimSpace(r.Output); err != nil || !r.TimedOut || !over(pid) {
		t.Errorf("one that does not listen: %+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err = sh(ctx, t, Command{Heard: cancel}, "echo $$; sleep 1000")
	if pid := strings.TrimSpace(r.Output); !errors.Is(err, context.Canceled) || !over(pid) {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
}

func TestMarkedProcessesAreEnded(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("marks are looked at in /proc")
	}
	const mark = "REVERIE_LOOP_RUN=a-test-of-marks"
	c := Command{Args: []string{"sh", "-c", "setsid sh -c 'sleep 1000 & wait' >/dev/null 2>&1 & echo done"}, Dir: t.TempDir(), Env: append(os.Environ(), mark)}
	if _, err := Exec(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	endMarked(mark)
	if left := marked(mark); len(left) > 0 {
		t.Errorf("%v go on", left)
	}
}
