package worktree

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
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// bench is a loop with the test's own doers.
type bench struct {
	*testrepo.Repo
	t      *testing.T
	repo   *git.Repo
	record *Record
	place  *Place
	steps  []string
}

func newBench(t *testing.T, change func(*State)) *bench {
	t.Helper()
	r, record := newRecord(t)
	l, err := record.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&l.State)
		record = Open(record.repo, "two", nil)
		l.State.Name, l.State.Branch = "two", Branches+"two"
		if err := record.Create(t.Context(), l.State, l.Plan); err != nil {
			t.Fatal(err)
		}
	}
	place, err := PlaceOf(record.repo, l.State, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{Repo: r, t: t, repo: record.repo, record: record, place: place}
}

// run runs the loop with one function per phase.
func (b *bench) run(code, verify, audit func(t Turn) (Outcome, error)) State {
	b.t.Helper()
	lease, err := TakeLease(b.t.Context(), b.repo, b.record.Name, "")
	if err != nil {
		b.t.Fatal(err)
	}
	defer lease.Release()
	as := func(f func(Turn) (Outcome, error)) Doer {
		return func(_ context.Context, t Turn) (Outcome, error) { return f(t) }
	}
	s, err := Run(b.t.Context(), b.record, b.place, lease, Doers{
		Code: as(code), Verify: as(verify), Audit: as(audit), Now: func() time.Time { return noon },
		Told: func(before, after State, e Event) { b.steps = append(b.steps, Subject(before, after, e)) },
	})
	if err != nil {
		b.t.Fatalf("%v\n%s", err, strings.Join(b.steps, "\n"))
	}
	return s
}

// in writes a file of the loop's work tree.
func (b *bench) in(name, text string) {
	b.t.Helper()
	testrepo.At(b.t, b.place.Dir).Write(name, text)
}

func fine(Turn) (Outcome, error) { return Outcome{Passed: true}, nil }

func TestRunNeedsThreeIterations(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t, nil)
	before := b.Run("status", "--porcelain") + b.Run("rev-parse", "HEAD") + b.Run("symbolic-ref", "HEAD")
	s := b.run(
		func(turn Turn) (Outcome, error) {
			b.in("list.txt", strings.Repeat("line\n", turn.Loop.State.Iteration))
			if turn.Loop.State.Iteration == 3 && (len(turn.Loop.Findings) != 1 || turn.Loop.Findings[0].Line != 2) {
				t.Errorf("the third iteration is given %+v", turn.Loop.Findings)
			}
			return Outcome{Output: "done what I could"}, nil
		},
		func(turn Turn) (Outcome, error) {
			b.in("verified.log", "leavings of a test")
			return Outcome{Passed: turn.Loop.State.Iteration > 1}, nil
		},
		func(turn Turn) (Outcome, error) {
			if turn.Loop.State.Iteration == 2 {
				return Outcome{Audit: Audit{Findings: []Reported{{File: "list.txt", Line: 2, Severity: Bug, Text: "too short"}}}}, nil
			}
			return Outcome{}, nil
		},
	)
	want := []string{
		"coding: iteration 1", "verifying: iteration 1", "auditing: iteration 1, verification failed",
		"coding: iteration 2, verification failed, 0 findings blocking", "verifying: iteration 2", "auditing: iteration 2, verification passed",
		"coding: iteration 3, verification passed, 1 finding blocking", "verifying: iteration 3", "auditing: iteration 3, verification passed",
		"done: one after 3 iterations",
	}
	if d := cmp.Diff(want, b.steps); d != "" {
		t.Error(d)
	}
	if got := b.Run("log", "--format=%s", "main..reverie/loop/one"); got != "loop: Do it (iteration 3)\nloop: Do it (iteration 2)\nloop: Do it (iteration 1)" {
		t.Errorf("the branch:\n%s", got)
	}
	if got := b.Run("ls-tree", "--name-only", "reverie/loop/one"); got != "README\nlist.txt" {
		t.Errorf("the branch holds %q", got)
	}
	if s.Tip != b.Run("rev-parse", "reverie/loop/one") || s.Phase != Done {
		t.Errorf("%+v", s)
	}
	l, err := b.record.Load(t.Context())
	if err != nil || len(l.Findings) != 1 || l.Findings[0].State != Fixed {
		t.Errorf("findings %+v, %v", l.Findings, err)
	}
	if now := b.Run("status", "--porcelain") + b.Run("rev-parse", "HEAD") + b.Run("symbolic-ref", "HEAD"); now != before {
		t.Errorf("the user's work tree is changed: %s", now)
	}
	if out := testrepo.At(t, b.place.Dir).Run("status", "--porcelain"); out != "" {
		t.Errorf("the loop's work tree is not clean: %s", out)
	}
	if err := b.place.Remove(t.Context(), s.Tip); err != nil {
		t.Error(err)
	}
	if out := b.Run("worktree", "list"); strings.Contains(out, "loops") {
		t.Errorf("still there: %s", out)
	}
	b.Run("fsck", "--strict", "--no-dangling")
}

