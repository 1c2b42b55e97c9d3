package worktree

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// newRecord returns the record of a new loop named one.
func newRecord(t *testing.T) (*testrepo.Repo, *Record) {
	t.Helper()
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	rec := Open(repo, "one", nil)
	plan, err := parsePlan("# Do it\n\n```verify\ntrue\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	s := State{Name: "one", Title: plan.Title, Phase: Starting, Branch: Branches + "one", Base: r.Run("rev-parse", "HEAD"), Run: "0123456789abcdef", Started: noon, Settings: DefaultSettings()}
	s.Settings.Command, s.Settings.Audit = []string{"sh", "-c", "true"}, "cat audit.json"
	s.Settings.Backoff = 0 // no test waits
	if err := rec.Create(t.Context(), s, plan); err != nil {
		t.Fatal(err)
	}
	return r, rec
}

func TestRecordKeepsEveryStep(t *testing.T) {
	r, rec := newRecord(t)
	ctx := t.Context()
	take := func(step Step) State {
		t.Helper()
		s, err := rec.Take(ctx, step, noon)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	take(Step{Event: Event{Kind: Placed}})
	secret := "AKIA" + "IOSFODNN7EXAMPLX"
	take(Step{Event: Event{Kind: Coded, Tip: r.Run("rev-parse", "HEAD"), Tree: "x", Took: 1.5}, Output: "key=" + secret + "\n" + strings.Repeat("long ", 40_000) + "the end"})
	take(Step{Event: Event{Kind: Checked, Passed: true}, Output: "ok\n"})
	bug := Finding{ID: "0011223344556677", File: "a.go", Line: 3, Severity: Bug, Text: "It leaks " + secret, State: OpenFinding, First: 1, By: ByAudit}
	s := take(Step{
		Event:    Event{Kind: Audited},
		Findings: func([]Finding, State) []Finding { return []Finding{bug} },
		Then:     func(e *Event, known []Finding) { e.Blocking = len(known) },
	})
	if s.Phase != Coding || s.Iteration != 2 || s.Blocking != 1 || s.Spent != 1.5 {
		t.Errorf("%+v", s)
	}
	l, err := rec.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, l.State); d != "" {
		t.Errorf("what is read is not what was written: %s", d)
	}
	if len(l.Findings) != 1 || l.Findings[0].Line != 3 || l.Plan.Verify[0] != "true" {
		t.Errorf("%+v", l)
	}
	out, err := rec.Output(ctx, 1, Coding)
	if err != nil || len(out) > maxOutput+100 || !strings.HasSuffix(out, "the end") || !strings.Contains(out, "bytes are left out") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if all := r.Run("log", "-p", Refs+"one"); strings.Contains(all, secret) {
		t.Error("a secret is in the record")
	}
	want := "coding: iteration 2, verification passed, 1 finding blocking\nauditing: iteration 1, verification passed\nverifying: iteration 1\ncoding: iteration 1\nstarting: Do it"
	if got := r.Run("log", "--format=%s", "-5", Refs+"one"); got != want {
		t.Errorf("log:\n%s\nwant:\n%s", got, want)
	}
	if _, err := rec.Take(ctx, Step{Event: Event{Kind: Placed}}, noon); !errors.Is(err, errEvent) {
		t.Errorf("a step that cannot be: %v", err)
	}
	if f, err := rec.Waive(ctx, "0011", "on purpose"); err != nil || f.State != Waived {
		t.Error(f, err)
	}
	if _, err := rec.Waive(ctx, "00", ""); err == nil {
		t.Error("a waived finding is waived again")
	}
	r.Run("fsck", "--strict", "--no-dangling")
}

// A record from before the setting of the wait after an error has the default, and stays ours.
func TestRecordWithoutBackoff(t *testing.T) {
	_, rec := newRecord(t)
	_, err := rec.store.Update(t.Context(), gitstore.Commit{Subject: "an older one"}, func(tx *gitstore.Tx) error {
		text, err := tx.Read("state.json")
		if err != nil {
			return err
		}
		older := strings.Replace(string(text), `    "backoff": 0,`+"\n", "", 1)
		if older == string(text) {
			t.Error("state.json has no line to take out")
		}
		clean, _ := rec.scanner.Text(older)
		if err := tx.Write("state.json", clean); err != nil {
			return err
		}
		return rec.sign(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := rec.Load(t.Context())
	if err != nil || !l.Own || l.State.Settings.Backoff != 2 {
		t.Errorf("own %v, waits %v seconds: %v", l.Own, l.State.Settings.Backoff, err)
	}
}

func TestRecordIsBegunOnce(t *testing.T) {
	r, rec := newRecord(t)
	ctx := context.Background()
	l, err := rec.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Create(ctx, l.State, l.Plan); !errors.Is(err, ErrTaken) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := rec.Take(ctx, Step{Event: Event{Kind: Failed, Why: "no room"}}, noon); err != nil {
		t.Fatal(err)
	}
	if err := rec.Create(ctx, l.State, l.Plan); err != nil {
		t.Errorf("after a start that failed: %v", err)
	}
	if names, err := List(ctx, rec.repo); err != nil || len(names) != 1 || names[0] != "one" {
		t.Error(names, err)
	}
	if _, err := Open(rec.repo, "two", nil).Load(ctx); !errors.Is(err, ErrNoLoop) {
		t.Errorf("none: %v", err)
	}
	two := l.State
	two.Name, two.Settings.Command = "two", []string{"agent", "--api-key", "AKIA" + "IOSFODNN7EXAMPLX"}
	if err := Open(rec.repo, "two", nil).Create(ctx, two, l.Plan); !errors.Is(err, ErrRefused) {
		t.Errorf("a secret among the arguments: %v", err)
	}
	if refs := r.Run("for-each-ref", Refs+"two"); refs != "" {
		t.Errorf("a refused one leaves %s", refs)
	}
}
