//go:build unix

package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop"
)

// orphanAgent waits in its first iteration until it may commit, and never ends after that; in the
// second it does what is left to do. An agent sets variables in its shells.
const (
	orphanPlan  = "# Count\n\n```verify\ntest -e two\n```\n"
	orphanAgent = `
if [ "$REVERIE_ITERATION" = 1 ]; then
	export CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=5ad1
	echo 1 >one
	git add one
	: >"$NOTES/works"
	while [ ! -e "$NOTES/go" ]; do sleep 0.02; done
	git commit -qm 'agent: one'
	exec sleep 1000
fi
echo 2 >two
env >"$NOTES/env"
`
)

// until waits for what another process does.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

func stateOf(t *testing.T, r *testrepo.Repo, name string) (s worktree.State) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Run("show", worktree.Refs+name+":state.json")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// away waits until no process is left that a test has started, each of which has its folder notes
// in its environment. Three looks have to agree: a process that another starts and that one's end
// may fall into the same look, and a program that begins shows no environment for a moment.
func away(t *testing.T, notes string) {
	t.Helper()
	quiet := 0
	until(t, "no process is left", func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		quiet++
		for _, name := range files {
			if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte("NOTES="+notes)) {
				quiet = 0
			}
		}
		return quiet == 3
	})
}

// noted is a folder for what the processes of a test write down, by the variable NOTES.
func noted(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("this system does not show the environment of processes")
	}
	notes := t.TempDir()
	t.Setenv("NOTES", notes)
	return notes
}

