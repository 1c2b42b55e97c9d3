//go:build unix

package cmd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/worktree"
)

// killedPlan takes three iterations of an agent that does a little at a time, appends to what is
// there, so that an iteration done twice shows, leaves a process behind that has gone from its
// group, and at last commits some of it. That commit has the loop go on if its supervisor was
// killed alone.
const (
	killedPlan  = "# Count\n\n```verify\ngrep -q '^3$' log\n```\n"
	killedAgent = `
for n in 1 2 3; do
	echo "$REVERIE_ITERATION.$n" >>log
	echo "$n" >"part$n"
	sleep 0.02
done
echo "$REVERIE_ITERATION" >>log
echo "$REVERIE_ITERATION" >>after
setsid sleep 1000 >/dev/null 2>&1 &
rm part2
git add log && git commit -qm "agent: $REVERIE_ITERATION"
`
)

// loopRun starts reverie in a process group of its own.
func loopRun(t *testing.T, r *testrepo.Repo, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("reverie", append([]string{"-C", r.Dir, "loop"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &out
}

// Whenever a supervisor is killed or interrupted, with all of its group or alone, a resumed loop
// ends with the tree and the commits of an undisturbed one, and leaves no process and no lock.
func TestKilledLoopsEndAsUndisturbed(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	kills := 5
	if fullNumbers {
		kills = 60 // loops, each killed at two moments
	}
	dir := noted(t)
	plan, agent := filepath.Join(dir, "plan.md"), filepath.Join(dir, "agent.sh")
	for name, text := range map[string]string{plan: killedPlan, agent: killedAgent} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start := []string{"start", plan, "--name", "one", "--audit", `cat >/dev/null; echo '{"findings":[]}'`, "--", "sh", agent}
	ended := func(r *testrepo.Repo) string {
		return r.Run("rev-parse", "reverie/loop/one^{tree}") + "\n" + r.Run("log", "--format=%s", "main..reverie/loop/one")
	}
	r := testrepo.New(t)
	began := time.Now()
	cmd, out := loopRun(t, r, start...)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole := time.Since(began)
	want := ended(r)
	if got := r.Run("show", "reverie/loop/one:log"); strings.Count(got, "\n") != 11 {
		t.Fatalf("undisturbed: %q", got)
	}
	cut, woken := 0, 0
	for i := range kills {
		r := testrepo.New(t)
		var story strings.Builder
		next := start
		for again := 0; again < 2; again++ {
			began := time.Now()
			cmd, out := loopRun(t, r, next...)
			time.Sleep(time.Duration(rand.Int64N(int64(whole))))
			pid := cmd.Process.Pid
			if i%2 == 0 {
				pid = -pid
			}
			signal := syscall.SIGKILL
			if i%3 == 2 {
				signal = syscall.SIGINT
			}
			killed := syscall.Kill(pid, signal) == nil
			if err := cmd.Wait(); err == nil { // a machine that has less to do by now is as fast as this
				killed = false
				whole = max(min(whole, time.Since(began)), 10*time.Millisecond)
			}
			fmt.Fprintf(&story, "killed %v after:\n%s\n", killed, out)
			if killed {
				cut++
			}
			next = start
			if _, err := r.Try("rev-parse", "--verify", worktree.Refs+"one"); err == nil {
				next = []string{"resume", "one"}
			}
		}
		for {
			cmd, out := loopRun(t, r, next...)
			err := cmd.Wait()
			if err == nil || strings.Contains(out.String(), "is done: the loop has ended") {
				break
			}
			if !strings.Contains(out.String(), "another process carries the loop on") {
				t.Fatalf("%d: %v\n%s\n%s", i, err, &story, out)
			}
			woken++
			next = []string{"resume", "one"}
		}
		away(t, dir)
		if got := ended(r); got != want {
			t.Errorf("%d: ends as\n%s\nwant\n%s\n%s\n%s", i, got, want, &story, out)
		}
		common := filepath.Join(r.Dir, ".git")
		if out, err := exec.Command("sh", "-c", `find "$1" -name '*.lock' ! -name lease.lock ! -path "$1/reverie/lock" ! -path "$1/reverie/*.lock"; find "$1" -name lease.json`, "sh", common).Output(); err != nil || len(out) > 0 {
			t.Errorf("%d: left: %s %v", i, out, err)
		}
		if left := alive(t, r.Run("show", worktree.Refs+"one:state.json")); left != "" {
			t.Errorf("%d: alive: %s", i, left)
		}
		if got := r.Run("status", "--porcelain") + r.Run("symbolic-ref", "HEAD"); got != "refs/heads/main" {
			t.Errorf("%d: the user's work tree: %s", i, got)
		}
		r.Run("fsck", "--strict", "--no-dangling")
		if t.Failed() {
			return
		}
	}
	if cut < max(1, kills/4) { // the machine may have been slower when the undisturbed one was timed
		t.Errorf("of %d runs that were to be killed only %d were", 2*kills, cut)
	}
	t.Logf("%d kills in %d loops of %v, %d times a commit had carried the loop on", cut, kills, whole, woken)
}

// alive are the processes that bear the mark of a loop.
func alive(t *testing.T, state string) string {
	t.Helper()
	_, rest, _ := strings.Cut(state, `"run": "`)
	run, _, _ := strings.Cut(rest, `"`)
	if run == "" {
		t.Fatalf("no mark in %s", state)
	}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	found := ""
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(run)) {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			found += filepath.Dir(name) + " " + string(command) + "\n"
		}
	}
	return found
}
