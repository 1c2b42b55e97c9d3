package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// RevertError says which files stand in the way of a revert: they were changed again since.
type RevertError struct {
	Commit ID
	Paths  []string
}

func (e *RevertError) Error() string {
	return fmt.Sprintf("revert %.12s: changed since: %s", e.Commit, strings.Join(e.Paths, ", "))
}

// Revert undoes what one commit changed, as a new commit. If files were changed again since, nothing
// is done and the error is a *RevertError. A merge has no single state before it and is refused, as is
// the first commit.
func (s *Store) Revert(ctx context.Context, rev string) (Result, error) {
	id, changes, subject, err := s.changesOf(ctx, rev)
	if err != nil {
		return Result{}, fmt.Errorf("revert %s: %w", rev, err)
	}
	c := Commit{Subject: "revert: " + subject, Body: "This reverts commit " + string(id) + "."}
	return s.Update(ctx, c, func(tx *Tx) error {
		conflict := &RevertError{Commit: id}
		for _, ch := range changes {
			now, err := tx.Stat(ch.Path)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			switch now {
			case ch.Old: // undone already
			case ch.New:
				if err := tx.set(ch.Path, ch.Old); err != nil {
					return err
				}
			default:
				conflict.Paths = append(conflict.Paths, ch.Path)
			}
		}
		if conflict.Paths != nil {
			return conflict
		}
		return nil
	})
}

// changesOf returns the commit that a revision names, what it changed against its parent, and its subject.
func (s *Store) changesOf(ctx context.Context, rev string) (id ID, changes []Change, subject string, err error) {
	t, err := s.openRevision(ctx, rev)
	if err != nil {
		return "", nil, "", err
	}
	defer t.close()
	if t.commit == "" {
		return "", nil, "", errors.New("it is a tree, not a commit")
	}
	c, err := t.readCommit(t.commit)
	if err != nil {
		return "", nil, "", err
	}
	switch len(c.parents) {
	case 0:
		return "", nil, "", errors.New("it is the first commit")
	case 1:
	default:
		return "", nil, "", errors.New("it is a merge")
	}
	parent, err := t.readCommit(c.parents[0])
	if err != nil {
		return "", nil, "", err
	}
	err = t.Diff(parent.tree, func(ch Change) error {
		changes = append(changes, ch)
		return nil
	})
	subject, _, _ = strings.Cut(c.message, "\n")
	return t.commit, changes, subject, err
}

func (t *Tree) readCommit(id ID) (commit, error) {
	o, err := t.read(id, "")
	if err != nil {
		return commit{}, err
	}
	return parseCommit(o.Data)
}
