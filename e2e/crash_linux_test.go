package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// changing lists the system calls by which a process changes the disk, or prepares to.
var changing = []string{"write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat",
	"mkdir", "mkdirat", "ftruncate", "flock", "openat"}

// faults are injected at such a call: the process is killed before it, or the disk fails. With
// --seccomp-bpf, strace 6.1 counts calls for a signal only if it has an error to inject too.
var faults = []string{"error=EPERM:signal=KILL", "error=ENOSPC", "error=EIO"}

// samples are the calls that suffice in short runs: the ref is about to move, or an object to be
// kept.
var samples = map[string]int{"renameat error=EPERM:signal=KILL": 2, "linkat error=ENOSPC": 1, "fsync error=EIO": 2}

// operation is a command that changes something, with a check of its effect.
type operation struct {
	name string
	dir  string   // a folder for it; each try has a copy
	args []string // of the command
	// state returns "old" or "new" as a user sees it; anything else is a third state.
	state func(t *testing.T, dir string) string
	// again repeats it, which finishes the work and is harmless afterwards.
	again func(t *testing.T, dir string)
}

// The test kills a command, or reports a full or broken disk to it, at its first, second, …
// changing call, in itself and in each git that it starts, until it runs through untouched. Each
// time the state is old or new, git finds nothing wrong, and repeating the command finishes it,
// without a repair.
//
// Each third call suffices unless REVERIE_E2E is "all": the store's own test,
// TestFaultAtEveryCallLeavesOldOrNew, covers each.
func TestFaultAtEveryCallOfACommand(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	strace := needStrace(t)
	for _, op := range operations(t) {
		calls := op.calls(t, strace)
		for _, fault := range faults {
			t.Run(op.name+"/"+fault, func(t *testing.T) {
				t.Parallel()
				fired, tries := 0, 0
				for _, call := range calls {
					if call == "openat" && !strings.Contains(fault, "KILL") {
						continue // the loader and git read by it too; it tells nothing about our code
					}
					step := 1
					if full && !every { // a third of its calls; a different one for each kind of call and fault
						step = 3
					}
					for n := 1 + (len(call)+len(fault))%step; ; n += step {
						if !full && n != samples[call+" "+fault] {
							if n > 2 {
								break
							}
							continue
						}
						tries++
						if !op.try(t, strace, call, fault, n) {
							break
						}
						fired++
						if n > 400 {
							t.Fatalf("%s at %s: it never comes through", fault, call)
						}
						if t.Failed() {
							return
						}
					}
				}
				t.Logf("%d tries, %d faults", tries, fired)
				least := 1
				if full {
					least = 10
				}
				if fired < least {
					t.Errorf("%s was hit %d times only", fault, fired)
				}
			})
		}
	}
}

// calls returns the kinds of changing calls that the operation makes.
func (op operation) calls(t *testing.T, strace string) []string {
	t.Helper()
	a, log, _ := op.traced(t, strace, "trace="+strings.Join(changing, ","))
	if a.code != 0 {
		t.Fatalf("%s: %s", op.name, a)
	}
	return slices.DeleteFunc(slices.Clone(changing), func(call string) bool { return !strings.Contains(log, " "+call+"(") })
}

