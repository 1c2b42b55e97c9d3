package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
)

// Turn is the input of a phase. It belongs to the function that receives it.
type Turn struct {
	Loop  Loop
	Dir   string        // top of the work tree
	Heard func()        // to be called at each sign of life
	Live  io.Writer     // receives the output for people to watch
	Began func(pid int) // to be called with the leader of a working process group, see Command
	// marks a process as the loop's; everything started must have it in its environment
	Env []string
}

// Outcome is the result of a phase.
type Outcome struct {
	Output   string
	Promised bool     // of coding: the coder gave the completion promise
	Passed   bool     // of verifying
	Failing  *Failing // if it did not pass: the first failed command
	Audit    Audit    // of auditing
}

// Doer performs a phase. Its error counts as one of the loop's, unless it wraps ErrSandbox,
// ErrRefused, ErrGone or ErrPerson, which stop the loop, or ctx has ended. When it returns, all its
// processes have ended.
type Doer func(ctx context.Context, t Turn) (Outcome, error)

// Doers are the functions by which Run does the phases.
type Doers struct {
	Code, Verify Doer
	Audit        Doer // nil if the settings want no audit
	Told         func(before, after State, e Event)
	Waits        func(State) // called when the loop waits for a person's commit; may be nil
	// receives the error that kept the work tree of a done loop from being removed; nil: Run returns
	// it
	Stays func(error)
	// called by Carry at the end, before another process can resume the loop; may be nil
	Ended func(State)
	Now   func() time.Time
}

// loop is a Run at work.
type loop struct {
	record *Record
	place  *Place
	lease  *Lease
	do     Doers
	state  State
	fresh  bool // this Run has done nothing yet
	given  bool // the iteration is a person's commit: other files in the work tree may be the person's
}

// cancelFile exists in the folder of a loop while its end is requested.
const cancelFile = "cancel"

// look is the interval at which Run checks for such a request.
const look = 100 * time.Millisecond

// Run carries a loop on until it ends or waits for a commit by hand. The caller holds the lease. An
// error means that ctx ended or that a step could not be stored. The loop is then unchanged, and
// another Run can carry it on.
func Run(ctx context.Context, record *Record, place *Place, lease *Lease, do Doers) (State, error) {
	l, err := record.LoadOwn(ctx)
	if err != nil {
		return State{}, err
	}
	r := &loop{record: record, place: place, lease: lease, do: do, state: l.State, fresh: true}
	os.Remove(filepath.Join(place.folder, cancelFile))
	if err := place.notePlace(ctx); err != nil {
		return r.state, err
	}
	for !r.state.Phase.Over() {
		if err := ctx.Err(); err != nil {
			return r.state, err
		}
		if waits, err := r.waits(ctx); waits || err != nil {
			if waits && do.Waits != nil {
				do.Waits(r.state)
			}
			return r.state, err
		}
		if r.state.Phase.Over() {
			break
		}
		if err := r.phase(ctx); err != nil {
			return r.state, err
		}
		r.fresh = false
	}
	if r.state.Phase == Done && r.state.Settings.RemoveTree {
		if err := place.Remove(ctx, r.state.Tip); err != nil {
			if ctx.Err() != nil || do.Stays == nil {
				return r.state, fmt.Errorf("the loop is done, and its work tree stays: %w", err)
			}
			do.Stays(err)
		}
	}
	return r.state, nil
}

// take stores a step.
func (r *loop) take(ctx context.Context, s Step) error {
	before := r.state
	after, err := r.record.Take(ctx, s, r.do.Now())
	if err != nil {
		return err
	}
	r.state = after
	if r.do.Told != nil {
		r.do.Told(before, after, s.Event)
	}
	return nil
}

// phase performs the next phase.
func (r *loop) phase(ctx context.Context) error {
	if r.state.Phase == Starting {
		return r.start(ctx)
	}
	if err := r.place.Check(); err != nil {
		return r.halt(ctx, err, "", 0)
	}
	if r.fresh {
		if err := r.goOn(ctx); err != nil || r.state.Phase.Over() {
			return err
		}
	}
	if r.state.Phase == Coding {
		if r.given = r.state.Given != ""; r.given {
			return r.coded(ctx, Outcome{}, 0)
		}
	}
	doer := map[Phase]Doer{Coding: r.do.Code, Verifying: r.do.Verify, Auditing: r.do.Audit}[r.state.Phase]
	if doer == nil {
		return fmt.Errorf("nobody does what %s wants", r.state.Phase)
	}
	began := time.Now()
	out, ended, err := r.watch(ctx, doer)
	took := time.Since(began).Seconds()
	endMarked(r.mark())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case ended.Kind != "":
		ended.Took = took
		return r.end(ctx, ended, out.Output)
	case err != nil && halting(err) != "":
		return r.halt(ctx, err, out.Output, took)
	case err != nil:
		return r.failed(ctx, err, out.Output, took)
	}
	switch r.state.Phase {
	case Coding:
		return r.coded(ctx, out, took)
	case Verifying:
		if err := r.restore(ctx); err != nil {
			return r.notRestored(ctx, err, out.Output, took)
		}
		if moved := r.moved(ctx); moved != "" {
			out.Passed, out.Output = false, out.Output+moved
		}
		return r.take(ctx, Step{Event: Event{Kind: Checked, Passed: out.Passed, Failing: out.Failing, Took: took}, Output: out.Output})
	}
	return r.audited(ctx, out, took)
}

