package cmd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// fullNumbers is true where the full numbers are wanted: in CI, which sets REVERIE_E2E.
var fullNumbers = os.Getenv("REVERIE_E2E") != ""

// newRepo is a repository with a memory, for the real command.
func newRepo(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Run("commit", "--allow-empty", "-qm", "one")
	reverie(t, r.Dir, "init")
	return r
}

// reverie runs the command as a process of its own and returns its answer.
func reverie(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("reverie", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reverie %q: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

// Eight processes remember at once while git packs refs and objects beside them: every statement
// is there afterwards, and git finds nothing wrong.
func TestWritersBesideGitLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const writers = 8
	each := 12
	if fullNumbers {
		each = 100
	}
	r := newRepo(t)
	done := make(chan struct{})
	var beside sync.WaitGroup
	var rounds atomic.Int32
	beside.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, args := range [][]string{{"pack-refs", "--all"}, {"repack", "-adq"}, {"gc", "-q"}} {
				cmd := exec.Command("git", args...)
				cmd.Dir = r.Dir
				_ = cmd.Run() // two of them may refuse to run at once
			}
			rounds.Add(1)
		}
	})
	var group sync.WaitGroup
	errs := make(chan string, writers*each)
	for w := range writers {
		group.Go(func() {
			for i := range each {
				cmd := exec.Command("reverie", "-q", "remember", fmt.Sprintf("writer %d says %d", w, i))
				cmd.Dir = r.Dir
				if out, err := cmd.CombinedOutput(); err != nil {
					errs <- fmt.Sprintf("writer %d, %d: %v: %s", w, i, err, out)
				}
			}
		})
	}
	group.Wait()
	close(done)
	beside.Wait()
	close(errs)
	for e := range errs {
		t.Error(e)
	}
	if n := strings.Count(reverie(t, r.Dir, "list"), "\n"); n != writers*each {
		t.Errorf("%d memories, want %d", n, writers*each)
	}
	if rounds.Load() < 3 {
		t.Errorf("git ran %d rounds only beside the writers", rounds.Load())
	}
	reverie(t, r.Dir, "check", "--deep")
	r.Run("fsck", "--strict", "--no-dangling")
}

// fuse kills processes at moments at which they are likely at work.
type fuse struct {
	longest time.Duration // what one of them takes, as far as is known
	random  *rand.Rand
}

// kill starts a process, kills it, and reports whether it was unfinished. A finished process shows
// how fast the machine is.
func (f *fuse) kill(t *testing.T, cmd *exec.Cmd) bool {
	t.Helper()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(f.random.Int64N(int64(f.longest))))
	_ = cmd.Process.Kill()
	if cmd.Wait() != nil {
		f.longest += f.longest / 10
		return true
	}
	f.longest = max(min(f.longest, time.Since(began)*9/10), time.Millisecond)
	return false
}

// Processes are killed at random moments. Every acknowledged write is there, git finds nothing
// wrong, and the next command needs no repair.
func TestKilledWritersLoseNothingAcknowledged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	kills := 25
	if fullNumbers {
		kills = 200
	}
	r := newRepo(t)
	took := time.Duration(0)
	for i := range 3 {
		began := time.Now()
		reverie(t, r.Dir, "-q", "remember", fmt.Sprintf("to see how long it takes, %d", i))
		took = max(took, time.Since(began))
	}
	fuse := fuse{took, rand.New(rand.NewPCG(1, uint64(kills)))}
	acknowledged := map[string]bool{}
	killed := 0
	for i := range kills {
		text := fmt.Sprintf("statement %d of the killed", i)
		cmd := exec.Command("reverie", "-q", "remember", text)
		cmd.Dir = r.Dir
		if fuse.kill(t, cmd) {
			killed++
		} else {
			acknowledged[text] = true
		}
	}
	reverie(t, r.Dir, "-q", "remember", "after all of them")
	all := reverie(t, r.Dir, "list")
	for text := range acknowledged {
		if !strings.Contains(all, text+"\n") {
			t.Errorf("acknowledged and gone: %s", text)
		}
	}
	if killed < kills/4 {
		t.Errorf("only %d of %d kills hit a process that was not done", killed, kills)
	}
	reverie(t, r.Dir, "check", "--deep")
	r.Run("fsck", "--strict", "--no-dangling")
	t.Logf("%d killed, %d acknowledged before", killed, len(acknowledged))
}

// Several processes begin the same memory at once: one makes it, all write into it.
func TestFirstWritersFindEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, adopt := range []bool{false, true} {
		r := testrepo.New(t)
		r.Run("commit", "--allow-empty", "-qm", "one")
		want := 8
		if adopt {
			reverie(t, r.Dir, "-q", "remember", "known at the origin")
			clone := t.TempDir()
			r.Run("clone", "-q", ".", clone)
			r = testrepo.At(t, clone)
			want++
		}
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				cmd := exec.Command("reverie", "-q", "remember", fmt.Sprintf("first statement %d", i))
				cmd.Dir = r.Dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
		group.Wait()
		if n := strings.Count(reverie(t, r.Dir, "list"), "\n"); n != want {
			t.Errorf("%d memories, want %d (adopt %v)", n, want, adopt)
		}
	}
}