// A supervisor is killed. A commit then ends the iteration, and the loop goes on by itself: one of
// the agent that it left, or a person's.
func TestCommitCarriesALoopOnWhoseSupervisorWasKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, c := range []struct {
		name    string
		inPlace bool
		person  bool
	}{{"the agent", false, false}, {"the agent in place", true, false}, {"a person", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			r := testrepo.New(t)
			notes := noted(t)
			plan, agent := filepath.Join(notes, "plan.md"), filepath.Join(notes, "agent.sh")
			for name, text := range map[string]string{plan: orphanPlan, agent: orphanAgent} {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			has := func(name string) bool { _, err := os.Lstat(filepath.Join(notes, name)); return err == nil }
			start := []string{"start", plan, "--name", "one", "--min-audits", "0"}
			tree := filepath.Join(r.Dir, ".git/reverie/loops/one/tree")
			if c.inPlace {
				start, tree = append(start, "--in-place"), r.Dir
			}
			if c.person {
				if out, err := exec.Command("reverie", "-C", r.Dir, "init", "--git-hooks").CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			cmd, out := loopRun(t, r, append(start, "--", "sh", agent)...)
			until(t, "the agent works", func() bool { return has("works") })
			if s := stateOf(t, r, "one"); s.Phase != worktree.Coding || s.Iteration != 1 {
				t.Fatalf("%+v", s)
			}
			if err := syscall.Kill(cmd.Process.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if left := alive(t, r.Run("show", worktree.Refs+"one:state.json")); left == "" {
				t.Fatalf("the agent did not outlive its supervisor:\n%s", out)
			}
			want := "agent: one"
			if c.person {
				testrepo.At(t, tree).Run("commit", "-qm", "person: one")
				want = "person: one"
			} else if err := os.WriteFile(filepath.Join(notes, "go"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			until(t, "the loop is done", func() bool { return stateOf(t, r, "one").Phase.Over() })
			away(t, notes)
			s := stateOf(t, r, "one")
			if s.Phase != worktree.Done || s.Iteration != 2 {
				t.Errorf("%s %s in iteration %d: %s", s.Phase, s.Reason, s.Iteration, s.Detail)
			}
			if got := r.Run("log", "--format=%s", s.Base+".."+s.Tip); got != "loop: Count (iteration 2)\n"+want {
				t.Errorf("the branch:\n%s", got)
			}
			if got := r.Run("log", "--format=%s", worktree.Refs+"one"); strings.Count(got, "ended by commit") != 1 || strings.Contains(got, "error") {
				t.Errorf("the record:\n%s", got)
			}
			if left := alive(t, r.Run("show", worktree.Refs+"one:state.json")); left != "" {
				t.Errorf("alive: %s", left)
			}
			env, err := os.ReadFile(filepath.Join(notes, "env"))
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"REVERIE_LOOP=one", "REVERIE_ITERATION=2", "REVERIE_PHASE=coding"} {
				if !strings.Contains("\n"+string(env), "\n"+line+"\n") {
					t.Errorf("the second agent has no %s", line)
				}
			}
			for _, name := range []string{"CLAUDECODE=", "CLAUDE_CODE_SESSION_ID=", "GIT_INDEX_FILE=", job.Depth + "="} {
				if strings.Contains("\n"+string(env), "\n"+name) {
					t.Errorf("the second agent is in the first one's environment: %s", name)
				}
			}
			r.Run("fsck", "--strict", "--no-dangling")
		})
	}
}

// Which loop a commit is about, if any: not one of another branch or work tree, in the middle of
// something, or that has ended.
func TestCommittedLoop(t *testing.T) {
	r := testrepo.New(t)
	plan := filepath.Join(t.TempDir(), "plan.md")
	if err := os.WriteFile(plan, []byte(orphanPlan), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("reverie", append([]string{"-C", r.Dir, "loop"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, name := range []string{"one", "two"} {
		run("start", plan, "--name", name, "--agent", "hand", "--min-audits", "0")
	}
	tree := testrepo.At(t, filepath.Join(r.Dir, ".git/reverie/loops/one/tree"))
	want := func(what, dir, in, want string) {
		t.Helper()
		w := at(t, dir, time.Now())
		if got, err := loop.Committed(t.Context(), w.Reader, in); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", what, got, err, want)
		}
	}
	want("a person's", tree.Dir, "", "one")
	want("its own agent's", tree.Dir, "one", "one")
	want("another loop's agent's", tree.Dir, "two", "")
	want("in another work tree", r.Dir, "", "")
	tree.Run("switch", "-q", "-c", "elsewhere")
	want("on another branch", tree.Dir, "", "")
	tree.Run("switch", "-q", "--detach")
	want("on no branch", tree.Dir, "", "")
	tree.Run("switch", "-q", "reverie/loop/one")
	gitDir := tree.Run("rev-parse", "--absolute-git-dir")
	for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer"} {
		if err := os.Mkdir(filepath.Join(gitDir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		want("during "+name, tree.Dir, "", "")
		os.Remove(filepath.Join(gitDir, name))
	}
	if out, err := exec.Command("reverie", "-C", r.Dir, "config", "learn.background", "off").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want("without work in the background", tree.Dir, "", "")
	if out, err := exec.Command("reverie", "-C", r.Dir, "config", "learn.background", "idle").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want("with it again", tree.Dir, "", "one")
	run("cancel", "one")
	want("cancelled", tree.Dir, "", "")
	run("cancel", "two")

	run("start", plan, "--name", "here", "--in-place", "--agent", "hand", "--min-audits", "0")
	want("in place", r.Dir, "", "here")
	linked := filepath.Join(t.TempDir(), "linked")
	r.Run("worktree", "add", "-q", "-b", "other", linked)
	want("in another work tree of the same repository", linked, "", "")
	r.Run("switch", "-q", "-c", "third")
	want("in place, on another branch", r.Dir, "", "")
}

// However commits and supervisors that begin and end meet, the last commit is looked at in the
// end, and one process at a time did it.
func TestNoCommitIsForgotten(t *testing.T) {
	r := testrepo.New(t)
	notes := noted(t)
	plan := filepath.Join(notes, "plan.md")
	// A second supervisor at the same time would find the folder of the first.
	if err := os.WriteFile(plan, []byte("# Count\n\n```verify\nmkdir \"$NOTES/busy\" || echo twice >>\"$NOTES/twice\"; rmdir \"$NOTES/busy\"; false\n```\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--git-hooks"}, {"loop", "start", plan, "--name", "one", "--agent", "hand", "--min-audits", "0", "--max", "0", "--max-repeats", "0"}} {
		if out, err := exec.Command("reverie", append([]string{"-C", r.Dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	commits := 8
	if fullNumbers {
		commits = 80
	}
	tree := testrepo.At(t, filepath.Join(r.Dir, ".git/reverie/loops/one/tree"))
	for range commits {
		tree.Run("commit", "-q", "--allow-empty", "-m", "person")
	}
	head := tree.Run("rev-parse", "HEAD")
	until(t, "the last commit was looked at", func() bool {
		s := stateOf(t, r, "one")
		return s.Tip == head && s.Phase == worktree.Coding
	})
	away(t, notes)
	if text, err := os.ReadFile(filepath.Join(notes, "twice")); err == nil {
		t.Errorf("two at once: %s", text)
	}
	s := stateOf(t, r, "one")
	if got := strings.Count(r.Run("log", "--format=%s", worktree.Refs+"one"), "ended by commit"); got != s.Iteration-1 || got > commits {
		t.Errorf("%d commits ended %d iterations", got, s.Iteration-1)
	}
	t.Logf("%d commits, %d iterations", commits, s.Iteration-1)
}