// restore removes the leftovers of a verification or an audit from the work tree. It keeps files
// that may be a person's.
func (r *loop) restore(ctx context.Context) error {
	_, err := r.place.Restore(ctx, r.state.Tip, r.given, r.do.Now())
	return err
}

// mark returns the environment entry of every process of the loop.
func (r *loop) mark() string { return Mark(r.state) }

// Mark returns the environment entry of every process of a loop. It returns "" unless State.Run is
// 16 hex digits, because other processes could otherwise match.
func Mark(s State) string {
	if len(s.Run) != 16 || strings.Trim(s.Run, "0123456789abcdef") != "" {
		return ""
	}
	return "REVERIE_LOOP_RUN=" + s.Run
}

func (r *loop) start(ctx context.Context) error {
	err := r.place.Make(ctx, r.state.Base)
	if err == nil {
		return r.take(ctx, Step{Event: Event{Kind: Placed}})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !errors.Is(err, ErrTaken) { // an existing branch is not ours to remove
		err = errors.Join(err, r.place.Rollback(ctx, r.state.Base))
	}
	return r.take(ctx, Step{Event: Event{Kind: Failed, Why: err.Error()}})
}

// goOn brings the work tree in line with the record after a supervisor was killed. An iteration
// with committed work is at its end; any other restarts.
func (r *loop) goOn(ctx context.Context) error {
	s := r.state
	if r.state.Phase != Coding {
		_, err := r.place.Restore(ctx, s.Tip, true, r.do.Now())
		return err
	}
	head, err := r.place.Tip(ctx)
	if err != nil {
		return r.halt(ctx, fmt.Errorf("%w: %w", ErrGone, err), "", 0)
	}
	if s.Given != "" {
		return nil
	}
	if head != s.Tip && head != "" {
		trailers, err := r.trailers(ctx, head)
		if err != nil {
			return err
		}
		if trailers["Reverie-Loop"] == s.Name && trailers["Reverie-Iteration"] == strconv.Itoa(s.Iteration) {
			if trailers["Reverie-Partial"] == "" {
				return r.coded(ctx, Outcome{Promised: trailers["Reverie-Promise"] != ""}, 0)
			}
			if err := r.take(ctx, Step{Event: Event{Kind: Saved, Tip: head}}); err != nil {
				return err
			}
		}
	}
	_, err = r.place.Restore(ctx, r.state.Tip, true, r.do.Now())
	return err
}

// trailers returns the trailers of a commit.
func (r *loop) trailers(ctx context.Context, commit string) (map[string]string, error) {
	out, err := r.place.repo.Git(ctx, nil, "log", "-1", "--no-show-signature", "--format=%(trailers:only,unfold)", commit)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[key] = value
	}
	return all, nil
}

// message returns the commit message of the current iteration.
func (r *loop) message(promised, partial bool) Message {
	s := r.state
	m := Message{Subject: fmt.Sprintf("loop: %s (iteration %d)", s.Title, s.Iteration)}
	add := func(key, value string) {
		if value != "" {
			m.Trailers = append(m.Trailers, gitstore.Trailer{Key: key, Value: value})
		}
	}
	add("Reverie-Loop", s.Name)
	add("Reverie-Iteration", strconv.Itoa(s.Iteration))
	add("Reverie-Agent", s.Settings.Agent)
	if promised {
		add("Reverie-Promise", "given")
	}
	if partial {
		m.Subject = fmt.Sprintf("loop: %s (iteration %d, not finished)", s.Title, s.Iteration)
		add("Reverie-Partial", "yes")
	}
	return m
}

func (r *loop) audited(ctx context.Context, out Outcome, took float64) error {
	if err := r.restore(ctx); err != nil {
		return r.notRestored(ctx, err, out.Output, took)
	}
	return r.take(ctx, Step{
		Event:  Event{Kind: Audited, Took: took},
		Output: out.Output,
		Findings: func(known []Finding, before State) []Finding {
			return mergeFindings(known, out.Audit, ByAudit, before.Iteration, r.tip(ctx, before.Tip))
		},
		Then: r.block,
	})
}

