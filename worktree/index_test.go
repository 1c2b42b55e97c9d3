package worktree

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// indexed returns a loop in which a person works, and its git directory.
func indexed(t *testing.T) (b *bench, gitDir, lock string) {
	t.Helper()
	b = byHand(t)
	gitDir, err := b.place.gitDir()
	if err != nil {
		t.Fatal(err)
	}
	return b, gitDir, filepath.Join(gitDir, "index.lock")
}

// A killed holder leaves git's lock of the index behind, and settle removes it. Locks of a person's
// git or of another loop stay.
func TestSettleRemovesNoLockButItsOwn(t *testing.T) {
	b, _, lock := indexed(t)
	for _, c := range []struct {
		name, text string
		stays      bool
	}{
		{"its own", b.place.indexLock("").mark, false},
		{"of a git that has just taken it", "", true},
		{"of a git that writes", "DIRC" + strings.Repeat("\x00", 200), true},
		{"of another loop", "reverie loop another\n", true},
	} {
		if err := os.WriteFile(lock, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := b.place.settle(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Lstat(lock); (err == nil) != c.stays {
			t.Errorf("%s: %v", c.name, err)
		}
		os.Remove(lock)
	}
	if err := b.place.settle(); err != nil {
		t.Errorf("without a lock: %v", err)
	}
}

// An agent's git that was killed during a commit leaves the lock of the loop's branch.
func TestCommitClearsTheBranchLockOfAKilledGit(t *testing.T) {
	b := newBench(t, nil)
	if err := b.place.Make(t.Context(), b.Run("rev-parse", "HEAD")); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(b.Dir, ".git", filepath.FromSlash(b.place.branch)+".lock")
	for _, age := range []time.Duration{0, time.Hour} {
		name := filepath.Join(b.place.Dir, age.String())
		if err := errors.Join(os.WriteFile(name, nil, 0o644), os.WriteFile(lock, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		made := time.Now().Add(-age)
		if err := os.Chtimes(lock, made, made); err != nil {
			t.Fatal(err)
		}
		tip, err := b.place.Tip(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := b.place.Commit(t.Context(), tip, Message{Subject: "one"}, noon)
		if err != nil || c.Tip == tip {
			t.Errorf("age %v: %v, tip %s", age, err, c.Tip)
		}
		if _, err := os.Lstat(lock); err == nil {
			t.Errorf("age %v: the lock is still there", age)
		}
	}
}

// A git that takes the lock right after an index was installed, or given up, keeps it.
func TestIndexLetsGoOfTheLockOnce(t *testing.T) {
	for _, end := range []func(*ownIndex) error{
		(*ownIndex).install,
		func(i *ownIndex) error { i.giveUp(); return nil },
	} {
		b, gitDir, lock := indexed(t)
		index, err := b.place.takeIndex(gitDir)
		if err != nil {
			t.Fatal(err)
		}
		tree := testrepo.At(t, b.place.Dir)
		tree.Write("new", "1\n")
		if out, err := tree.Try("add", "new"); err == nil {
			t.Errorf("a git of the person's changed the index: %s", out)
		}
		if _, err := b.place.takeIndex(gitDir); err == nil {
			t.Error("the index is taken twice")
		} else if _, err := os.Lstat(index.path); err != nil {
			t.Errorf("the second took away the copy of the first: %v", err)
		}
		if err := end(index); err != nil {
			t.Fatal(err)
		}
		tree.Run("add", "new")
		if err := os.WriteFile(lock, nil, 0o644); err != nil { // a git begins
			t.Fatal(err)
		}
		if err := os.WriteFile(index.path, nil, 0o644); err != nil { // and another loop, in place
			t.Fatal(err)
		}
		index.giveUp()
		for _, name := range []string{lock, index.path} {
			if _, err := os.Lstat(name); err != nil {
				t.Errorf("what somebody else has made is gone: %v", err)
			}
		}
	}
}

// A loop's commit in a person's work tree leaves no file in the git directory.
func TestCommitLeavesNoLock(t *testing.T) {
	b := newBench(t, nil)
	b.run(func(Turn) (Outcome, error) { b.in("a", "1\n"); return Outcome{}, nil }, fine, fine)
	b.place.theirs = true
	b.in("b", "2\n")
	tip, err := b.place.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.place.Commit(t.Context(), tip, Message{Subject: "more"}, noon)
	if err != nil || c.Tip == tip {
		t.Fatalf("%+v, %v", c, err)
	}
	gitDir, err := b.place.gitDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.lock", "index.reverie-loop", "index.reverie-loop.lock"} {
		if _, err := os.Lstat(filepath.Join(gitDir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out := testrepo.At(t, b.place.Dir).Run("status", "--porcelain"); out != "" {
		t.Errorf("status: %s", out)
	}
}

// Git detects a same-size change made in the second of the index write only because it distrusts
// files as new as the index. So the copy has the same time as the original.
func TestIndexIsCopiedWithItsTime(t *testing.T) {
	b, gitDir, _ := indexed(t)
	name, second := filepath.Join(b.place.Dir, "same.txt"), time.Now().Add(-time.Hour).Truncate(time.Second)
	put := func(text string) {
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, second, second)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(index string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "core.trustctime=false"}, args...)...)
		cmd.Dir, cmd.Env = b.place.Dir, append(os.Environ(), "GIT_INDEX_FILE="+index)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	put("1\n")
	run(filepath.Join(gitDir, "index"), "add", "same.txt")
	if err := os.Chtimes(filepath.Join(gitDir, "index"), second, second); err != nil {
		t.Fatal(err)
	}
	put("2\n")
	index, err := b.place.takeIndex(gitDir)
	if err != nil {
		t.Fatal(err)
	}
	defer index.giveUp()
	if got := run(index.path, "diff-files", "--name-only"); got != "same.txt" {
		t.Errorf("changed: %q", got)
	}
}
