package gitstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// objects lists the objects reachable from one revision and not from others.
func objects(r *testrepo.Repo, revs ...string) []string {
	return strings.Fields(r.Run(append([]string{"rev-list", "--objects", "--no-object-names"}, revs...)...))
}

// prune removes loose objects like a git prune that listed the refs before they moved.
func prune(t *testing.T, r *testrepo.Repo, ids []string) {
	t.Helper()
	for _, id := range ids {
		if err := os.Remove(filepath.Join(r.Dir, ".git", "objects", id[:2], id[2:])); err != nil {
			t.Fatal(err)
		}
	}
}

// A git prune may remove objects of a write at any time after the ref moved. It may take all or
// some, of the last write or an earlier one. The next reader or writer, and then git, finds
// everything.
func TestWhatAPruneTakesIsWrittenAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	read := func(t *testing.T, s *gitstore.Store) { contents(t, s) }
	again := func(t *testing.T, s *gitstore.Store) { write(t, s, map[string]string{"later.md": "later\n"}) }
	look := func(t *testing.T, s *gitstore.Store) {
		if n, err := s.Repo().Recent().Restore(t.Context()); n == 0 || err != nil {
			t.Errorf("%d objects restored, %v", n, err)
		}
	}
	for _, c := range []struct {
		name  string
		taken []string // revisions whose objects are removed; "commit X" and "tree X" mean only that one
		next  func(*testing.T, *gitstore.Store)
	}{
		{"the last write, read", []string{"~1..~0"}, read},
		{"the last write, written", []string{"~1..~0"}, again},
		{"its commit, read", []string{"commit ~0"}, read},
		{"its commit, written", []string{"commit ~0"}, again},
		{"its tree, read", []string{"tree ~0"}, read},
		{"its tree, written", []string{"tree ~0"}, again},
		{"the last three, read", []string{"~3..~0"}, read},
		{"the last three, written", []string{"~3..~0"}, again},
		{"one before the last, written", []string{"~2..~1"}, again},
		{"the commit before the last, written", []string{"commit ~1"}, again},
		{"one before the last, looked at", []string{"~2..~1"}, look},
		{"all from the beginning, read", []string{"~0"}, read},
	} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(c.name+", "+format, func(t *testing.T) {
				r := testrepo.New(t, "--object-format="+format)
				s := create(t, r)
				for i := range 4 {
					write(t, s, map[string]string{fmt.Sprintf("a/%d.md", i): fmt.Sprintf("text %d\n", i)})
				}
				want := contents(t, s)
				for _, taken := range c.taken {
					if kind, rev, ok := strings.Cut(taken, " "); ok {
						prune(t, r, []string{r.Run("rev-parse", branch+rev+"^{"+kind+"}")})
					} else if from, to, ok := strings.Cut(taken, ".."); ok {
						prune(t, r, objects(r, branch+to, "^"+branch+from))
					} else {
						prune(t, r, objects(r, branch+taken))
					}
				}
				if _, err := r.Try("fsck", "--strict"); err == nil {
					t.Fatal("git finds nothing wrong: nothing was taken")
				}
				c.next(t, s)
				r.Run("fsck", "--strict")
				got := contents(t, s)
				delete(got, "later.md")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// An existing object is copied all the same. A running prune may remove it even if the write
// refreshed its age.
func TestWhatIsReusedIsKeptToo(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	write(t, s, map[string]string{"a.md": "one\n"})
	r.Write("loose", "the same text\n")
	blob := r.Run("hash-object", "-w", "loose")
	write(t, s, map[string]string{"b.md": "the same text\n"})
	prune(t, r, []string{blob})
	if got := contents(t, s)["b.md"]; got != "the same text\n" {
		t.Errorf("b.md is %q", got)
	}
	r.Run("fsck", "--strict")
}

// The second copies are bounded in size and age, and readable by their owner alone.
func TestWhatIsKeptIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	s := create(t, r)
	dir := filepath.Join(r.Dir, ".git", "reverie", git.RecentDir)
	big := strings.Repeat("0123456789abcde\n", gitstore.MaxFile/16)
	for i := range 80 {
		write(t, s, map[string]string{"big.md": fmt.Sprint(i) + big[8:]})
	}
	size, n := int64(0), 0
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		size, n = size+info.Size(), n+1
	}
	if size > 17<<20 || n < 40 {
		t.Errorf("%d bytes in %d files are kept", size, n)
	}
	first := entries[0].Name()
	old := fmt.Sprintf("%016x", time.Now().Add(-2*time.Hour).UnixNano()) + first[16:]
	if err := os.Rename(filepath.Join(dir, first), filepath.Join(dir, old)); err != nil {
		t.Fatal(err)
	}
	write(t, s, map[string]string{"small.md": "small\n"})
	if _, err := os.Lstat(filepath.Join(dir, old)); err == nil {
		t.Errorf("%s is two hours old and kept", old)
	}
	// Foreign, truncated and changed files are skipped.
	newest := entries[len(entries)-1].Name()
	if err := os.Truncate(filepath.Join(dir, newest), 100); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "noise"), []byte("noise"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repo().Recent().Restore(t.Context()); err != nil {
		t.Error(err)
	}
	r.Run("fsck", "--strict")
}