// block counts the findings that block.
func (r *loop) block(e *Event, known []Finding) {
	e.Blocking = len(known) - len(slices.DeleteFunc(slices.Clone(known), r.state.Settings.Blocks))
}

// tip returns the newest commit for a merge of findings.
func (r *loop) tip(ctx context.Context, commit string) newest {
	diffs := map[string]lineDiff{}
	return newest{
		commit: commit,
		line: func(name string, line int) string {
			if name == "" || line <= 0 {
				return ""
			}
			text, err := r.place.repo.Git(ctx, nil, "cat-file", "blob", commit+":"+name)
			if err != nil {
				return "" // the auditor names a missing file
			}
			lines := strings.SplitN(string(text), "\n", line+1)
			if len(lines) < line {
				return ""
			}
			return lines[line-1]
		},
		moves: func(f Finding) (string, int, bool) {
			d, known := diffs[f.At]
			if !known {
				var err error
				if d, err = diffLines(ctx, r.place.repo, f.At, commit); err != nil {
					d = nil // a missing commit: no known changes
				}
				diffs[f.At] = d
			}
			return d.move(f.File, f.Line)
		},
	}
}

// halting returns the reason by which an error stops the loop at once, or "" if it only counts.
func halting(err error) Reason {
	switch {
	case errors.Is(err, ErrSandbox):
		return SandboxFailed
	case errors.Is(err, ErrGone):
		return WorktreeGone
	case errors.Is(err, ErrRefused):
		return Refusal
	case errors.Is(err, ErrPerson):
		return Other
	}
	return ""
}

func (r *loop) halt(ctx context.Context, err error, output string, took float64) error {
	return r.end(ctx, Event{Kind: Halted, Reason: halting(err), Why: err.Error(), Took: took}, output)
}

// end applies an event that may stop the loop, and saves the work before a stop.
func (r *loop) end(ctx context.Context, e Event, output string) error {
	after, err := Next(r.state, e)
	if err != nil {
		return err
	}
	if after.Phase == Stopped && e.Reason != WorktreeGone {
		if err := r.save(ctx); err != nil {
			e.Why = strings.TrimPrefix(e.Why+"; what was being done is not committed: "+err.Error(), "; ")
		}
	}
	return r.take(ctx, Step{Event: e, Output: output})
}

// failed counts an error, and waits before the phase is tried again.
func (r *loop) failed(ctx context.Context, err error, output string, took float64) error {
	if err := r.end(ctx, Event{Kind: Failed, Why: err.Error(), Took: took}, output); err != nil || r.state.Phase.Over() {
		return err
	}
	first := time.Duration(r.state.Settings.Backoff * float64(time.Second))
	wait := time.NewTimer(first << min(r.state.Errors-1, 2))
	defer wait.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.C:
			return nil
		case <-tick.C:
			if r.cancelled() {
				return r.end(ctx, Event{Kind: Halted, Reason: Cancelled}, "")
			}
		}
	}
}

// notKept handles work that could not be committed, like failed.
func (r *loop) notKept(ctx context.Context, err error, output string, took float64) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case halting(err) != "":
		return r.halt(ctx, err, output, took)
	}
	return r.failed(ctx, fmt.Errorf("commit: %w", err), output, took)
}

// notRestored handles a work tree that cannot be restored to its state before the phase. It stops
// the loop if the error is a halting one; otherwise the next supervisor repeats the phase.
func (r *loop) notRestored(ctx context.Context, err error, output string, took float64) error {
	if ctx.Err() != nil || halting(err) == "" {
		return err
	}
	return r.halt(ctx, err, output, took)
}

func (r *loop) cancelled() bool {
	_, err := os.Lstat(filepath.Join(r.place.folder, cancelFile))
	return err == nil
}

