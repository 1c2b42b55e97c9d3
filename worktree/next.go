package worktree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind names an event of a loop.
type Kind string

const (
	Placed    Kind = "placed"    // the work tree is there
	Committed Kind = "committed" // commits made while no agent was at work end the coding: Tip
	Coded     Kind = "coded"     // an agent has ended and its work is committed: Tip, Tree, Promised
	Checked   Kind = "checked"   // the plan's commands ran: Passed
	Audited   Kind = "audited"   // an auditor has ended: Blocking
	Failed    Kind = "failed"    // the phase could not be done: Why
	Silent    Kind = "silent"    // no sign of life for a while: Count, in a row
	Saved     Kind = "saved"     // the work of an interrupted phase is committed: Tip
	Halted    Kind = "halted"    // the loop is ended from outside: Reason, Why
	// a stopped loop continues: Blocking, and Tip if the branch has more commits
	Resumed  Kind = "resumed"
	Extended Kind = "extended" // the limits changed: Settings
)

// Kinds lists all kinds.
var Kinds = [...]Kind{Placed, Committed, Coded, Checked, Audited, Failed, Silent, Saved, Halted, Resumed, Extended}

// Event is an event with its facts.
type Event struct {
	Kind     Kind
	Tip      string
	Tree     string
	Promised bool
	Passed   bool
	Failing  *Failing // if it failed; nil: no command of the plan is the cause
	// open blocking findings, from an audit, from files left out of the commit, or at a resume
	Blocking int
	Count    int
	Reason   Reason
	Why      string
	Took     float64 // seconds of work
	Settings Settings
}

// errEvent is returned by Next for an event that is impossible in a phase.
var errEvent = errors.New("cannot happen now")

// Next returns the state after an event, without side effects. It returns an error for an event
// that is impossible in the phase, and one wrapping ErrEnded for resuming a loop that cannot go on.
// The state is then unchanged.
func Next(s State, e Event) (State, error) {
	if !s.Phase.allows(e.Kind) || e.Kind == Committed && (e.Tip == "" || e.Tip == s.Tip) {
		return s, fmt.Errorf("%s while %s: %w", e.Kind, s.Phase, errEvent)
	}
	n := s
	n.Trees = slices.Clone(s.Trees)
	n.Spent += e.Took
	switch e.Kind {
	case Placed:
		n.Tip = cmp.Or(n.Tip, n.Base)
		n = n.code()
	case Committed:
		n.Given = e.Tip
	case Coded:
		n = n.verify(e)
	case Checked:
		n.Verified, n.Failing = e.Passed, e.Failing
		if n.Settings.Audited() {
			n = n.enter(Auditing)
		} else {
			n = n.decide()
		}
	case Audited:
		n.Audits++
		n.Blocking = e.Blocking
		n = n.decide()
	case Failed:
		n.Errors++
		n.Stalls, n.Detail = 0, e.Why
		switch limit := n.Settings.MaxErrors; {
		case s.Phase == Starting:
			n = n.stop(Other, e.Why)
		case limit > 0 && n.Errors >= limit:
			n = n.stop(Errors, e.Why)
		}
	case Silent:
		n.Stalls = e.Count
		if limit := n.Settings.MaxStalls; limit > 0 && n.Stalls >= limit {
			n = n.stop(Stalled, e.Why)
		}
	case Saved:
		n.Tip, n.Verified = e.Tip, s.Verified && e.Tip == s.Tip
		if s.Phase == Auditing { // the verified tree is a different one
			n = n.enter(Verifying)
		}
	case Halted:
		n = n.stop(e.Reason, e.Why)
	case Resumed:
		var err error
		if n, err = n.resume(e); err != nil {
			return s, err
		}
	case Extended:
		n.Settings = e.Settings
	}
	return n, nil
}

// allows reports whether an event can happen in a phase.
func (p Phase) allows(k Kind) bool {
	switch k {
	case Placed:
		return p == Starting
	case Committed, Coded:
		return p == Coding
	case Checked:
		return p == Verifying
	case Audited:
		return p == Auditing
	case Failed, Halted:
		return !p.Over()
	case Silent, Saved:
		return !p.Over() && p != Starting
	case Resumed:
		return p.Over()
	case Extended:
		return p != Done
	}
	return false
}

// verify goes on from the work of an agent to the plan's commands.
func (s State) verify(e Event) State {
	s.Tip, s.Promised, s.Blocking = e.Tip, e.Promised, e.Blocking
	s.Repeats++
	if !slices.Contains(s.Trees, e.Tree) {
		s.Repeats = 0
	}
	s.Trees = append(s.Trees, e.Tree)
	s.Trees = s.Trees[max(0, len(s.Trees)-keptTrees):]
	s.Verified, s.Failing = false, nil
	return s.enter(Verifying)
}

