package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

const ref = "refs/heads/reverie/memory"

// fixture returns a repository, our view of it, and two of its commits.
func fixture(t *testing.T, options ...string) (r *testrepo.Repo, repo *git.Repo, one, two string) {
	t.Helper()
	r = testrepo.New(t, options...)
	one, two = r.Commit("one"), r.Commit("two")
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, repo, one, two
}

// move moves the ref under the lock.
func move(t *testing.T, repo *git.Repo, new, old string) error {
	t.Helper()
	unlock, err := repo.State().Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	return repo.Refs().Move(t.Context(), ref, new, old, "test: move")
}

func TestMoveRefComparesAndLogs(t *testing.T) {
	for i, options := range [][]string{nil, {"--object-format=sha256"}, nil} {
		r, repo, one, two := fixture(t, options...)
		if i == 2 {
			repo.RefFormat = "reftable" // the path through git's own commands, which works on files too
		}
		for _, packed := range []bool{false, true} {
			if err := move(t, repo, one, ""); err != nil {
				t.Fatal(err)
			}
			if packed {
				r.Run("pack-refs", "--all")
			}
			for _, old := range []string{"", two} {
				if err := move(t, repo, two, old); !errors.Is(err, git.ErrLost) {
					t.Errorf("packed=%t: move from %q: %v, want ErrLost", packed, old, err)
				}
				if got := r.Run("rev-parse", ref); got != one {
					t.Errorf("packed=%t: after a lost move the ref is at %s, want %s", packed, got, one)
				}
			}
			if err := move(t, repo, two, one); err != nil {
				t.Fatal(err)
			}
			if got := r.Run("rev-parse", ref, ref+"@{1}"); got != two+"\n"+one {
				t.Errorf("packed=%t: git reads the ref and its log as %q", packed, got)
			}
			if err := repo.Refs().Delete(t.Context(), ref, one); !errors.Is(err, git.ErrLost) {
				t.Errorf("delete with another value: %v, want ErrLost", err)
			}
			if err := repo.Refs().Delete(t.Context(), ref, two); err != nil {
				t.Fatal(err)
			}
			if _, err := repo.Refs().Read(t.Context(), ref); !errors.Is(err, git.ErrNoRef) {
				t.Errorf("after delete: %v, want ErrNoRef", err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(repo.CommonDir, "reverie", "*.lock")); left != nil {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestLogIsTheSameFromItsFileAndFromGit(t *testing.T) {
	r, repo, one, two := fixture(t)
	if log, err := repo.Refs().Log(t.Context(), ref); log != nil || err != nil {
		t.Errorf("without a log: %v, %v", log, err)
	}
	for _, m := range [][2]string{{one, ""}, {two, one}, {one, two}} {
		if err := move(t, repo, m[0], m[1]); err != nil {
			t.Fatal(err)
		}
	}
	log, err := repo.Refs().Log(t.Context(), ref)
	if err != nil || len(log) != 3 || log[0].Old != "" || log[1].Old != one || log[2].New != one || log[2].Message != "test: move" || log[2].Seconds == 0 {
		t.Fatalf("%+v, %v", log, err)
	}
	if want := r.Run("log", "-g", "-1", "--format=%ge", ref); log[0].Email != want {
		t.Errorf("moved by %q, want %q", log[0].Email, want)
	}
	if ids := log.IDs(); !slices.Equal(ids, []string{one, two}) {
		t.Errorf("ids %q", ids)
	}
	repo.RefFormat = "reftable"
	byGit, err := repo.Refs().Log(t.Context(), ref)
	if diff := cmp.Diff(log, byGit); diff != "" || err != nil {
		t.Errorf("by git (-want +got): %v\n%s", err, diff)
	}
}

func TestDamagedLinesOfALogTellWhatTheyHave(t *testing.T) {
	r, repo, one, two := fixture(t)
	zero := strings.Repeat("0", 40)
	r.Write(".git/logs/"+ref, zero+" "+one+" A <a@B.c> 1700000000 +0000\tbegin\n"+one+" "+two+" A a@b.c> x\n"+"torn\tlast\n"+one+" "+two)
	log, err := repo.Refs().Log(t.Context(), ref)
	want := git.Log{{New: one, Email: "a@b.c", Seconds: 1700000000, Message: "begin"}, {Old: one, New: two}, {Message: "last"}, {Old: one, New: two}}
	if diff := cmp.Diff(want, log); diff != "" || err != nil {
		t.Errorf("(-want +got): %v\n%s", err, diff)
	}
}

func moveOther(t *testing.T, repo *git.Repo, new string) {
	t.Helper()
	unlock, err := repo.State().Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := repo.Refs().Move(t.Context(), "refs/reverie/journal", new, "", "test: move"); err != nil {
		t.Fatal(err)
	}
}

func TestSymbolicLinkRefIsMovedByGit(t *testing.T) {
	r, repo, one, two := fixture(t)
	r.Run("update-ref", "refs/heads/real", one)
	path := filepath.Join(repo.CommonDir, filepath.FromSlash(ref))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../real", path); err != nil {
		t.Fatal(err)
	}
	if got, err := repo.Refs().Read(t.Context(), ref); err != nil || got != one {
		t.Fatalf("read %q, %v", got, err)
	}
	if err := move(t, repo, two, one); err != nil {
		t.Fatal(err)
	}
	if got := r.Run("rev-parse", ref); got != two {
		t.Errorf("git reads %s, want %s", got, two)
	}
	if err := errors.Join(os.Remove(path), os.Symlink("../nothing", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Refs().Read(t.Context(), ref); !errors.Is(err, git.ErrBrokenRef) {
		t.Errorf("a link to nothing: %v, want ErrBrokenRef", err)
	}
}

func TestTornRefIsLookedAtAgain(t *testing.T) {
	_, repo, one, _ := fixture(t)
	path := filepath.Join(repo.CommonDir, filepath.FromSlash(ref))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Refs().Read(t.Context(), ref); !errors.Is(err, git.ErrBrokenRef) || errors.Is(err, git.ErrNoRef) {
		t.Errorf("an empty ref: %v, want ErrBrokenRef", err)
	}
	if err := move(t, repo, one, ""); err == nil {
		t.Error("a broken ref was taken for none")
	}
	// A writer that truncates first fills the file while we read: the first read sees the empty file.
	read := make(chan error)
	go func() {
		_, err := repo.Refs().Read(t.Context(), ref)
		read <- err
	}()
	if err := os.WriteFile(path+".new", []byte(one+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Errorf("a ref that was empty for a moment: %v", err)
	}
	for _, text := range []string{"garbage\n", "ref: refs/heads/main\n", one[:39] + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := repo.Refs().Read(t.Context(), ref); !errors.Is(err, git.ErrBrokenRef) {
			t.Errorf("%q: %v, want ErrBrokenRef", text, err)
		}
	}
}

func TestRefInTheWayIsNamed(t *testing.T) {
	for _, tt := range []struct{ name, other string }{
		{"a branch where our folder should be", "refs/heads/reverie"},
		{"a branch below our ref", ref + "/x"},
	} {
		for _, packed := range []bool{false, true} {
			r, repo, one, _ := fixture(t)
			r.Run("update-ref", tt.other, one)
			if packed {
				r.Run("pack-refs", "--all")
			}
			err := move(t, repo, one, "")
			if !errors.Is(err, git.ErrRefConflict) || !strings.Contains(err.Error(), tt.other) {
				t.Errorf("%s, packed=%t: %v", tt.name, packed, err)
			}
			if got := r.Run("for-each-ref", "--format=%(refname)", "refs/heads/reverie"); got != tt.other {
				t.Errorf("%s, packed=%t: refs are now %q", tt.name, packed, got)
			}
		}
	}
}

func TestEmptyFolderInPlaceOfRefIsRemoved(t *testing.T) {
	_, repo, one, _ := fixture(t)
	for _, dir := range []string{ref, "logs/" + ref} {
		if err := os.MkdirAll(filepath.Join(repo.CommonDir, filepath.FromSlash(dir), "was", "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := move(t, repo, one, ""); err != nil {
		t.Error(err)
	}
}

func TestLockFileOfDeadIsBroken(t *testing.T) {
	_, repo, one, two := fixture(t)
	if err := move(t, repo, one, ""); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(repo.CommonDir, filepath.FromSlash(ref)+".lock")
	t.Run("ours, of any age", func(t *testing.T) {
		mark := filepath.Join(repo.CommonDir, "reverie", "refs%2Fheads%2Freverie%2Fmemory.lock")
		if err := os.WriteFile(mark, []byte(two+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(mark, lock); err != nil {
			t.Fatal(err)
		}
		moveOther(t, repo, one) // a write to another of our stores does not forget the lock's owner
		if err := move(t, repo, two, one); err != nil {
			t.Error(err)
		}
	})
	t.Run("of a git that was killed long ago", func(t *testing.T) {
		if err := os.WriteFile(lock, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-2 * time.Minute)
		if err := os.Chtimes(lock, old, old); err != nil {
			t.Fatal(err)
		}
		if err := move(t, repo, one, two); err != nil {
			t.Error(err)
		}
	})
	t.Run("of a living git is waited for", func(t *testing.T) {
		if err := os.WriteFile(lock, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(100*time.Millisecond, func() { os.Remove(lock) })
		if err := move(t, repo, two, one); err != nil {
			t.Error(err)
		}
	})
}

func TestLockNamesItsHolder(t *testing.T) {
	_, repo, _, _ := fixture(t)
	unlock, err := repo.State().Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var held *file.LockError
	if _, err := repo.State().Lock(ctx); !errors.As(err, &held) || !strings.Contains(held.Holder, "process ") {
		t.Errorf("got %v", err)
	}
	unlock()
	unlock, err = repo.State().Lock(t.Context())
	if err != nil {
		t.Fatalf("after the wait that was given up: %v", err)
	}
	unlock()
}

func TestCancelledWaitForTheLockIsNoLockError(t *testing.T) {
	_, repo, _, _ := fixture(t)
	unlock, err := repo.State().Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var held *file.LockError
	if _, err := repo.State().Lock(ctx); !errors.Is(err, context.Canceled) || errors.As(err, &held) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestCheckRef(t *testing.T) {
	r := testrepo.New(t)
	for _, name := range []string{"refs/heads/reverie/memory", "refs/reverie/journal", "refs/heads/ä", "refs/heads/a@b", "refs/heads/-a",
		"refs/heads/a..b", "refs/heads/.a", "refs/heads/a.lock", "refs/heads/a.lock/b", "refs/heads/a.", "refs/heads//a", "refs/heads/a/", "refs/heads/a b",
		"refs/heads/a~", "refs/heads/a^", "refs/heads/a:", "refs/heads/a?", "refs/heads/a*", "refs/heads/a[", `refs/heads/a\b`, "refs/heads/a\x7f",
		"refs/heads/@{", "refs/heads/\n", "refs/heads/../../x"} {
		_, gitErr := r.Try("check-ref-format", name)
		if err := git.CheckRef(name); (err == nil) != (gitErr == nil) {
			t.Errorf("%q: we say %v, git says %v", name, err, gitErr)
		}
	}
	for _, name := range []string{"", "HEAD", "heads/x", "refs/x", "refs/bisect/x", "refs/worktree/x"} {
		if git.CheckRef(name) == nil {
			t.Errorf("%q is allowed", name)
		}
	}
}
