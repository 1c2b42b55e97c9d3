package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// carry is Carry with the test's own doers. It releases the lease before it returns.
func (b *bench) carry(lease *Lease, do Doers) State {
	b.t.Helper()
	do.Now = func() time.Time { return noon }
	do.Told = func(before, after State, e Event) { b.steps = append(b.steps, Subject(before, after, e)) }
	s, err := Carry(b.t.Context(), b.record, b.place, lease, do)
	if err != nil {
		b.t.Fatalf("%v\n%s", err, strings.Join(b.steps, "\n"))
	}
	if !Free(b.t.Context(), b.repo, b.record.Name) {
		b.t.Error("the lease is not given back")
	}
	return s
}

func (b *bench) lease() *Lease {
	b.t.Helper()
	lease, err := TakeLease(b.t.Context(), b.repo, b.record.Name, "")
	if err != nil {
		b.t.Fatal(err)
	}
	return lease
}

// committed commits a file in the loop's work tree, like a person.
func (b *bench) committed(name, text string) string {
	b.t.Helper()
	b.in(name, text)
	tree := testrepo.At(b.t, b.place.Dir)
	tree.Run("add", name)
	tree.Run("commit", "-q", "-m", "person: "+name)
	return tree.Run("rev-parse", "HEAD")
}

func does(f func(t Turn) (Outcome, error)) Doer {
	return func(_ context.Context, t Turn) (Outcome, error) { return f(t) }
}

// byHand returns a loop in which a person commits, placed and waiting.
func byHand(t *testing.T) *bench {
	b := newBench(t, func(s *State) { s.Settings.Agent, s.Settings.Command = Hand, nil })
	waited := false
	s := b.carry(b.lease(), Doers{Waits: func(State) { waited = true }})
	if s.Phase != Coding || !waited || s.Given != "" {
		t.Fatalf("a loop by hand that begins: %+v", s)
	}
	return b
}

// Commits made after a supervisor was killed are the iteration's work; no agent codes it again.
func TestWakeEndsTheCodingOfAnInterruptedLoop(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	lease := b.lease()
	if _, err := Run(ctx, b.record, b.place, lease, Doers{Now: func() time.Time { return noon }, Code: func(context.Context, Turn) (Outcome, error) {
		b.committed("half", "1\n")
		cancel()
		return Outcome{}, nil
	}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	lease.Release()
	tip := b.committed("whole", "2\n")
	b.in("more", "3\n")
	lease = b.lease()
	for range 2 { // the second was killed right after the first
		s, wanted, err := Wake(t.Context(), b.record, b.place, noon)
		if err != nil || !wanted || s.Given != tip || s.Phase != Coding {
			t.Fatalf("%+v, %v, %v", s, wanted, err)
		}
	}
	coded := 0
	s := b.carry(lease, Doers{
		Code: does(func(turn Turn) (Outcome, error) {
			coded++
			if turn.Loop.State.Iteration != 2 {
				t.Errorf("the agent is asked for iteration %d", turn.Loop.State.Iteration)
			}
			b.in("fixed", "4\n")
			return Outcome{}, nil
		}),
		Verify: does(func(turn Turn) (Outcome, error) {
			b.in("README", "what a person writes while it is verified\n")
			return Outcome{Passed: turn.Loop.State.Iteration == 2}, nil
		}),
		Audit: does(fine),
	})
	if s.Phase != Done || s.Iteration != 2 || coded != 1 {
		t.Errorf("%s in iteration %d, coded %d times\n%s", s.Phase, s.Iteration, coded, strings.Join(b.steps, "\n"))
	}
	want := "loop: Do it (iteration 2)\nloop: Do it (iteration 1)\nperson: whole\nperson: half"
	if got := b.Run("log", "--format=%s", "main..reverie/loop/one"); got != want {
		t.Errorf("the branch:\n%s", got)
	}
	if got := b.Run("show", Kept+"one/1:README"); got != "what a person writes while it is verified" {
		t.Errorf("kept: %q", got)
	}
}

func TestWakeLeavesOthersAlone(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []Event
		want  bool
	}{
		{"coding", []Event{{Kind: Placed}}, true},
		{"verifying", []Event{{Kind: Placed}, {Kind: Coded, Tip: "x", Tree: "x"}}, false},
		{"auditing", []Event{{Kind: Placed}, {Kind: Coded, Tip: "x", Tree: "x"}, {Kind: Checked}}, false},
		{"cancelled", []Event{{Kind: Placed}, {Kind: Halted, Reason: Cancelled}}, false},
		{"done", []Event{{Kind: Placed}, {Kind: Coded, Tip: "x", Tree: "x"}, {Kind: Checked, Passed: true}, {Kind: Audited}}, false},
	} {
		b := newBench(t, nil)
		if err := b.place.Make(t.Context(), b.Run("rev-parse", "main")); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.steps {
			if _, err := b.record.Take(t.Context(), Step{Event: e}, noon); err != nil {
				t.Fatal(err)
			}
		}
		if s, wanted, err := Wake(t.Context(), b.record, b.place, noon); wanted || err != nil || s.Given != "" {
			t.Errorf("%s, without a commit: %v, %v, %q", c.name, wanted, err, s.Given)
		}
		b.committed("a", "1\n")
		before := b.Run("rev-parse", Refs+"one")
		if _, wanted, err := Wake(t.Context(), b.record, b.place, noon); wanted != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, wanted, err)
		}
		if moved := before != b.Run("rev-parse", Refs+"one"); moved != c.want {
			t.Errorf("%s: the record moved: %v", c.name, moved)
		}
	}
}

