package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// ByHand reports whether the loop waits for a person's commits instead of running a coder.
func (s State) ByHand() bool { return s.Settings.Agent == Hand }

// waits reports whether the loop waits for a person's commit: the branch has nothing unexamined.
func (s State) waits(branch string) bool {
	return s.Phase == Coding && s.ByHand() && s.Given == "" && branch == s.Tip
}

// Carry calls Run and then releases the lease. While we hold the lease, the hook of a new commit
// leaves that commit to us. So Carry checks a waiting loop once more after the release, and carries
// it on unless another process does.
func Carry(ctx context.Context, record *Record, place *Place, lease *Lease, do Doers) (State, error) {
	for {
		s, err := Run(ctx, record, place, lease, do)
		if err == nil && s.Phase.Over() && do.Ended != nil {
			do.Ended(s)
		}
		lease.Release()
		if err != nil || s.Phase.Over() {
			return s, err
		}
		l, err := record.LoadOwn(ctx)
		if err != nil {
			return s, err
		}
		if tip, err := place.Tip(ctx); err != nil || l.State.waits(tip) || l.State.Phase.Over() {
			return l.State, err
		}
		if lease, err = TakeLease(ctx, place.repo, record.Name, Mark(l.State)); errors.Is(err, ErrHeld) {
			return l.State, nil
		} else if err != nil {
			return l.State, err
		}
	}
}

// Wake notes that a commit has ended the coding of an idle loop, if one has. It reports whether
// Carry has work now. The caller holds the lease, and all processes of a killed supervisor have
// ended.
func Wake(ctx context.Context, record *Record, place *Place, now time.Time) (State, bool, error) {
	l, err := record.LoadOwn(ctx)
	if err != nil {
		return State{}, false, err
	}
	s := l.State
	switch {
	case s.Phase == Coding && s.Given != "":
		return s, true, nil
	case s.Phase != Coding: // an agent's iteration is left to a person who knows why it was interrupted
		return s, s.ByHand() && !s.Phase.Over(), nil
	}
	tip, err := place.Tip(ctx)
	if err != nil || tip == s.Tip {
		return s, false, err
	}
	s, err = record.Take(ctx, Step{Event: Event{Kind: Committed, Tip: tip}}, now)
	return s, err == nil, err
}

// waits reports whether a loop by hand has nothing to do; otherwise it records the awaited commits.
func (r *loop) waits(ctx context.Context) (bool, error) {
	if r.state.Phase != Coding || !r.state.ByHand() || r.state.Given != "" || r.place.Check() != nil {
		return false, nil
	}
	tip, err := r.place.Tip(ctx)
	switch {
	case err != nil:
		return false, r.halt(ctx, fmt.Errorf("%w: %w", ErrGone, err), "", 0)
	case r.state.waits(tip):
		return true, nil
	}
	return false, r.take(ctx, Step{Event: Event{Kind: Committed, Tip: tip}})
}

// moved returns a message if the branch of a loop by hand got commits after its plan's commands
// began: they then tested an outdated tree.
func (r *loop) moved(ctx context.Context) string {
	if !r.state.ByHand() {
		return ""
	}
	if tip, err := r.place.Tip(ctx); err == nil && tip != r.state.Tip {
		return fmt.Sprintf("[while the commands ran, the branch moved on to %.12s: this does not count]\n", tip)
	}
	return ""
}

// inPlaceFile is in the state folder while a loop may be at work in a user's own work tree, so that
// commits there are examined.
const inPlaceFile = "loops.here"

// notePlace makes commits in the user's own work tree be examined.
func (p *Place) notePlace(ctx context.Context) error {
	if !p.InPlace {
		return nil
	}
	unlock, err := p.repo.State().Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return p.repo.State().Write(inPlaceFile, nil, false)
}

// ForgetPlaces removes inPlaceFile if no unfinished loop works in a user's own work tree. A
// starting loop has its record before it has the file.
func ForgetPlaces(ctx context.Context, repo *git.Repo) error {
	path := filepath.Join(repo.CommonDir, "reverie", inPlaceFile)
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	unlock, err := repo.State().Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	names, err := List(ctx, repo)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(names, func(name string) bool {
		l, err := Open(repo, name, nil).Load(ctx)
		return err != nil || l.Own && l.State.InPlace != "" && !l.State.Phase.Over()
	}) {
		return nil
	}
	return os.Remove(path)
}
