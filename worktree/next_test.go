package worktree

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// midway returns a loop in a phase, in the second of at most five iterations.
func midway(p Phase) State {
	s := State{
		Name: "one", Phase: p, Iteration: 2, Audits: 1, Errors: 1, Stalls: 2, Tip: "t1", Trees: []string{"a"},
		Settings: Settings{Audit: "audit", MaxIterations: 5, MinAudits: 1, MaxErrors: 3, MaxStalls: 5, MaxRepeats: 2},
	}
	switch p {
	case Starting:
		s.Iteration, s.Audits, s.Trees = 0, 0, nil
	case Auditing:
		s.Verified = true
	case Stopped:
		s.Reason, s.At = Cancelled, Coding
	}
	return s
}

// Every event in every phase: the next phase, or an error.
func TestNextKnowsEveryPhaseAndEvent(t *testing.T) {
	const no = "error"
	phases := []Phase{Starting, Coding, Verifying, Auditing, Done, Stopped}
	table := map[Kind][6]string{ //  starting    coding       verifying    auditing     done  stopped
		Placed:    {"coding 1", no, no, no, no, no},
		Committed: {no, "coding 2", no, no, no, no},
		Coded:     {no, "verifying 2", no, no, no, no},
		Checked:   {no, no, "auditing 2", no, no, no},
		Audited:   {no, no, no, "done 2", no, no},
		Failed:    {"stopped 0", "coding 2", "verifying 2", "auditing 2", no, no},
		Silent:    {no, "coding 2", "verifying 2", "auditing 2", no, no},
		Saved:     {no, "coding 2", "verifying 2", "verifying 2", no, no},
		Halted:    {"stopped 0", "stopped 2", "stopped 2", "stopped 2", no, no},
		Resumed:   {no, no, no, no, no, "coding 2"},
		Extended:  {"starting 0", "coding 2", "verifying 2", "auditing 2", no, "stopped 2"},
	}
	if len(table) != len(Kinds) {
		t.Fatalf("the table has %d events, there are %d", len(table), len(Kinds))
	}
	for kind, want := range table {
		for i, phase := range phases {
			before := midway(phase)
			after, err := Next(before, Event{Kind: kind, Count: 1, Tree: "b", Tip: "t2", Reason: Cancelled, Passed: true})
			got := fmt.Sprintf("%s %d", after.Phase, after.Iteration)
			if err != nil {
				got = no
				if d := cmp.Diff(before, after); d != "" {
					t.Errorf("%s while %s: an error changes the state: %s", kind, phase, d)
				}
				if !errors.Is(err, errEvent) && !errors.Is(err, ErrEnded) {
					t.Errorf("%s while %s: %v", kind, phase, err)
				}
			}
			if got != want[i] {
				t.Errorf("%s while %s: %s, want %s", kind, phase, got, want[i])
			}
			if d := cmp.Diff(midway(phase), before); d != "" {
				t.Errorf("%s while %s changes its argument: %s", kind, phase, d)
			}
		}
	}
	if _, err := Next(midway(Coding), Event{Kind: "unheard"}); !errors.Is(err, errEvent) {
		t.Errorf("an unknown event: %v", err)
	}
}

// play takes a loop through iterations, each given as letters: v verification passes, V fails, a a
// clean audit, A one with a blocking finding, p a promise, = the same tree as before.
func play(s State, iterations ...string) State {
	for i, it := range iterations {
		tree := fmt.Sprint("tree", i)
		if strings.Contains(it, "=") {
			tree = "same"
		}
		s = must(Next(s, Event{Kind: Coded, Tip: fmt.Sprint("tip", i), Tree: tree, Promised: strings.Contains(it, "p")}))
		s = must(Next(s, Event{Kind: Checked, Passed: strings.Contains(it, "v")}))
		if s.Phase == Auditing {
			s = must(Next(s, Event{Kind: Audited, Blocking: strings.Count(it, "A")}))
		}
		if s.Phase.Over() {
			break
		}
	}
	return s
}