// A commit arrives while an idle supervisor still holds the lease: its hook leaves it to that
// supervisor, which finds it.
func TestCommitOfTheLastMomentIsCarriedOn(t *testing.T) {
	b := byHand(t)
	times := 0
	s := b.carry(b.lease(), Doers{
		Verify: does(fine), Audit: does(fine),
		Waits: func(State) {
			if times++; times > 1 {
				return
			}
			b.committed("a", "1\n")
			if Free(t.Context(), b.repo, "two") {
				t.Error("the hook would begin a second one")
			}
			if _, err := TakeLease(t.Context(), b.repo, "two", ""); !errors.Is(err, ErrHeld) {
				t.Errorf("a second one: %v", err)
			}
		},
	})
	if s.Phase != Done || times != 1 {
		t.Errorf("%s, waited %d times\n%s", s.Phase, times, strings.Join(b.steps, "\n"))
	}
}

// A commit arrives while a process woken by an earlier commit has the lease and has not looked yet:
// that process handles both.
func TestCommitBeforeTheWokenBeginIsTaken(t *testing.T) {
	b := byHand(t)
	b.committed("a", "1\n")
	lease := b.lease()
	if _, wanted, err := Wake(t.Context(), b.record, b.place, noon); !wanted || err != nil {
		t.Fatal(wanted, err)
	}
	tip := b.committed("b", "2\n")
	if Free(t.Context(), b.repo, "two") {
		t.Error("the hook would begin a second one")
	}
	ended := false
	s := b.carry(lease, Doers{Verify: does(fine), Audit: does(fine), Ended: func(State) { ended = !Free(t.Context(), b.repo, "two") }})
	if s.Phase != Done || s.Tip != tip || s.Iteration != 1 || !ended {
		t.Errorf("%s at %s in iteration %d, told with the lease held: %v", s.Phase, s.Tip, s.Iteration, ended)
	}
}

