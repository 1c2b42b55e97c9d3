package worktree

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The record reports silence for as long as it lasts.
func TestStallsEndWhenSomethingIsHeard(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.StallTime, s.Settings.MaxStalls = 0.5, 0 })
	until := func(what string, is func(stalls int) bool, each func()) {
		for range 300 {
			each()
			l, err := b.record.Load(t.Context())
			if err != nil {
				t.Error(err)
			} else if is(l.State.Stalls) {
				return
			}
			time.Sleep(look)
		}
		t.Errorf("never %s", what)
	}
	pass := func(Turn) (Outcome, error) { return Outcome{Passed: true}, nil }
	s := b.run(func(turn Turn) (Outcome, error) {
		until("silent", func(n int) bool { return n > 0 }, func() {})
		until("heard again", func(n int) bool { return n == 0 }, turn.Heard)
		return Outcome{}, nil
	}, pass, pass)
	if s.Phase != Done {
		t.Errorf("%+v", s)
	}
}

// The visible output of a phase is never older than the phase.
func TestLiveBeginsWithTheWatch(t *testing.T) {
	o := newOnlooker(t)
	if l := LiveOf(o.repo, "one"); l == nil || cmp.Diff([]time.Time{noon, noon}, []time.Time{l.Began, l.Heard}) != "" {
		t.Errorf("%+v", l)
	}
}
