package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// Resume makes a stopped loop go on, with new settings if given; for a running loop it only changes
// the settings. It first commits manual changes in the work tree, unless the loop goes on by hand.
// A loop that stopped at the end of an iteration is done if nothing was missing or added. The
// caller holds the lease.
func Resume(ctx context.Context, record *Record, place *Place, set Settings, now time.Time) (State, error) {
	l, err := record.LoadOwn(ctx)
	if err != nil {
		return State{}, err
	}
	s := l.State
	next := s
	next.Settings = set
	place.hand = next.ByHand()
	resumed := Event{Kind: Resumed}
	for _, f := range l.Findings {
		if set.Blocks(f) {
			resumed.Blocking++
		}
	}
	if s.Phase.Over() {
		if next.ByHand() && s.At != Starting {
			if at, err := place.Tip(ctx); err == nil { // a missing branch is created again
				resumed.Tip = at
			}
		}
		if next, err = Next(next, resumed); err != nil {
			return s, err
		}
		if s.At != Starting && place.Check() != nil && !place.InPlace {
			if err := place.Make(ctx, s.Tip); err != nil { // removed by a user: the branch has the work
				return s, err
			}
		}
	}
	tip := s.Tip
	switch {
	case s.At == Starting:
	case next.ByHand() && (next.Phase == Coding || next.Phase == Done): // Run counts the commits as the work
	case s.Phase.Over(), s.Phase == Coding && s.ByHand(): // otherwise the files are an agent's leftovers
		r := &loop{state: s}
		m := r.message(false, true)
		m.Subject = fmt.Sprintf("loop: %s (before iteration %d goes on)", s.Title, s.Iteration)
		c, err := place.Commit(ctx, s.Tip, m, now)
		if err != nil {
			return s, err
		}
		tip = c.Tip
		resumed.Tip = tip
	}
	for _, e := range []Event{{Kind: Extended, Settings: set}, resumed, {Kind: Saved, Tip: tip}} {
		if e.Kind == Saved && (tip == s.Tip || tip == s.Given) || e.Kind == Extended && reflect.DeepEqual(set, s.Settings) || e.Kind == Resumed && !s.Phase.Over() {
			continue
		}
		if s, err = record.Take(ctx, Step{Event: e}, now); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Cancel ends a loop. If a process carries it on, Cancel asks that process to end it, and waits
// until it has released the lease or ctx ends. The reason differs if the work tree is gone.
func Cancel(ctx context.Context, repo *git.Repo, record *Record, place *Place, now func() time.Time) (State, error) {
	ask := filepath.Join(place.folder, cancelFile)
	asked := false
	for {
		l, err := record.LoadOwn(ctx)
		if err != nil || l.State.Phase.Over() {
			if asked {
				awaitRelease(ctx, repo, record.Name)
			}
			return l.State, err
		}
		lease, err := TakeLease(ctx, repo, record.Name, Mark(l.State))
		switch {
		case errors.Is(err, ErrHeld):
			if err := os.WriteFile(ask, nil, 0o600); err != nil {
				return l.State, err
			}
			asked = true
			select {
			case <-ctx.Done():
				return l.State, ctx.Err()
			case <-time.After(look):
			}
			continue
		case err != nil:
			return l.State, err
		}
		defer lease.Release()
		if l, err = record.LoadOwn(ctx); err != nil || l.State.Phase.Over() {
			return l.State, err
		}
		r := &loop{record: record, place: place, lease: lease, state: l.State, do: Doers{Now: now}}
		if l.State.Phase == Starting {
			err = place.Rollback(ctx, l.State.Base)
		} else if gone := place.Check(); errors.Is(gone, ErrGone) {
			return r.state, r.halt(ctx, gone, "", 0)
		}
		if err == nil {
			err = r.end(ctx, Event{Kind: Halted, Reason: Cancelled}, "")
		}
		return r.state, err
	}
}

// releaseTime limits the wait for the lease of a loop that has ended.
const releaseTime = 5 * time.Second

// awaitRelease waits until a loop's lease is free, so that a resume right after a cancel is not
// refused.
func awaitRelease(ctx context.Context, repo *git.Repo, name string) {
	soon, stop := context.WithTimeout(ctx, releaseTime)
	defer stop()
	for soon.Err() == nil && Held(soon, repo, name) != nil {
		time.Sleep(look)
	}
}