// traced does the operation in a copy of its repository below strace, and returns strace's log.
func (op operation) traced(t *testing.T, strace string, expressions ...string) (a answer, log, dir string) {
	t.Helper()
	dir = copyDir(t, op.dir)
	file := filepath.Join(filepath.Dir(dir), "strace")
	a = finish(t, func(ctx context.Context) *exec.Cmd {
		// --seccomp-bpf lets all other calls pass without a stop
		args := []string{"-f", "--seccomp-bpf", "-qq", "-o", file}
		for _, e := range expressions {
			args = append(args, "-e", e)
		}
		cmd := exec.CommandContext(ctx, strace, slices.Concat(args, []string{binary}, op.args)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // fewer threads: strace counts each thread's calls
		return cmd
	})
	return a, read(t, file), dir
}

// try does the operation with one fault and reports whether the fault occurred.
func (op operation) try(t *testing.T, strace, call, fault string, n int) (hit bool) {
	t.Helper()
	a, log, dir := op.traced(t, strace, "trace="+call, fmt.Sprintf("inject=%s:%s:when=%d", call, fault, n))
	defer os.RemoveAll(filepath.Dir(dir))
	hit = strings.Contains(log, "INJECTED") || strings.Contains(log, "killed by SIGKILL")
	state := op.state(t, dir)
	switch {
	case state != "old" && state != "new":
		t.Errorf("%s at %s %d: %s\n%s", fault, call, n, state, a)
	case state == "old" && a.code == 0:
		t.Errorf("%s at %s %d: acknowledged and lost: %s", fault, call, n, a)
	case !hit && a.code != 0:
		t.Errorf("%s at %s %d was not hit, but %s", fault, call, n, a)
	}
	if out, err := tryGit(dir, "fsck", "--strict", "--no-dangling"); err != nil {
		t.Errorf("%s at %s %d: git fsck: %s", fault, call, n, out)
	}
	op.again(t, dir)
	if state := op.state(t, dir); state != "new" {
		t.Errorf("%s at %s %d: doing it again leaves the %s state", fault, call, n, state)
	}
	if n%5 == 1 {
		must(t, dir, "check", "--deep")
	}
	return hit
}

// operations returns the operations whose every crash point is tested.
func operations(t *testing.T) []operation {
	t.Helper()
	base := newRepo(t)
	must(t, base, "remember", "known from the beginning")
	must(t, base, "learn", example(t))
	must(t, base, "list")
	before := must(t, base, "list", "--all")

	const text = "what is remembered now"
	remembered := operation{name: "remember", dir: base, args: []string{"-q", "remember", text}}
	remembered.state = func(t *testing.T, dir string) string {
		return oneOf(must(t, dir, "list", "--all"), before, func(list string) bool {
			return strings.Count(list, text) == 1 && strings.Count(list, "\n") == strings.Count(before, "\n")+1
		})
	}
	remembered.again = func(t *testing.T, dir string) { must(t, dir, "remember", text) }

	op := waiting(t, base)
	inbox := must(t, base, "review", "--json")
	accepted := operation{name: "accept", dir: base, args: []string{"-q", "accept", op}}
	accepted.state = func(t *testing.T, dir string) string {
		list, waits := must(t, dir, "list", "--all"), must(t, dir, "review", "--json")
		state := oneOf(list, before, func(list string) bool { return strings.Count(list, "\n") == strings.Count(before, "\n")+1 })
		switch {
		case state == "new" && waits == inbox:
			return "old" // the memory comes before the operation goes: to a user, it is still pending
		case state == "new" && waits != "", state == "old" && waits != inbox:
			return "a third state: " + list + waits
		}
		return state
	}
	accepted.again = func(t *testing.T, dir string) {
		if a := reverie(t, dir, "accept", op); a.code != 0 && !strings.Contains(a.err, "it was accepted before") {
			t.Errorf("accept again: %s", a)
		}
	}

	// Two diverged histories, with an edit of one memory in both.
	clone := copyDir(t, base)
	id := firstID(before)
	must(t, clone, "edit", id, "known from the beginning, and edited there")
	must(t, clone, "remember", "learned there")
	theirs := git(t, clone, "rev-parse", "reverie/memory")
	here := copyDir(t, base)
	must(t, here, "remember", "learned here")
	must(t, here, "edit", id, "known from the beginning, and edited here")
	git(t, here, "fetch", "-q", clone, theirs)
	apart := must(t, here, "list", "--all")
	done := copyDir(t, here)
	must(t, done, "merge", theirs)
	tree, together := git(t, done, "rev-parse", "reverie/memory^{tree}"), must(t, done, "list", "--all")
	merged := operation{name: "merge", dir: here, args: []string{"-q", "merge", theirs}}
	merged.state = func(t *testing.T, dir string) string {
		return oneOf(must(t, dir, "list", "--all"), apart, func(list string) bool {
			return list == together && git(t, dir, "rev-parse", "reverie/memory^{tree}") == tree
		})
	}
	merged.again = func(t *testing.T, dir string) { must(t, dir, "merge", theirs) }
	return []operation{remembered, accepted, merged, synced(t)}
}

// synced returns a sync of two diverged histories. The remote is beside the clone, where copyDir
// copies it too; both sides of git are exposed to the faults.
func synced(t *testing.T) operation {
	t.Helper()
	dir := newRepo(t)
	git(t, dir, "init", "-q", "--bare", bareOf(dir))
	git(t, dir, "remote", "add", "origin", "../bare.git")
	git(t, dir, "push", "-q", "origin", "HEAD:main")
	must(t, dir, "remember", "known from the beginning")
	must(t, dir, "sync", "--yes")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, "", "clone", "-q", bareOf(dir), clone)
	must(t, clone, "init")
	id := firstID(must(t, clone, "list"))
	must(t, clone, "edit", id, "known from the beginning, and edited there")
	must(t, clone, "remember", "learned there")
	must(t, clone, "sync", "--yes")
	must(t, dir, "edit", id, "known from the beginning, and edited here")
	must(t, dir, "remember", "learned here")

	before, tip := must(t, dir, "list", "--all"), git(t, bareOf(dir), "rev-parse", "reverie/memory")
	done := copyDir(t, dir)
	must(t, done, "sync", "--yes")
	tree, together := git(t, done, "rev-parse", "reverie/memory^{tree}"), must(t, done, "list", "--all")
	op := operation{name: "sync", dir: dir, args: []string{"-q", "sync", "--yes"}}
	op.state = func(t *testing.T, dir string) string {
		here := oneOf(must(t, dir, "list", "--all"), before, func(list string) bool {
			return list == together && git(t, dir, "rev-parse", "reverie/memory^{tree}") == tree
		})
		if out, err := tryGit(bareOf(dir), "fsck", "--strict", "--no-dangling"); err != nil {
			t.Errorf("git fsck of the remote: %s", out)
		}
		there := "new"
		if now := git(t, bareOf(dir), "rev-parse", "reverie/memory"); now == tip {
			there = "old"
		} else if git(t, bareOf(dir), "rev-parse", "reverie/memory^{tree}") != tree {
			return "a third state of the remote: " + now
		}
		if here == "old" && there == "new" {
			return "pushed what is not here"
		}
		return map[bool]string{true: there, false: here}[here == "new"]
	}
	op.again = func(t *testing.T, dir string) { must(t, dir, "sync", "--yes") }
	return op
}

func oneOf(now, old string, isNew func(string) bool) string {
	switch {
	case now == old:
		return "old"
	case isNew(now):
		return "new"
	}
	return "a third state: " + now
}

// firstID returns the first id in a list.
func firstID(list string) string {
	for _, w := range strings.Fields(list) {
		if len(w) == 8 && strings.Trim(w, "0123456789abcdef") == "" {
			return w
		}
	}
	return ""
}

func needStrace(t *testing.T) string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if full {
			t.Fatal("strace is needed where REVERIE_E2E is set")
		}
		t.Skip("strace is not installed; REVERIE_E2E=1 makes it necessary")
	}
	return strace
}
