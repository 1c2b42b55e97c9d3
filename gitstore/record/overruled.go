package record

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
)

// Overruled is a memory that a merge put out of force, though its retirement did not know the
// newest change.
type Overruled struct {
	ID   string `json:"id"`
	Text string `json:"text"` // our version
	Why  string `json:"why"`  // their reason for retiring it, if any
	Gone bool   `json:"gone"` // its file was removed
}

// FindOverruled lists memories that a merge of theirs put out of force, and that our history had
// changed since theirs left it: by commits here, or by some that were merged elsewhere. The merge
// is right, but a bare count would hide this from their author.
func FindOverruled(ctx context.Context, s *gitstore.Store, m gitstore.Merged, theirs gitstore.ID) (out []Overruled, err error) {
	if m.Old == "" || m.Old == m.Commit {
		return nil, nil
	}
	forks, err := s.Repo().History().Forks(ctx, string(m.Old), string(theirs))
	if err != nil || len(forks) == 0 {
		return nil, err
	}
	err = s.ViewAt(ctx, string(m.Old), func(ours *gitstore.Tree) error {
		return s.ViewAt(ctx, string(m.Commit), func(now *gitstore.Tree) error {
			return now.Diff(ours.ID(), func(c gitstore.Change) error {
				if _, ok := MemoryID(c.Path); !ok || c.Old == "" {
					return nil
				}
				o, err := overruledBy(ours, now, c)
				if err != nil || o == nil {
					return err
				}
				changed, err := changedSince(ctx, s, forks, c)
				if changed {
					out = append(out, *o)
				}
				return err
			})
		})
	})
	var bad gitstore.EntryErrors
	if errors.As(err, &bad) { // they were ours before, and check names them
		err = nil
	}
	return out, err
}

// changedSince reports whether one of some commits has an older version of our file.
func changedSince(ctx context.Context, s *gitstore.Store, forks []string, c gitstore.Change) (changed bool, err error) {
	for _, fork := range forks {
		err := s.ViewAt(ctx, fork, func(t *gitstore.Tree) error {
			was, err := t.Stat(c.Path)
			changed = changed || err == nil && was != c.Old
			if errors.Is(err, gitstore.ErrNotFound) {
				err = nil
			}
			return err
		})
		if err != nil || changed {
			return changed, err
		}
	}
	return false, nil
}

// overruledBy compares our version of a memory with the merged one. It returns nil if that is still
// in force, or if ours was not in force or cannot be read.
func overruledBy(ours, now *gitstore.Tree, c gitstore.Change) (*Overruled, error) {
	data, err := ours.Read(c.Path)
	if err != nil {
		return nil, err
	}
	before, bad := ParseMemory(c.Path, data)
	if bad != nil || before.Status == Retired {
		return nil, nil
	}
	o := &Overruled{ID: before.ID, Text: before.Text, Gone: c.New == ""}
	if o.Gone {
		return o, nil
	}
	if data, err = now.Read(c.Path); err != nil {
		return nil, err
	}
	after, bad := ParseMemory(c.Path, data)
	if bad != nil || after.Status != Retired {
		return nil, nil
	}
	o.Why = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(after.Body, after.Revive().Body)), "Retired: ")
	return o, nil
}
