package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/internal/git"
)

// Repaired describes the work of Repair. The zero value means no change.
type Repaired struct {
	Restored int    // objects written again that were kept
	From, To ID     // tips, where the ref was moved
	Source   string // where To was found, in words
}

// Broken reports whether the store reaches a missing object. git lists everything that the tip
// reaches.
func (s *Store) Broken(ctx context.Context) (bool, error) {
	tip, err := s.Tip(ctx)
	if errors.Is(err, ErrNoStore) || s.repo.Partial {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	whole := s.repo.History().Complete(ctx, string(tip))
	return !whole, ctx.Err()
}

// Repair mends a store with missing objects. It restores the kept copies of the last writes. If
// that is not enough it moves the ref to the newest complete former value. Failing that, it takes a
// ref that matches the pattern seen, such as those that keep remote tips. The error wraps
// ErrCorrupt if nothing helps; then the ref has not moved.
func (s *Store) Repair(ctx context.Context, seen string) (done Repaired, err error) {
	ctx, unlock, err := s.Lock(ctx)
	if err != nil {
		return done, err
	}
	defer unlock()
	if done.Restored, err = s.repo.Recent().Restore(ctx); err != nil {
		return done, err
	}
	broken, err := s.Broken(ctx)
	if err != nil || !broken {
		return done, err
	}
	tip, err := s.Tip(ctx)
	if err != nil {
		return done, err
	}
	to, source, err := lastWhole(ctx, s.repo, s.ref, tip, seen)
	if err != nil {
		return done, err
	}
	if err := s.tips.giveUp(); err != nil {
		return done, err
	}
	if err := s.repo.Refs().Move(ctx, s.ref, string(to), string(tip), "reverie: repair from "+source); err != nil {
		return done, err
	}
	done.From, done.To, done.Source = tip, to, source
	return done, s.tips.set(to)
}

// lastWhole returns the newest former commit of a ref that is complete, and where it was found.
func lastWhole(ctx context.Context, repo *git.Repo, ref string, tip ID, seen string) (to ID, source string, err error) {
	ids, _, err := repo.Refs().Log(ctx, ref)
	if err != nil {
		return "", "", err
	}
	if repo.RefFormat == "files" {
		slices.Reverse(ids) // the newest first
	}
	tried := map[string]bool{string(tip): true}
	whole := func(id string) bool {
		if tried[id] || ctx.Err() != nil {
			return false
		}
		tried[id] = true
		return repo.History().Complete(ctx, id)
	}
	if i := slices.IndexFunc(ids, whole); i >= 0 {
		return ID(ids[i]), "the log of " + ref, nil
	}
	refs, err := repo.Refs().List(ctx, seen)
	if err != nil {
		return "", "", err
	}
	if i := slices.IndexFunc(refs, func(r git.Ref) bool { return whole(r.ID) }); i >= 0 {
		return ID(refs[i].ID), refs[i].Name, nil
	}
	return "", "", errors.Join(ctx.Err(), fmt.Errorf("%s: %w: no former state of it is whole", ref, ErrCorrupt))
}
