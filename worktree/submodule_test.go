package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// withSubmodule returns a loop whose base has a submodule lib, with a file lib.txt.
func withSubmodule(t *testing.T, change func(*State)) *bench {
	t.Helper()
	b := newBench(t, nil)
	from := testrepo.Init(t, filepath.Join(t.TempDir(), "lib"))
	from.Write("lib.txt", "one\n")
	from.Commit("lib: begin")
	b.Run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.ToSlash(from.Dir), "lib")
	l, err := b.record.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := l.State
	s.Name, s.Branch, s.Base = "two", Branches+"two", b.Commit("use lib")
	if change != nil {
		change(&s)
	}
	b.record = Open(b.repo, "two", nil)
	if err := b.record.Create(t.Context(), s, l.Plan); err != nil {
		t.Fatal(err)
	}
	if b.place, err = PlaceOf(b.repo, s, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// checkout checks the submodule out, as an agent would.
func (b *bench) checkout() *testrepo.Repo {
	b.t.Helper()
	testrepo.At(b.t, b.place.Dir).Run("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	return testrepo.At(b.t, filepath.Join(b.place.Dir, "lib"))
}

// Changes in a submodule do not reach the branch: they are reported, and the plan's commands do not
// see them.
func TestSubmoduleIsSetBack(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, c := range []struct {
		name string
		work func(b *bench)
		want string // text of the finding
		left string // the kept file
	}{
		{"a change", func(b *bench) { b.checkout().Write("lib.txt", "two\n") }, "with changes that are not committed", "lib/lib.txt"},
		{"a new file", func(b *bench) { b.checkout().Write("more/new.txt", "two\n") }, "with changes that are not committed", "lib/more"},
		{"a commit", func(b *bench) { b.checkout().Write("lib.txt", "two\n"); b.at("lib").Commit("two") }, "at another commit", "lib.bundle"},
		{"a commit in the index", func(b *bench) {
			b.checkout().Write("lib.txt", "two\n")
			b.at("lib").Commit("two")
			b.at("").Run("add", "lib")
		}, "at another commit", "lib.bundle"},
		{"files where none is checked out", func(b *bench) { b.in("lib/lib.txt", "two\n") }, "not checked out", "lib/lib.txt"},
	} {
		b := withSubmodule(t, nil)
		s := b.run(func(turn Turn) (Outcome, error) {
			if turn.Loop.State.Iteration > 1 {
				return Outcome{}, nil
			}
			c.work(b)
			b.in("good", "x\n")
			return Outcome{}, nil
		}, func(turn Turn) (Outcome, error) {
			text, err := os.ReadFile(filepath.Join(turn.Dir, "lib", "lib.txt"))
			if err == nil && strings.TrimSpace(string(text)) != "one" {
				t.Errorf("%s: the commands see %q", c.name, text)
			}
			if out := b.at("").Run("status", "--porcelain", "--ignore-submodules=none"); out != "" {
				t.Errorf("%s: the commands see %s", c.name, out)
			}
			b.in("lib/made", "by a command\n") // which is not the agent's work
			return Outcome{Passed: true}, nil
		}, fine)
		if s.Phase != Done || s.Iteration != 2 {
			t.Errorf("%s: %s %s in iteration %d\n%s", c.name, s.Phase, s.Reason, s.Iteration, strings.Join(b.steps, "\n"))
		}
		l, err := b.record.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Findings) != 1 || l.Findings[0].File != "lib" || l.Findings[0].State != Fixed || l.Findings[0].First != 1 || !strings.Contains(l.Findings[0].Text, c.want) || !strings.Contains(l.Findings[0].Scenario, "of a submodule") {
			t.Errorf("%s: %+v", c.name, l.Findings)
		}
		if _, err := os.Stat(filepath.Join(b.place.folder, "left", "20261120T120000", filepath.FromSlash(c.left))); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := b.Run("diff", "--name-only", s.Base, s.Tip); got != "good" {
			t.Errorf("%s: the branch brings %q", c.name, got)
		}
	}
}

// at returns a folder of the loop's work tree.
func (b *bench) at(name string) *testrepo.Repo {
	return testrepo.At(b.t, filepath.Join(b.place.Dir, filepath.FromSlash(name)))
}

// A submodule whose repository is elsewhere is not touched there.
func TestSubmoduleElsewhereIsLeftAlone(t *testing.T) {
	b := withSubmodule(t, func(s *State) { s.Settings.MaxIterations = 1 })
	own := filepath.Join(b.Dir, "lib")
	before := testrepo.At(t, own).Run("rev-parse", "HEAD")
	b.run(func(Turn) (Outcome, error) {
		b.in("lib/.git", "gitdir: "+filepath.ToSlash(testrepo.At(t, own).Run("rev-parse", "--absolute-git-dir"))+"\n")
		b.at("lib").Run("commit", "-q", "--allow-empty", "-m", "elsewhere")
		return Outcome{}, nil
	}, fine, fine)
	if got := testrepo.At(t, own).Run("rev-parse", "HEAD~1"); got != before {
		t.Errorf("at %s, before %s", got, before)
	}
	if _, err := os.Lstat(filepath.Join(b.place.folder, "left", "20261120T120000", "lib", ".git")); err != nil {
		t.Error(err)
	}
}

// A work tree with a submodule can be removed, unless that loses data.
func TestRemoveWithSubmodule(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := withSubmodule(t, func(s *State) { s.Settings.RemoveTree = true })
	code := func(Turn) (Outcome, error) { b.checkout(); b.in("good", "x\n"); return Outcome{}, nil }
	if s := b.run(code, fine, fine); s.Phase != Done {
		t.Errorf("%s %s", s.Phase, s.Reason)
	}
	if _, err := os.Lstat(b.place.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if out := b.Run("worktree", "list"); strings.Contains(out, "loops") {
		t.Errorf("git still knows it: %s", out)
	}

	b = withSubmodule(t, func(s *State) { s.Settings.RemoveTree = true })
	var stays error
	lease, err := TakeLease(t.Context(), b.repo, "two", "")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	commits := func(context.Context, Turn) (Outcome, error) { // the branch names a commit that no one else has
		lib := b.checkout()
		lib.Run("commit", "-q", "--allow-empty", "-m", "two")
		b.at("").Commit("agent: use two")
		return Outcome{}, nil
	}
	passes := func(context.Context, Turn) (Outcome, error) { return Outcome{Passed: true}, nil }
	s, err := Run(t.Context(), b.record, b.place, lease, Doers{
		Code: commits, Verify: passes, Audit: passes, Now: func() time.Time { return noon }, Stays: func(err error) { stays = err },
	})
	if err != nil || s.Phase != Done || !errors.Is(stays, ErrDirty) || !strings.Contains(stays.Error(), "push it") {
		t.Errorf("%s, %v; stays: %v", s.Phase, err, stays)
	}
	b.at("lib").Run("push", "-q", "origin", "HEAD:refs/heads/two")
	if err := b.place.Remove(t.Context(), s.Tip); err != nil {
		t.Error(err)
	}
}

// Files deleted without git's knowledge do not prevent removal.
func TestRemoveWhatIsDeleted(t *testing.T) {
	for _, what := range []string{"", ".git"} {
		b := newBench(t, nil)
		s := b.run(func(Turn) (Outcome, error) { b.in("good", "x\n"); return Outcome{}, nil }, fine, fine)
		if err := os.RemoveAll(filepath.Join(b.place.Dir, what)); err != nil {
			t.Fatal(err)
		}
		if err := b.place.Remove(t.Context(), s.Tip); err != nil {
			t.Errorf("without %q: %v", what, err)
		}
		if strings.Contains(b.Run("worktree", "list"), "loops") {
			t.Errorf("without %q git still knows it: %s", what, b.Run("worktree", "list"))
		}
		if _, err := os.Lstat(b.place.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without %q: %v", what, err)
		}
	}
}