// A stale sign of a killed holder, or a mere probe, does not prevent carrying a loop on.
func TestFreeIsNotMistaken(t *testing.T) {
	b := byHand(t)
	lease := b.lease()
	word, err := os.ReadFile(filepath.Join(lease.dir, leaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if Free(t.Context(), b.repo, "two") {
		t.Error("free while it is held")
	}
	lease.Release()
	if err := os.WriteFile(filepath.Join(lease.dir, leaseFile), word, 0o600); err != nil {
		t.Fatal(err)
	}
	if !Free(t.Context(), b.repo, "two") {
		t.Error("held by one who is gone")
	}
}

// The verified work is that of the record: later commits belong to the next iteration.
func TestHandDoesNotCountWhatMovedOn(t *testing.T) {
	b := byHand(t)
	b.committed("a", "1\n")
	s := b.carry(b.lease(), Doers{
		Verify: does(func(turn Turn) (Outcome, error) {
			if turn.Loop.State.Iteration == 1 {
				b.committed("b", "2\n")
			}
			b.in("leavings", "of the person's, or of the commands\n")
			return Outcome{Passed: true, Output: "ok\n"}, nil
		}),
		Audit: does(fine),
	})
	want := []string{
		"coding: iteration 1, ended by commit " + b.Run("rev-parse", "reverie/loop/two~1")[:12], "verifying: iteration 1", "auditing: iteration 1, verification failed",
		"coding: iteration 2, verification failed, 0 findings blocking",
		"coding: iteration 2, ended by commit " + s.Tip[:12], "verifying: iteration 2", "auditing: iteration 2, verification passed", "done: two after 2 iterations",
	}
	if d := cmp.Diff(want, b.steps[1:]); d != "" {
		t.Error(d)
	}
	if out, err := b.record.Output(t.Context(), 1, Verifying); err != nil || !strings.Contains(out, "ok\n[while the commands ran, the branch moved on to "+s.Tip[:12]) {
		t.Errorf("%q, %v", out, err)
	}
	if got := b.Run("log", "--format=%s", "main..reverie/loop/two"); got != "person: b\nperson: a" {
		t.Errorf("the branch:\n%s", got)
	}
	if got := testrepo.At(t, b.place.Dir).Run("status", "--porcelain"); got != "?? leavings" {
		t.Errorf("the work tree: %q", got)
	}
}

// After the supervisor of a loop by hand was killed during verification, the next commit carries
// the loop on.
func TestHandGoesOnFromAnyPhase(t *testing.T) {
	b := byHand(t)
	b.committed("a", "1\n")
	ctx, cancel := context.WithCancel(t.Context())
	lease := b.lease()
	Run(ctx, b.record, b.place, lease, Doers{Now: func() time.Time { return noon }, Verify: func(context.Context, Turn) (Outcome, error) {
		cancel()
		return Outcome{}, nil
	}})
	lease.Release()
	b.committed("b", "2\n")
	lease = b.lease()
	if s, wanted, err := Wake(t.Context(), b.record, b.place, noon); s.Phase != Verifying || !wanted || err != nil {
		t.Fatal(s.Phase, wanted, err)
	}
	if s := b.carry(lease, Doers{Verify: does(fine), Audit: does(fine)}); s.Phase != Done || s.Iteration != 2 || s.Tip != b.Run("rev-parse", "reverie/loop/two") {
		t.Errorf("%s in iteration %d\n%s", s.Phase, s.Iteration, strings.Join(b.steps, "\n"))
	}
}

func TestInPlaceFileIsThereWhileALoopIs(t *testing.T) {
	r, record := newRecord(t)
	l, err := record.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Repo: r, t: t, repo: record.repo, record: Open(record.repo, "here", nil)}
	l.State.Name, l.State.Branch, l.State.InPlace, l.State.Settings.Agent, l.State.Settings.Command = "here", "refs/heads/main", b.repo.WorkTree, Hand, nil
	if err := b.record.Create(t.Context(), l.State, l.Plan); err != nil {
		t.Fatal(err)
	}
	if b.place, err = PlaceOf(b.repo, l.State, nil); err != nil {
		t.Fatal(err)
	}
	there := func() bool {
		if err := ForgetPlaces(t.Context(), b.repo); err != nil {
			t.Fatal(err)
		}
		_, err := os.Lstat(filepath.Join(b.repo.CommonDir, "reverie", inPlaceFile))
		return err == nil
	}
	if there() {
		t.Error("there before a loop began")
	}
	b.carry(b.lease(), Doers{})
	if !there() {
		t.Error("gone while a loop waits")
	}
	if _, err := Cancel(t.Context(), b.repo, b.record, b.place, func() time.Time { return noon }); err != nil {
		t.Fatal(err)
	}
	if there() {
		t.Error("there after the loop was cancelled")
	}
}

// A loop can be handed from a person to an agent and back. Files in the work tree are committed for
// the agent, and left to the person.
func TestResumeHandsALoopOver(t *testing.T) {
	b := byHand(t)
	l, err := b.record.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hand, agent := l.State.Settings, l.State.Settings
	agent.Agent, agent.Command = "", []string{"agent"}
	b.committed("a", "1\n")
	b.in("b", "2\n")
	lease := b.lease()
	s, err := Resume(t.Context(), b.record, b.place, agent, noon)
	if err != nil || s.Phase != Coding || s.Tip != b.Run("rev-parse", "reverie/loop/two") {
		t.Fatalf("%+v, %v", s, err)
	}
	if b.place, err = PlaceOf(b.repo, s, nil); err != nil {
		t.Fatal(err)
	}
	s = b.carry(lease, Doers{
		Code: does(func(Turn) (Outcome, error) {
			if got := testrepo.At(t, b.place.Dir).Run("ls-files"); got != "README\na\nb" {
				t.Errorf("the agent begins with %q", got)
			}
			return Outcome{}, nil
		}),
		Verify: func(ctx context.Context, _ Turn) (Outcome, error) { return Outcome{}, ErrRefused }, Audit: does(fine),
	})
	if s.Reason != Refusal {
		t.Fatalf("%+v", s)
	}
	s.Settings = hand
	b.in("c", "3\n")
	lease = b.lease()
	if s, err = Resume(t.Context(), b.record, b.place, hand, noon); err != nil || s.Phase != Verifying {
		t.Fatalf("%+v, %v", s, err)
	}
	if b.place, err = PlaceOf(b.repo, s, nil); err != nil {
		t.Fatal(err)
	}
	waited := false
	s = b.carry(lease, Doers{Verify: does(func(Turn) (Outcome, error) { return Outcome{}, nil }), Audit: does(fine), Waits: func(State) { waited = true }})
	if !waited || s.Phase != Coding || s.Iteration != 2 {
		t.Errorf("%+v", s)
	}
	if got := testrepo.At(t, b.place.Dir).Run("status", "--porcelain"); got != "?? c" {
		t.Errorf("the work tree: %q", got)
	}
	if got := b.Run("log", "--format=%s", "main..reverie/loop/two"); got != "loop: Do it (before iteration 1 goes on)\nperson: a" {
		t.Errorf("the branch:\n%s", got)
	}
}