// resume goes on with a stopped loop where it stood.
func (s State) resume(e Event) (State, error) {
	n := s
	n.Blocking = e.Blocking                                      // a person may have waived some
	ended := s.Reason == MaxIterations || s.Reason == NoProgress // the iteration was at its end
	enough := ended && n.complete()
	switch {
	case s.Phase == Done:
		return s, fmt.Errorf("loop %s %w: %w", s.Name, ErrDone, ErrEnded)
	case s.Reason == MaxIterations && s.atLimit() && !enough:
		return s, fmt.Errorf("loop %s has had its %s: %w", s.Name, plural(s.Iteration, "iteration"), ErrEnded)
	case s.Settings.TotalTime > 0 && s.Spent >= s.Settings.TotalTime && !enough:
		return s, fmt.Errorf("loop %s has had its %s: %w", s.Name, plural(int(s.Spent), "second"), ErrEnded)
	}
	n.Phase = s.At
	n.Reason, n.Detail, n.At, n.Errors, n.Stalls, n.Repeats = "", "", "", 0, 0, 0
	switch {
	case enough && e.Tip != "" && e.Tip != s.Tip: // the verified tree is a different one: the iteration ends with this one
		n = n.enter(Coding)
		n.Given = e.Tip
	case enough:
		n = n.enter(Done)
	case ended:
		n = n.code()
	}
	return n, nil
}

// Sandboxed reports whether the commands of the loop run in containers.
func (o Settings) Sandboxed() bool { return o.Sandbox != "" && o.Sandbox != "off" }

// Audited reports whether the loop has an auditor.
func (o Settings) Audited() bool { return o.Audit != "" || o.AuditAgent != "" || o.AuditModel != "" }

func (s State) atLimit() bool {
	return s.Settings.MaxIterations > 0 && s.Iteration >= s.Settings.MaxIterations
}

// enter begins a phase with its counters at zero.
func (s State) enter(p Phase) State {
	s.Phase, s.Errors, s.Stalls, s.Detail, s.Given = p, 0, 0, "", ""
	return s
}

// code begins the next iteration.
func (s State) code() State {
	s = s.enter(Coding)
	s.Iteration++
	s.Promised = false
	return s
}

func (s State) stop(r Reason, why string) State {
	s.At, s.Phase, s.Reason, s.Detail = s.Phase, Stopped, r, why
	return s
}

// decide ends an iteration with all its results.
func (s State) decide() State {
	switch {
	case s.complete():
		return s.enter(Done)
	case s.atLimit():
		return s.stop(MaxIterations, s.lacks())
	case s.Settings.MaxRepeats > 0 && s.Repeats >= s.Settings.MaxRepeats:
		return s.stop(NoProgress, s.lacks())
	}
	return s.code()
}

// complete reports whether the results of the last iteration make the loop done.
func (s State) complete() bool {
	return s.Verified && s.Blocking == 0 && s.Audits >= s.Settings.MinAudits && (s.Promised || !s.Settings.Promise)
}

// lacks returns why a loop is not done after an iteration.
func (s State) lacks() string {
	var all []string
	if !s.Verified {
		all = append(all, s.verification())
	}
	if s.Blocking > 0 {
		all = append(all, plural(s.Blocking, "finding")+" blocking")
	}
	if s.Audits < s.Settings.MinAudits {
		all = append(all, fmt.Sprintf("%s of %d", plural(s.Audits, "audit"), s.Settings.MinAudits))
	}
	if s.Settings.Promise && !s.Promised {
		all = append(all, "the coder did not say that all is done")
	}
	return strings.Join(all, "; ")
}

// verification reports that the plan's commands failed, with the first failed one if known.
func (s State) verification() string {
	if s.Failing == nil {
		return "verification failed"
	}
	return "verification failed (" + s.Failing.String() + ")"
}

// Subject describes a step in one line, for the log of the record.
func Subject(before, after State, e Event) string {
	it := fmt.Sprintf("iteration %d", after.Iteration)
	switch {
	case after.Phase == Done:
		return fmt.Sprintf("done: %s after %s", after.Name, plural(after.Iteration, "iteration"))
	case after.Phase == Stopped && before.Phase != Stopped:
		return fmt.Sprintf("stopped: %s in iteration %d, %s", after.Reason, after.Iteration, before.Phase)
	case e.Kind == Failed:
		return fmt.Sprintf("%s: %s, error %d: %s", after.Phase, it, after.Errors, e.Why)
	case e.Kind == Silent && after.Stalls == 0:
		return fmt.Sprintf("%s: %s, heard again", after.Phase, it)
	case e.Kind == Silent:
		return fmt.Sprintf("%s: %s, no output, %d in a row", after.Phase, it, after.Stalls)
	case e.Kind == Resumed:
		return fmt.Sprintf("%s: %s, resumed", after.Phase, it)
	case e.Kind == Committed:
		return fmt.Sprintf("%s: %s, ended by commit %.12s", after.Phase, it, after.Given)
	case e.Kind == Saved:
		return fmt.Sprintf("%s: %s, what was interrupted is kept", after.Phase, it)
	case e.Kind == Extended:
		return fmt.Sprintf("%s: %s, other limits", after.Phase, it)
	case e.Kind == Checked && after.Phase == Auditing:
		return fmt.Sprintf("auditing: %s, %s", it, after.passed(e.Passed))
	case after.Phase == Coding && after.Iteration > 1:
		return fmt.Sprintf("coding: %s, %s, %s blocking", it, after.passed(before.Verified || e.Kind == Checked && e.Passed), plural(after.Blocking, "finding"))
	}
	return fmt.Sprintf("%s: %s", after.Phase, it)
}

func (s State) passed(ok bool) string {
	if ok {
		return "verification passed"
	}
	return s.verification()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
