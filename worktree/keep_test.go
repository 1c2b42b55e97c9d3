package worktree

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A stopped iteration reports its leftovers like a finished one: files on the branch that the host
// would run, and files left out.
func TestStoppedIterationHasFindings(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, c := range []struct {
		name  string
		files []string
		want  []string // findings
		tree  string
	}{
		{"some are committed", []string{"Makefile", "evil", "good"}, []string{"Makefile runs", "evil left-out"}, "Makefile\nREADME\ngood"},
		{"none is committed", []string{"evil"}, []string{"evil left-out"}, "README"},
		{"nothing is wrong", []string{"good"}, nil, "README\ngood"},
	} {
		b := newBench(t, func(s *State) { s.Settings.Sandbox = "docker" })
		b.place.Sandbox.Refused = func(context.Context, []string) (map[string]string, error) {
			if !slices.Contains(c.files, "evil") {
				return nil, nil
			}
			return map[string]string{"evil": "it leads out of the tree"}, nil
		}
		b.place.Sandbox.Runs = func(path string) string {
			if path == "Makefile" {
				return "make runs it"
			}
			return ""
		}
		work := func(Turn) (Outcome, error) {
			for _, name := range c.files {
				b.in(name, "x\n")
			}
			return Outcome{}, ErrRefused
		}
		told := func() (all []string) {
			t.Helper()
			l, err := b.record.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range l.Findings {
				rule, _, _ := strings.Cut(f.Rule, "-")
				if rule == "left" {
					rule = f.Rule
				}
				all = append(all, f.File+" "+rule)
				if f.State != OpenFinding || f.By != ByHost || f.Recurrences != 0 {
					t.Errorf("%s: %+v", c.name, f)
				}
			}
			slices.Sort(all)
			return all
		}
		s := b.run(work, fine, fine)
		if s.Reason != Refusal || s.At != Coding || s.Verified {
			t.Errorf("%s: %s while %s", c.name, s.Reason, s.At)
		}
		if d := cmp.Diff(c.want, told()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if got := b.Run("ls-tree", "--name-only", "reverie/loop/two"); got != c.tree {
			t.Errorf("%s: the branch holds %q", c.name, got)
		}
		if _, err := Resume(t.Context(), b.record, b.place, s.Settings, noon); err != nil {
			t.Fatal(err)
		}
		b.steps = nil
		b.run(work, fine, fine)
		if d := cmp.Diff([]string{"stopped: refused in iteration 1, coding"}, b.steps); d != "" {
			t.Errorf("%s: stopped again with nothing new: %s", c.name, d)
		}
		if d := cmp.Diff(c.want, told()); d != "" {
			t.Errorf("%s, again: %s", c.name, d)
		}
	}
}

// A stopped iteration leaves unverified work; a person is asked about it at the iteration's end.
func TestSavedWorkIsNotVerified(t *testing.T) {
	s := midway(Coding)
	s.Verified = true
	for _, c := range []struct {
		tip  string
		want bool
	}{{"t1", true}, {"t2", false}} {
		if after := must(Next(s, Event{Kind: Saved, Tip: c.tip})); after.Verified != c.want {
			t.Errorf("tip %s: verified %v", c.tip, after.Verified)
		}
	}
}