func TestCommitLeavesOut(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.MaxFile, s.Settings.MaxIterations = 1000, 2 })
	secret := "AKIA" + "IOSFODNN7EXAMPLX"
	s := b.run(func(turn Turn) (Outcome, error) {
		tree := testrepo.At(t, b.place.Dir)
		if turn.Loop.State.Iteration == 1 {
			b.in(".gitignore", "*.o\n")
			b.in("a.o", "object")
			b.in("forced.o", "object")
			tree.Run("add", "-f", "forced.o")
			b.in("big.bin", strings.Repeat("x", 1001))
			tree.Run("add", "big.bin")
			b.in("conf.txt", "key = "+secret+"\n")
			b.in("README", "changed\n")
			b.in(".reverie-new-1", "unfinished")
			b.in("inner/.git/HEAD", "ref: refs/heads/main\n")
			tree.Run("init", "-q", "inner")
			b.in("inner/x", "x")
			for name, target := range map[string]string{"link": "/etc/passwd", "to": "/" + secret, "was": secret + "/2"} {
				if err := os.Symlink(target, filepath.Join(b.place.Dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			b.in("of-"+secret+"/x", "x")
			return Outcome{}, nil
		}
		var open []string
		for _, f := range turn.Loop.Findings {
			if f.State == OpenFinding {
				open = append(open, f.File)
			}
		}
		if d := cmp.Diff([]string{".reverie-new-1", "big.bin", "conf.txt", "inner", "of-[redacted:aws-access-key]/x", "to", "was"}, slices.Sorted(slices.Values(open))); d != "" {
			t.Errorf("the second iteration is told: %s", d)
		}
		for _, name := range []string{"big.bin", "conf.txt", ".reverie-new-1", "inner", "to", "was", "of-" + secret} {
			os.RemoveAll(filepath.Join(b.place.Dir, name))
		}
		tree.Run("rm", "-q", "README")
		return Outcome{}, nil
	}, fine, fine)
	if s.Phase != Done || s.Iteration != 2 {
		t.Errorf("%s %s in iteration %d", s.Phase, s.Reason, s.Iteration)
	}
	if got := b.Run("ls-tree", "-r", "--name-only", "reverie/loop/two~1"); got != ".gitignore\nREADME\nlink" {
		t.Errorf("first commit: %q", got)
	}
	if got := b.Run("ls-tree", "-r", "--name-only", "reverie/loop/two"); got != ".gitignore\nlink" {
		t.Errorf("second commit: %q", got)
	}
	if _, err := os.Stat(filepath.Join(b.place.Dir, "a.o")); err != nil {
		t.Errorf("what git ignores is gone: %v", err)
	}
	if all := b.Run("log", "-p", "--all"); strings.Contains(all, secret) {
		t.Error("the secret is in a commit")
	}
}

// An agent's own commits are kept, unless they have forbidden content or are elsewhere.
func TestCommitTakesAgentsCommits(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	secret := "AKIA" + "IOSFODNN7EXAMPLX"
	for _, c := range []struct {
		name string
		work func(b *bench, tree *testrepo.Repo)
		want string // subjects of the branch
		kept bool
	}{
		{"good ones", func(b *bench, tree *testrepo.Repo) {
			b.in("a", "1\n")
			tree.Commit("agent: one")
			b.in("a", "2\n")
			tree.Commit("agent: two")
		}, "agent: two\nagent: one", false},
		{"and more after them", func(b *bench, tree *testrepo.Repo) {
			b.in("a", "1\n")
			tree.Commit("agent: one")
			b.in("b", "2\n")
		}, "loop: Do it (iteration 1)\nagent: one", false},
		{"a secret that is taken out again", func(b *bench, tree *testrepo.Repo) {
			b.in("a", secret+"\n")
			tree.Commit("agent: one")
			b.in("a", "2\n")
			tree.Commit("agent: two")
		}, "loop: Do it (iteration 1)", false},
		{"a secret in a message", func(b *bench, tree *testrepo.Repo) {
			b.in("a", "1\n")
			tree.Commit("agent: one\n\nThe key is " + secret + ".")
		}, "loop: Do it (iteration 1)", false},
		{"a secret as a name", func(b *bench, tree *testrepo.Repo) {
			b.in("a", "1\n")
			tree.Run("add", "a")
			tree.Run("-c", "user.name="+secret, "commit", "-qm", "agent: one")
		}, "loop: Do it (iteration 1)", false},
		{"a secret in a path", func(b *bench, tree *testrepo.Repo) {
			b.in("a", "1\n")
			b.in(secret+"/a", "1\n")
			tree.Commit("agent: one")
			tree.Run("rm", "-rq", secret)
			tree.Commit("agent: two")
		}, "loop: Do it (iteration 1)", false},
		{"on another branch", func(b *bench, tree *testrepo.Repo) {
			tree.Run("switch", "-q", "-c", "elsewhere")
			b.in("a", "1\n")
			tree.Commit("agent: one")
		}, "loop: Do it (iteration 1)", false},
		{"history written anew", func(b *bench, tree *testrepo.Repo) {
			b.in("a", "1\n")
			tree.Run("add", "-A")
			tree.Run("commit", "-q", "--amend", "-m", "agent: amended")
		}, "loop: Do it (iteration 1)", true},
		{"a merge left half done", func(b *bench, tree *testrepo.Repo) {
			b.in("README", "ours\n")
			tree.Commit("agent: ours")
			tree.Run("switch", "-q", "-c", "other", "HEAD~1")
			b.in("README", "theirs\n")
			tree.Commit("agent: theirs")
			tree.Run("switch", "-q", "reverie/loop/two")
			tree.Try("merge", "other")
			b.in("README", "both\n")
		}, "loop: Do it (iteration 1)\nagent: ours", false},
	} {
		b := newBench(t, func(*State) {})
		s := b.run(func(Turn) (Outcome, error) {
			c.work(b, testrepo.At(t, b.place.Dir))
			return Outcome{}, nil
		}, fine, fine)
		if got := b.Run("log", "--format=%s", "main..reverie/loop/two"); s.Phase != Done || got != c.want {
			t.Errorf("%s: %s, %q", c.name, s.Phase, got)
		}
		if kept := b.Run("for-each-ref", Kept) != ""; kept != c.kept {
			t.Errorf("%s: kept %v", c.name, kept)
		}
		if out := testrepo.At(t, b.place.Dir).Run("status"); !strings.Contains(out, "On branch reverie/loop/two") || !strings.Contains(out, "working tree clean") {
			t.Errorf("%s: %s", c.name, out)
		}
		if all := b.Run("log", "-p", "--all"); strings.Contains(all, secret) {
			t.Errorf("%s: the secret is in a commit that a ref reaches", c.name)
		}
	}
}

// After an agent is killed, the iteration restarts from the commit before it, and its leftovers are
// kept.
func TestInterruptedIterationBeginsAnew(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	lease, err := TakeLease(ctx, b.repo, "one", "")
	if err != nil {
		t.Fatal(err)
	}
	half := func(_ context.Context, turn Turn) (Outcome, error) {
		b.in("half", "done\n")
		testrepo.At(t, b.place.Dir).Commit("agent: half")
		b.in("more", "of it\n")
		b.in("README", "spoilt\n")
		cancel()
		return Outcome{}, nil
	}
	_, err = Run(ctx, b.record, b.place, lease, Doers{Code: half, Now: func() time.Time { return noon }})
	lease.Release()
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.run(func(turn Turn) (Outcome, error) {
		tree := testrepo.At(t, b.place.Dir)
		if got := tree.Run("ls-files", "--others", "--cached") + tree.Run("status", "--porcelain"); got != "README" {
			t.Errorf("it begins with %q", got)
		}
		b.in("whole", "done\n")
		return Outcome{}, nil
	}, fine, fine)
	if got := b.Run("ls-tree", "-r", "--name-only", "reverie/loop/one"); got != "README\nwhole" {
		t.Errorf("%q", got)
	}
	if got := b.Run("ls-tree", "-r", "--name-only", Kept+"one/1"); got != "README\nhalf\nmore" {
		t.Errorf("kept: %q", got)
	}
}

func TestRunStops(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	bad := func(Turn) (Outcome, error) { return Outcome{Output: "boom"}, errors.New("exit status 1") }
	n := 0
	change := func(Turn) (Outcome, error) { n++; return Outcome{}, nil }
	for _, c := range []struct {
		name  string
		set   func(*State)
		code  func(Turn) (Outcome, error)
		check func(Turn) (Outcome, error)
		audit func(Turn) (Outcome, error)
		want  string
	}{
		{"errors", func(s *State) {}, bad, fine, fine, "errors 1 coding"},
		{"audit errors", func(s *State) {}, change, fine, bad, "errors 1 auditing"},
		{"max", func(s *State) { s.Settings.MaxIterations, s.Settings.MaxRepeats = 2, 0 }, change, change, fine, "max-iterations 2 auditing"},
		{"no progress", func(s *State) { s.Settings.MaxRepeats = 2 }, change, change, fine, "no-progress 3 auditing"},
		{"sandbox", func(s *State) {}, func(Turn) (Outcome, error) { return Outcome{}, ErrSandbox }, fine, fine, "sandbox 1 coding"},
		{"refused", func(s *State) {}, func(Turn) (Outcome, error) { return Outcome{}, ErrRefused }, fine, fine, "refused 1 coding"},
		{"gone", func(s *State) {}, func(turn Turn) (Outcome, error) { return Outcome{}, os.RemoveAll(turn.Dir) }, fine, fine, "worktree-gone 1 coding"},
	} {
		b := newBench(t, c.set)
		s := b.run(c.code, c.check, c.audit)
		if got := string(s.Reason) + " " + string(rune('0'+s.Iteration)) + " " + string(s.At); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestLeaseIsHeldByOne(t *testing.T) {
	b := newBench(t, nil)
	lease, err := TakeLease(t.Context(), b.repo, "one", "")
	if err != nil {
		t.Fatal(err)
	}
	if h := Held(t.Context(), b.repo, "one"); h == nil || h.PID != os.Getpid() || h.Start == "" {
		t.Errorf("%+v", h)
	}
	if _, err := TakeLease(t.Context(), b.repo, "one", ""); !errors.Is(err, ErrHeld) {
		t.Errorf("a second one: %v", err)
	}
	lease.Release()
	if h := Held(t.Context(), b.repo, "one"); h != nil {
		t.Errorf("given back: %+v", h)
	}
}

// A place for a sandbox does not reveal the repository's location, and refused files stay out.
func TestSealedPlace(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.Sandbox, s.Settings.MaxIterations = "docker", 1 })
	b.place.Sandbox.Refused = func(context.Context, []string) (map[string]string, error) {
		return map[string]string{"evil": "it leads out of the tree", "pipe": "it is a pipe"}, nil
	}
	s := b.run(func(turn Turn) (Outcome, error) {
		if _, err := os.Lstat(filepath.Join(turn.Dir, ".git")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a .git: %v", err)
		}
		b.in("good", "x\n")
		b.in("evil", "x\n")
		return Outcome{}, nil
	}, fine, fine)
	if s.Reason != MaxIterations || s.Blocking != 2 {
		t.Errorf("%s, %d blocking", s.Reason, s.Blocking)
	}
	if got := b.Run("ls-tree", "--name-only", "reverie/loop/two"); got != "README\ngood" {
		t.Errorf("%q", got)
	}
	if err := b.place.Remove(t.Context(), s.Tip); !errors.Is(err, ErrDirty) {
		t.Errorf("removed with work in it: %v", err)
	}
	os.Remove(filepath.Join(b.place.Dir, "evil"))
	if err := b.place.Remove(t.Context(), s.Tip); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(b.place.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A failed start removes its traces, and the name is free again.
func TestFailedStartLeavesNothing(t *testing.T) {
	b := newBench(t, nil)
	l, err := b.record.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// git makes no such work tree
	l.State.Name, l.State.Branch, l.State.Base = "bad", Branches+"bad", b.Run("rev-parse", "HEAD^{tree}")
	b.record = Open(b.repo, "bad", nil)
	if err := b.record.Create(t.Context(), l.State, l.Plan); err != nil {
		t.Fatal(err)
	}
	if b.place, err = PlaceOf(b.repo, l.State, nil); err != nil {
		t.Fatal(err)
	}
	s := b.run(fine, fine, fine)
	if s.Phase != Stopped || s.Reason != Other || s.At != Starting {
		t.Errorf("%s %s", s.Phase, s.Reason)
	}
	if out := b.Run("for-each-ref", Branches) + b.Run("worktree", "list"); strings.Contains(out, "/bad") {
		t.Errorf("left: %s", out)
	}
	if _, err := os.Lstat(b.place.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}

// The wait after an error is that of the record: a loop cancelled during the wait has tried once.
func TestRunWaitsAsItWasStarted(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.Backoff = 3600 })
	lease, err := TakeLease(t.Context(), b.repo, b.record.Name, "")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	tries := 0
	s, err := Run(t.Context(), b.record, b.place, lease, Doers{
		Code: func(context.Context, Turn) (Outcome, error) {
			tries++
			return Outcome{}, errors.New("no luck")
		},
		Now: func() time.Time { return noon },
		Told: func(_, _ State, e Event) {
			if e.Kind == Failed {
				testrepo.At(t, b.place.folder).Write(cancelFile, "")
			}
		},
	})
	if err != nil || s.Reason != Cancelled || tries != 1 {
		t.Errorf("%s after %d tries: %v", s.Reason, tries, err)
	}
}

// Work that takes too long to read stops the loop, with that reason; none of it is on the branch.
func TestRunStopsAtTooMuchToRead(t *testing.T) {
	b := newBench(t, nil)
	b.place.within = time.Nanosecond
	s := b.run(func(Turn) (Outcome, error) {
		b.in("made", "x\n")
		return Outcome{}, nil
	}, fine, fine)
	if s.Reason != Other || s.Iteration != 1 || !strings.Contains(s.Detail, "could not be read within 1ns: a person must decide; take away") {
		t.Errorf("%s in iteration %d: %s", s.Reason, s.Iteration, s.Detail)
	}
	if s.Tip != s.Base || b.Run("rev-parse", s.Branch) != s.Base {
		t.Errorf("the branch moved from %s to %s", s.Base, s.Tip)
	}
	b.place.within = stageTime
	if _, err := Resume(t.Context(), b.record, b.place, s.Settings, noon); err != nil {
		t.Fatal(err)
	}
	if s = b.run(fine, fine, fine); s.Phase != Done {
		t.Errorf("with more time it is %s: %s", s.Phase, s.Detail)
	}
}
