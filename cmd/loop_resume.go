package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/program"
)

// runLoopResume goes on with a loop that stopped, or that nobody carries on any more.
func runLoopResume(ctx context.Context, env *Env, name string, o loopOptions) error {
	if err := notInLoop("resume"); err != nil {
		return err
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	record, l, err := w.ownLoop(ctx, name)
	if err != nil {
		return err
	}
	set, err := w.loopSettings(l.State.Settings, o.command, o, false)
	if err != nil {
		return explainLoop(err)
	}
	if err := byHand(set); err != nil {
		return err
	}
	if err := w.resumablePrograms(ctx, l.State, set); err != nil {
		return explainLoop(err)
	}
	lease, err := worktree.TakeLease(ctx, w.Repo, l.State.Name, worktree.Mark(l.State))
	if err != nil {
		return explainLoop(err)
	}
	handed := false // to who gives it back
	defer func() {
		if !handed {
			lease.Release()
		}
	}()
	if l, err = record.Load(ctx); err != nil {
		return err
	}
	s, err := w.resumed(ctx, record, l.State, set)
	if err != nil {
		return explainLoop(err)
	}
	handed = true
	switch {
	case s.Phase.Over(): // what was left to do is done already
	case o.detach:
		return w.detachLoop(ctx, s, lease)
	default:
		env.Say("%s: iteration %d goes on", s.Phase, s.Iteration)
	}
	return w.carryOn(ctx, record, s, lease)
}

// resumablePrograms looks for what a loop that goes on calls.
func (w *workspace) resumablePrograms(ctx context.Context, s worktree.State, set worktree.Settings) error {
	if s.Phase == worktree.Done {
		return nil
	}
	programs := program.Place{Repo: w.Repo, Inside: sandboxed(set), Commit: cmp.Or(s.Tip, s.Base), Dir: cmp.Or(s.InPlace, filepath.Join(w.loopFolder(s.Name), "tree"))}
	if err := lookForPrograms(ctx, programs, set); err != nil {
		return err
	}
	for _, phase := range []worktree.Phase{worktree.Coding, worktree.Auditing} {
		was, _, err := program.Of(s.Settings, phase, programs.Inside)
		is, _, err2 := program.Of(set, phase, programs.Inside)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if programs.Inside && is != was { // what was there from the beginning was looked for then
			in, err := w.insideOf(ctx, worktree.State{Settings: set}, "")
			if err != nil {
				return err
			}
			return w.lookInside(ctx, in, set)
		}
	}
	return nil
}

// resumed is the state of a loop that goes on, of which the caller holds the lease.
func (w *workspace) resumed(ctx context.Context, record *worktree.Record, s worktree.State, set worktree.Settings) (worktree.State, error) {
	if s.InPlace != "" {
		unlock, err := worktree.LockPlaces(ctx, w.Repo)
		if err != nil {
			return s, err
		}
		defer unlock()
		if err := w.alone(ctx, s); err != nil {
			return s, err
		}
	}
	place, err := w.loopPlace(ctx, s)
	if err != nil {
		return s, err
	}
	return worktree.Resume(ctx, record, place, set, w.env.Now())
}

// cancelTime is how long a loop may take to end that is asked to.
const cancelTime = time.Minute

// runLoopCancel ends a loop. Its work is committed.
func runLoopCancel(ctx context.Context, env *Env, name string, o loopOptions) error {
	if err := notInLoop("cancel"); err != nil {
		return err
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	record, l, err := w.ownLoop(ctx, name)
	if err != nil {
		return err
	}
	place, err := w.loopPlace(ctx, l.State)
	if err != nil {
		return explainLoop(err)
	}
	soon, stop := context.WithTimeout(ctx, cancelTime)
	defer stop()
	s := l.State
	if !s.Phase.Over() {
		if s, err = worktree.Cancel(soon, w.Repo, record, place, env.Now); err != nil {
			if ctx.Err() == nil && soon.Err() != nil {
				err = fmt.Errorf("loop %s has not ended in %v; 'reverie loop status %s' shows who carries it on", s.Name, cancelTime, s.Name)
			}
			return explainLoop(err)
		}
		w.learnLoop(ctx, record, s)
	}
	if o.removeTree {
		if err := place.Remove(ctx, s.Tip); err != nil {
			err = fmt.Errorf("the work tree stays: %w", err)
			if sandboxed(s.Settings) && errors.Is(err, worktree.ErrDirty) {
				err = loopFailure(worktree.Refusal, err, uncommittedHint(s))
			}
			return explainLoop(err)
		}
	}
	if env.JSON {
		j, err := w.loopJSON(ctx, s.Name)
		if err != nil {
			return err
		}
		return env.Object(j)
	}
	what := "loop " + s.Name + " is " + string(s.Phase)
	if s.Reason != "" {
		what += ": " + string(s.Reason)
	}
	env.Say("%s; %s", what, whereWork(s))
	if o.removeTree && !place.InPlace {
		env.Say("removed the work tree %s; the branch stays", place.Dir)
	}
	return nil
}