// watch runs a phase's doer, and cancels it if the loop must end; ended is then the event. It
// returns when the doer has returned.
func (r *loop) watch(ctx context.Context, do Doer) (out Outcome, ended Event, err error) {
	l, err := r.record.LoadOwn(ctx)
	if err != nil {
		return out, ended, err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var heard atomic.Int64
	began := time.Now()
	heard.Store(began.UnixNano())
	seen := newTail(r.place.folder, r.record.scanner, r.state, began)
	defer forget(r.place.folder)
	defer r.lease.Began(0) // its number may be another's soon
	done := make(chan error, 1)
	go func() {
		err := errors.New("what does the phase gave up")
		defer func() { done <- err }()
		out, err = do(inner, Turn{
			Loop: l, Dir: r.place.Dir, Began: r.lease.Began,
			Heard: func() { heard.Store(time.Now().UnixNano()) },
			Live:  seen,
			Env: []string{
				"REVERIE_LOOP=" + r.state.Name, "REVERIE_PHASE=" + string(r.state.Phase), "REVERIE_ITERATION=" + strconv.Itoa(r.state.Iteration), r.mark(),
			},
		})
	}()
	set := r.state.Settings
	stalls := r.state.Stalls // of a process that was killed
	tick := time.NewTicker(look)
	defer tick.Stop()
	for looks := 1; ; looks++ {
		select {
		case err = <-done:
			return out, ended, err
		case <-tick.C:
		}
		if looks%liveLook == 0 {
			seen.keep(time.Unix(0, heard.Load()))
		}
		if ended.Kind != "" {
			continue
		}
		since := time.Since(time.Unix(0, heard.Load())).Seconds()
		silent := 0
		if set.StallTime > 0 {
			silent = int(since / set.StallTime)
		}
		switch {
		case r.cancelled():
			ended = Event{Kind: Halted, Reason: Cancelled}
		case set.TotalTime > 0 && r.state.Spent+time.Since(began).Seconds() >= set.TotalTime:
			ended = Event{Kind: Halted, Reason: TimeOver, Why: "the loop has had its " + plural(int(set.TotalTime), "second")}
		case silent != stalls: // less: something is heard again
			stalls = silent
			e := Event{Kind: Silent, Count: silent, Why: "no output for " + plural(int(since), "second")}
			if set.MaxStalls > 0 && silent >= set.MaxStalls {
				ended = e
			} else if err := r.take(ctx, Step{Event: e}); err != nil {
				cancel()
				<-done
				return out, ended, err
			}
		}
		if ended.Kind != "" {
			cancel()
		}
	}
}

// coded commits the agent's work. A second call, after a kill, finds it committed.
func (r *loop) coded(ctx context.Context, out Outcome, took float64) error {
	c, err := r.place.Commit(ctx, r.state.Tip, r.message(out.Promised, false), r.do.Now())
	if err != nil {
		return r.notKept(ctx, err, out.Output, took)
	}
	found, err := r.byHost(ctx, c)
	if err != nil {
		return r.notKept(ctx, err, out.Output, took)
	}
	err = r.take(ctx, Step{
		Event:    Event{Kind: Coded, Tip: c.Tip, Tree: c.Tree, Promised: out.Promised, Took: took},
		Output:   out.Output,
		Findings: found,
		Then:     r.block,
	})
	if err == nil {
		_, err = submodules{r.place}.reset(ctx, c.Tip, r.do.Now())
	}
	return err
}

// save commits the work of an unfinished iteration, and records the host's findings in it.
func (r *loop) save(ctx context.Context) error {
	switch {
	case r.state.Phase != Coding:
		return r.restore(ctx)
	case r.state.ByHand(): // the commits are on the branch, and the next supervisor finds them
		return nil
	}
	c, err := r.place.Commit(ctx, r.state.Tip, r.message(false, true), r.do.Now())
	if err != nil {
		return err
	}
	found, err := r.byHost(ctx, c)
	if err != nil {
		return err
	}
	if c.Tip == r.state.Tip {
		l, err := r.record.Load(ctx)
		if err != nil || len(found(l.Findings, l.State)) == 0 {
			return err
		}
	}
	return r.take(ctx, Step{Event: Event{Kind: Saved, Tip: c.Tip}, Findings: found})
}

// byHost makes findings of files left out of a commit, and of committed files that the host would
// run.
func (r *loop) byHost(ctx context.Context, c Commit) (func(known []Finding, _ State) []Finding, error) {
	obeyed, err := r.place.Sandbox.obeyed(ctx, r.place.repo, r.state.Base, c.Tip)
	if err != nil {
		return nil, err
	}
	host := Audit{Findings: obeyed}
	for _, l := range c.Left {
		if l.Ignored {
			continue
		}
		what := "The branch does not have it: remove it, or have .gitignore name it."
		switch l.Rule {
		case "":
		case ruleOfSubmodule:
			what = "A loop commits nothing of a submodule, which is set back; what was there is kept in the folder left of the loop. Do without, or commit in a clone of it, push, and begin a loop from a commit that names it."
		default:
			what = "A person has to look at it. If this is waived, the next iteration commits it."
		}
		host.Findings = append(host.Findings, Reported{
			File: strings.TrimSuffix(l.Path, "/"), Severity: Bug, Rule: cmp.Or(l.Rule, "left-out"), Text: "It is not committed, because " + l.Why + ".", Scenario: what,
		})
	}
	return func(known []Finding, before State) []Finding {
		a := Audit{Findings: few(host.Findings, known)}
		for _, f := range known { // it is now left out, or no longer
			if f.By == ByHost && f.State == OpenFinding {
				a.Fixed = append(a.Fixed, f.ID)
			}
		}
		return mergeFindings(known, a, ByHost, before.Iteration, r.tip(ctx, c.Tip))
	}, nil
}
