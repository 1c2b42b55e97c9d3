package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/reverie-memory/reverie/worktree"
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
	record, l, err := w.openLoop(ctx, name)
	if err != nil {
		return err
	}
	set, err := w.loopSettings(l.State.Settings, nil, o, false)
	if err != nil {
		return err
	}
	if err := byHand(set); err != nil {
		return err
	}
	lease, err := worktree.TakeLease(ctx, w.repo, l.State.Name, worktree.Mark(l.State))
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
	place, err := w.loopPlace(ctx, l.State)
	if err != nil {
		return explainLoop(err)
	}
	s, err := worktree.Resume(ctx, record, place, set, env.Now())
	if err != nil {
		return explainLoop(err)
	}
	if o.detach {
		handed = true
		lease.Release()
		return w.detachLoop(s)
	}
	handed = true
	env.say("%s: iteration %d goes on", s.Phase, s.Iteration)
	return w.carryOn(ctx, record, s, lease, o.backoff)
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
	record, l, err := w.openLoop(ctx, name)
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
		if s, err = worktree.Cancel(soon, w.repo, record, place, env.Now); err != nil {
			if ctx.Err() == nil && soon.Err() != nil {
				err = fmt.Errorf("loop %s has not ended in %v; 'reverie loop status %s' shows who carries it on", s.Name, cancelTime, s.Name)
			}
			return explainLoop(err)
		}
		w.learnLoop(ctx, record, s)
	}
	if o.removeTree {
		if err := place.Remove(ctx, s.Tip); err != nil {
			return explainLoop(fmt.Errorf("the work tree stays: %w", err))
		}
	}
	if env.JSON {
		j, err := w.loopJSON(ctx, s.Name)
		if err != nil {
			return err
		}
		return env.object(j)
	}
	what := "loop " + s.Name + " is " + string(s.Phase)
	if s.Reason != "" {
		what += ": " + string(s.Reason)
	}
	env.say("%s; %s", what, whereWork(s))
	if o.removeTree && !place.InPlace {
		env.say("removed the work tree %s; the branch stays", place.Dir)
	}
	return nil
}
