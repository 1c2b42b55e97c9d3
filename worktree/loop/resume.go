package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/reverie-memory/reverie/worktree/loop/status"
)

// Resume has a loop that stopped or was interrupted go on, with a choice applied. The claim's
// state is over if nothing was left to do.
func (l *Loops) Resume(ctx context.Context, name string, choice plan.Choice) (*Claim, error) {
	if err := fault.Outside("resume"); err != nil {
		return nil, err
	}
	record, found, err := l.own(ctx, name)
	if err != nil {
		return nil, err
	}
	set, err := l.Planner.Resume(ctx, found.State, choice)
	if err != nil {
		return nil, err
	}
	lease, err := worktree.TakeLease(ctx, l.Repo, found.State.Name, worktree.Mark(found.State))
	if err != nil {
		return nil, fault.Explain(err)
	}
	if found, err = record.Load(ctx); err != nil {
		lease.Release()
		return nil, err
	}
	s, err := l.resume(ctx, record, found.State, set)
	if err != nil {
		lease.Release()
		return nil, fault.Explain(err)
	}
	return &Claim{s, l, record, lease}, nil
}

// resume returns the state of a loop that goes on. The caller holds the lease.
func (l *Loops) resume(ctx context.Context, record *worktree.Record, s worktree.State, set worktree.Settings) (worktree.State, error) {
	if s.InPlace != "" {
		unlock, err := worktree.LockPlaces(ctx, l.Repo)
		if err != nil {
			return s, err
		}
		defer unlock()
		if err := l.alone(ctx, s); err != nil {
			return s, err
		}
	}
	place, err := l.place(ctx, s)
	if err != nil {
		return s, err
	}
	return worktree.Resume(ctx, record, place, set, l.Now())
}

// cancelTime bounds the wait for another process to end a loop.
const cancelTime = time.Minute

// Cancel ends a loop and commits its work. With remove it removes the work tree, too: gone is that
// folder, "" for the user's own work tree.
func (l *Loops) Cancel(ctx context.Context, name string, remove bool) (s worktree.State, gone string, err error) {
	if err := fault.Outside("cancel"); err != nil {
		return s, "", err
	}
	record, found, err := l.own(ctx, name)
	if err != nil {
		return s, "", err
	}
	defer func() { err = fault.Explain(err) }()
	s = found.State
	place, err := l.place(ctx, s)
	if err != nil {
		return s, "", err
	}
	if !s.Phase.Over() {
		soon, stop := context.WithTimeout(ctx, cancelTime)
		defer stop()
		if s, err = worktree.Cancel(soon, l.Repo, record, place, l.Now); err != nil {
			if ctx.Err() == nil && soon.Err() != nil {
				err = fmt.Errorf("loop %s has not ended in %v; 'reverie loop status %s' shows who carries it on", s.Name, cancelTime, s.Name)
			}
			return s, "", err
		}
		l.learn(ctx, record, s)
	}
	if !remove {
		return s, "", nil
	}
	if err := place.Remove(ctx, s.Tip); err != nil {
		err = fmt.Errorf("the work tree stays: %w", err)
		if s.Settings.Sandboxed() && errors.Is(err, worktree.ErrDirty) {
			err = fault.New(worktree.Refusal, err, fault.Uncommitted(s))
		}
		return s, "", err
	}
	if place.InPlace {
		return s, "", nil
	}
	return s, place.Dir, nil
}

// Next says how a loop without a process goes on. in names the work tree, or is "".
func Next(ctx context.Context, r *reader.Reader, j status.Status, in string) string {
	resume := "reverie loop resume " + j.Name
	wakes := Wakes(ctx, r)
	if !j.ByHand() || j.Phase != worktree.Coding {
		if j.Phase == worktree.Coding && j.Settings.Sandbox == config.Off && wakes {
			return "no process runs it: " + resume + ", or a commit in its work tree, which ends the iteration"
		}
		return "no process runs it: " + resume
	}
	branch := strings.TrimPrefix(j.Branch, "refs/heads/")
	if j.Unseen != "" {
		return fmt.Sprintf("commit %.12s on %s waits to be checked: %s", j.Unseen, branch, resume)
	}
	wait := "it waits for a commit on " + branch
	if in != "" {
		wait += " in " + in
	}
	hooks, err := githook.FindPlace(ctx, r.Repo)
	switch {
	case wakes:
		return wait
	case r.Settings.Config.Background == config.Off:
		return wait + "; then: " + resume + " (learn.background is off)"
	case err != nil || hooks.Avoid != "" || hooks.Tool != "":
		return wait + "; then: " + resume + " (it continues by itself once git's post-commit hook calls Reverie: 'reverie init --git-hooks' prints the line to add)"
	}
	return wait + "; then: " + resume + " (after 'reverie init --git-hooks' it continues by itself)"
}