// Processes write while git removes all unreachable objects, however young.
func TestNothingIsLostBesideAPruneOfEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, chore := range [][]string{{"gc", "-q", "--prune=now"}, {"prune", "--expire=now"}, {"repack", "-adq"}, {"maintenance", "run", "--quiet", "--task=gc"}} {
		t.Run(strings.Join(chore, " "), func(t *testing.T) {
			r := testrepo.New(t)
			s := create(t, r)
			r.Run("config", "gc.pruneExpire", "now")
			writers, each := 4, 50
			ctx, stop := context.WithCancel(t.Context())
			rounds := 0
			var keeper, done sync.WaitGroup
			keeper.Go(func() {
				for ; ctx.Err() == nil; rounds++ {
					// It may fail on objects that the next writer restores.
					r.Try(append([]string{"-c", "gc.auto=1"}, chore...)...)
				}
			})
			for w := range writers {
				done.Go(func() {
					cmd := command("append", r.Dir, fmt.Sprintf("memories/%02x/w%d", w, w), fmt.Sprint(each))
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("writer %d: %v\n%s", w, err, tail(out))
					}
				})
			}
			done.Wait()
			stop()
			keeper.Wait()
			if got, want := len(contents(t, s)), writers*each+1; got != want || rounds == 0 {
				t.Errorf("%d files, want %d, beside %d rounds", got, want, rounds)
			}
			if _, err := s.Repo().Recent().Restore(t.Context()); err != nil {
				t.Error(err)
			}
			r.Run("fsck", "--strict")
		})
	}
}

// A writer waits some time for a running gc, which gc.pid shows, as for git.
func TestCollectingIsJudgedAsGitDoes(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dead := command("find", r.Dir)
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.Dir, ".git", "gc.pid")
	for _, c := range []struct {
		name, text string
		age        time.Duration
		want       bool
	}{
		{"of this process", fmt.Sprintf("%d %s", os.Getpid(), host), 0, true},
		{"of a process that ended", fmt.Sprintf("%d %s", dead.Process.Pid, host), 0, false},
		{"of another machine", "1 some.where.else", 0, true},
		{"of another machine, half a day old", "1 some.where.else", 13 * time.Hour, false},
		{"of this process, half a day old", fmt.Sprintf("%d %s", os.Getpid(), host), 13 * time.Hour, false},
		{"without a machine", fmt.Sprint(os.Getpid()), 0, false},
		{"empty", "", 0, false},
		{"noise", "noise", 0, false},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-c.age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		if got := s.Repo().Upkeep().Collecting(); got != c.want {
			t.Errorf("a gc.pid %s: %t, want %t", c.name, got, c.want)
		}
		if _, err := r.Try("gc", "-q"); (err != nil) != c.want {
			t.Errorf("a gc.pid %s: git itself says %v", c.name, err)
		}
	}
	// It waits, but only for some time.
	if err := os.WriteFile(path, []byte(fmt.Sprintf("%d %s", os.Getpid(), host)), 0o600); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if s.Repo().Upkeep().AwaitCollection(soon) || soon.Err() != nil {
		t.Errorf("the wait for a gc that goes on ends with %v", soon.Err())
	}
	waits := make(chan bool)
	go func() { waits <- s.Repo().Upkeep().AwaitCollection(t.Context()) }()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if !<-waits {
		t.Error("a gc that ended is still waited for")
	}
}