func must(s State, err error) State {
	if err != nil {
		panic(err)
	}
	return s
}

func TestNextDecides(t *testing.T) {
	for _, c := range []struct {
		name       string
		iterations []string
		change     func(*Settings)
		want       string
	}{
		{"a failing test, a finding, a fix", []string{"Va", "vA", "va"}, nil, "done  3"},
		{"the first is enough", []string{"va"}, nil, "done  1"},
		{"the last one is audited too", []string{"V", "V", "V", "V", "va"}, nil, "done  5"},
		{"limit", []string{"V", "V", "V", "V", "vA"}, nil, "stopped max-iterations 5"},
		{"no limit", []string{"V", "V", "V", "V", "V", "V", "V"}, func(o *Settings) { o.MaxIterations = 0 }, "coding  8"},
		{"audits wanted", []string{"va", "va"}, func(o *Settings) { o.MinAudits = 2 }, "done  2"},
		{"a promise is not enough", []string{"Vp", "Vp"}, func(o *Settings) { o.Promise = true }, "coding  3"},
		{"a promise is necessary", []string{"va", "vap"}, func(o *Settings) { o.Promise = true }, "done  2"},
		{"a promise of an earlier iteration does not count", []string{"vpA", "va"}, func(o *Settings) { o.Promise = true }, "coding  3"},
		{"no auditor", []string{"V", "v"}, func(o *Settings) { o.Audit, o.MinAudits = "", 0 }, "done  2"},
		{"the same tree", []string{"V=", "V=", "V="}, nil, "stopped no-progress 3"},
		{"there and back", []string{"V=", "V", "V=", "V"}, nil, "coding  5"},
		{"it may be the same for ever", []string{"V=", "V=", "V=", "V="}, func(o *Settings) { o.MaxRepeats = 0 }, "coding  5"},
	} {
		s := State{Phase: Starting, Settings: Settings{Audit: "x", MaxIterations: 5, MinAudits: 1, MaxRepeats: 2}}
		if c.change != nil {
			c.change(&s.Settings)
		}
		s = play(must(Next(s, Event{Kind: Placed})), c.iterations...)
		if got := fmt.Sprintf("%s %s %d", s.Phase, s.Reason, s.Iteration); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNextCountsErrorsInARow(t *testing.T) {
	s := midway(Coding)
	s.Errors = 0
	s = must(Next(s, Event{Kind: Failed, Why: "one"}))
	s = must(Next(s, Event{Kind: Failed, Why: "two"}))
	if ok := must(Next(s, Event{Kind: Coded, Tree: "b"})); ok.Errors != 0 || ok.Detail != "" {
		t.Errorf("a phase that ends well leaves %d errors, %q", ok.Errors, ok.Detail)
	}
	s = must(Next(s, Event{Kind: Failed, Why: "three"}))
	if s.Phase != Stopped || s.Reason != Errors || s.Detail != "three" || s.At != Coding {
		t.Errorf("after three: %+v", s)
	}
	s = must(Next(s, Event{Kind: Resumed}))
	if s.Phase != Coding || s.Errors != 0 || s.Iteration != 2 || s.Reason != "" {
		t.Errorf("resumed: %+v", s)
	}
}

func TestNextStopsTheSilent(t *testing.T) {
	s := midway(Coding)
	for n := 1; n <= 4; n++ {
		if s = must(Next(s, Event{Kind: Silent, Count: n})); s.Phase != Coding || s.Stalls != n {
			t.Fatalf("%d: %+v", n, s)
		}
	}
	if s = must(Next(s, Event{Kind: Silent, Count: 1})); s.Stalls != 1 {
		t.Errorf("heard of again, then silent: %d in a row", s.Stalls)
	}
	if s = must(Next(s, Event{Kind: Silent, Count: 5})); s.Reason != Stalled {
		t.Errorf("five in a row: %+v", s)
	}
}

func TestNextResumesOnlyWithinLimits(t *testing.T) {
	s := midway(Auditing)
	s.Iteration, s.Verified = 5, false
	s = must(Next(s, Event{Kind: Audited}))
	if _, err := Next(s, Event{Kind: Resumed}); s.Reason != MaxIterations || !errors.Is(err, ErrEnded) {
		t.Errorf("%s: %v", s.Reason, err)
	}
	more := s.Settings
	more.MaxIterations = 6
	s = must(Next(must(Next(s, Event{Kind: Extended, Settings: more})), Event{Kind: Resumed}))
	if s.Phase != Coding || s.Iteration != 6 {
		t.Errorf("with more: %s %d", s.Phase, s.Iteration)
	}
	s = must(Next(s, Event{Kind: Halted, Reason: TimeOver, Took: 10}))
	s.Settings.TotalTime = 10
	if _, err := Next(s, Event{Kind: Resumed}); !errors.Is(err, ErrEnded) {
		t.Errorf("time is over: %v", err)
	}
}

// A loop that stopped at the end of an iteration is done once a person has waived the only
// obstacles.
func TestNextResumesToTheEnd(t *testing.T) {
	limit, repeats := midway(Auditing), midway(Auditing)
	limit.Iteration, repeats.Repeats = 5, 2
	for _, c := range []struct {
		name   string
		state  State
		passed bool
		e      Event
		change func(*State)
		want   string
	}{
		{"waived", limit, true, Event{}, nil, "done 5"},
		{"waived, and the branch is where it was", limit, true, Event{Tip: "t1"}, nil, "done 5"},
		{"waived, no progress", repeats, true, Event{}, nil, "done 2"},
		{"waived, and more was committed", limit, true, Event{Tip: "t2"}, nil, "coding 5 t2"},
		{"one blocks yet", limit, true, Event{Blocking: 1}, nil, "ended"},
		{"one blocks yet, no progress", repeats, true, Event{Blocking: 1}, nil, "coding 3"},
		{"the commands failed", limit, false, Event{}, nil, "ended"},
		{"no promise", limit, true, Event{}, func(s *State) { s.Settings.Promise = true }, "ended"},
		{"the time is over, too", limit, true, Event{}, func(s *State) { s.Settings.TotalTime, s.Spent = 1, 2 }, "done 5"},
		{"cancelled while coding", midway(Coding), true, Event{}, func(s *State) { s.Verified = true; *s = s.stop(Cancelled, "") }, "coding 2"},
	} {
		s := c.state
		if s.Phase == Auditing {
			s.Verified = c.passed
			s = must(Next(s, Event{Kind: Audited, Blocking: 1}))
		}
		if c.change != nil {
			c.change(&s)
		}
		c.e.Kind = Resumed
		after, err := Next(s, c.e)
		got := strings.TrimSpace(fmt.Sprintf("%s %d %s", after.Phase, after.Iteration, after.Given))
		if err != nil {
			got = "ended"
			if !errors.Is(err, ErrEnded) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if got != c.want || err == nil && after.Reason != "" {
			t.Errorf("%s: %s %s, want %s", c.name, got, after.Reason, c.want)
		}
	}
}

// An unexpected commit ends the coding, once, and for its own iteration alone.
func TestNextTakesACommitForTheCoding(t *testing.T) {
	before := midway(Coding)
	s := must(Next(before, Event{Kind: Committed, Tip: "t2"}))
	if s.Given != "t2" || s.Phase != Coding || s.Iteration != 2 || s.Tip != "t1" || s.Errors != before.Errors {
		t.Errorf("noted: %+v", s)
	}
	if s = must(Next(s, Event{Kind: Committed, Tip: "t3"})); s.Given != "t3" {
		t.Errorf("a second commit: %+v", s)
	}
	for _, tip := range []string{"", "t1"} {
		if _, err := Next(before, Event{Kind: Committed, Tip: tip}); !errors.Is(err, errEvent) {
			t.Errorf("a commit %q that brings nothing: %v", tip, err)
		}
	}
	if failed := must(Next(s, Event{Kind: Failed, Why: "x"})); failed.Given != "t3" {
		t.Errorf("it could not be committed: %+v", failed)
	}
	stopped := must(Next(s, Event{Kind: Halted, Reason: Cancelled}))
	if resumed := must(Next(stopped, Event{Kind: Resumed})); resumed.Given != "t3" || resumed.Phase != Coding {
		t.Errorf("cancelled and resumed: %+v", resumed)
	}
	if s = must(Next(s, Event{Kind: Coded, Tip: "t3", Tree: "b"})); s.Given != "" || s.Phase != Verifying {
		t.Errorf("coded: %+v", s)
	}
	if got := Subject(before, must(Next(before, Event{Kind: Committed, Tip: "0123456789abcdef"})), Event{Kind: Committed}); got != "coding: iteration 2, ended by commit 0123456789ab" {
		t.Errorf("told as %q", got)
	}
}

// A loop that stops at a limit reports its shortcomings and names the failed command; the steps
// name it too.
func TestNextSaysWhatIsLacking(t *testing.T) {
	for _, c := range []struct {
		name           string
		failing        *Failing
		passed         bool
		blocking       int
		change         func(*Settings)
		detail, coding string
	}{
		{"a command failed", &Failing{"go test\t./parse", 1}, false, 0, nil, "verification failed (go test ./parse ended with exit code 1)", "coding: iteration 3, verification failed (go test ./parse ended with exit code 1), 0 findings blocking"},
		{"a command took too long", &Failing{"sleep 1000", -1}, false, 1, nil, "verification failed (sleep 1000 took too long); 1 finding blocking", "coding: iteration 3, verification failed (sleep 1000 took too long), 1 finding blocking"},
		{"no command failed", nil, false, 0, nil, "verification failed", "coding: iteration 3, verification failed, 0 findings blocking"},
		{"findings", nil, true, 2, nil, "2 findings blocking", "coding: iteration 3, verification passed, 2 findings blocking"},
		{"audits", nil, true, 0, func(o *Settings) { o.MinAudits = 3 }, "2 audits of 3", "coding: iteration 3, verification passed, 0 findings blocking"},
		{"a promise", nil, true, 0, func(o *Settings) { o.Promise = true }, "the coder did not say that all is done", "coding: iteration 3, verification passed, 0 findings blocking"},
	} {
		for _, limit := range []Reason{MaxIterations, NoProgress, ""} {
			s := midway(Verifying)
			if c.change != nil {
				c.change(&s.Settings)
			}
			switch limit {
			case MaxIterations:
				s.Settings.MaxIterations = 2
			case NoProgress:
				s.Repeats = s.Settings.MaxRepeats
			}
			before := must(Next(s, Event{Kind: Checked, Passed: c.passed, Failing: c.failing}))
			e := Event{Kind: Audited, Blocking: c.blocking}
			after := must(Next(before, e))
			if limit == "" {
				if got := Subject(before, after, e); got != c.coding {
					t.Errorf("%s: told as %q", c.name, got)
				}
			} else if after.Reason != limit || after.Detail != c.detail {
				t.Errorf("%s: %s: %q", c.name, after.Reason, after.Detail)
			}
			if d := cmp.Diff(c.failing, after.Failing); d != "" {
				t.Errorf("%s: %s", c.name, d)
			}
		}
	}
	s := midway(Coding)
	s.Failing = &Failing{"x", 1}
	if s = must(Next(s, Event{Kind: Coded, Tip: "t2", Tree: "b"})); s.Failing != nil {
		t.Errorf("of another tip: %v", s.Failing)
	}
}
