package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// RevertError lists the files that block a revert, with reasons.
type RevertError struct {
	Commit  ID
	Paths   []string
	Refused bool // allowed rejects them; otherwise they changed again since
}

func (e *RevertError) Error() string {
	why := "changed since"
	if e.Refused {
		why = "it changes what must not be reverted"
	}
	return fmt.Sprintf("revert %.12s: %s: %s", e.Commit, why, strings.Join(e.Paths, ", "))
}

// Revert undoes the changes of one commit of the store's history, in a new commit. The error is a
// *RevertError, and nothing changes, if the commit changed a path that is not allowed or if files
// changed since. A nil allowed allows every path, but not the commit that made the store's first
// files. Revert refuses merges and the first commit. The error wraps ErrRevision if the store's
// history does not hold the commit.
func (s *Store) Revert(ctx context.Context, rev string, allowed func(path string) bool) (Result, error) {
	id, changes, subject, err := s.changesOf(ctx, rev, allowed != nil)
	if err != nil {
		return Result{}, fmt.Errorf("revert %s: %w", rev, err)
	}
	refused := &RevertError{Commit: id, Refused: true}
	for _, ch := range changes {
		if allowed != nil && !allowed(ch.Path) {
			refused.Paths = append(refused.Paths, ch.Path)
		}
	}
	if refused.Paths != nil {
		return Result{}, refused
	}
	c := Commit{Subject: "revert: " + subject, Body: reverts + string(id) + "."}
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

// reverts begins the body of a commit by Revert, before the id of the commit that it undoes.
const reverts = "This reverts commit "

// Reverts returns the commit that a commit with this body undoes, or "".
func Reverts(body string) ID {
	rest, ok := strings.CutPrefix(body, reverts)
	if id, _, end := strings.Cut(rest, "."); ok && end {
		return ID(id)
	}
	return ""
}

// changesOf returns the commit that a revision names, its changes against its parent, and its
// subject. With first it may be the commit that made the store's first files.
func (s *Store) changesOf(ctx context.Context, rev string, first bool) (id ID, changes []Change, subject string, err error) {
	fail := func(err error) (ID, []Change, string, error) { return "", nil, "", err }
	t, err := s.openRevision(ctx, rev)
	if err != nil {
		return fail(err)
	}
	defer t.close()
	if t.commit == "" {
		return fail(errors.New("it is a tree, not a commit"))
	}
	tip, err := s.Tip(ctx)
	if err != nil {
		return fail(err)
	}
	switch reached, err := s.repo.History().IsAncestor(ctx, string(t.commit), string(tip)); {
	case err != nil:
		return fail(err)
	case !reached:
		return fail(fmt.Errorf("commit %.12s is not in the history of %s: %w", t.commit, s.ref, ErrRevision))
	}
	c, err := t.readCommit(t.commit)
	if err != nil {
		return fail(err)
	}
	switch len(c.parents) {
	case 0:
		return fail(errors.New("it is the store's first commit"))
	case 1:
	default:
		return fail(errors.New("it is a merge, and a merge cannot be reverted; revert the commits that it brought instead"))
	}
	parent, err := t.readCommit(c.parents[0])
	if err != nil {
		return fail(err)
	}
	if len(parent.parents) == 0 && !first {
		return fail(errors.New("it made the store's first files"))
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
