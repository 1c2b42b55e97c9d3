package record

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
)

// Overruled is a memory that this side had changed and a merge put out of force.
type Overruled struct {
	ID   string `json:"id"`
	Text string `json:"text"` // this side's version
	Why  string `json:"why"`  // their reason for retiring it, if any
	Gone bool   `json:"gone"` // its file was removed
}

// FindOverruled lists memories that our commits had changed and that a merge of theirs put out of
// force. The merge is right, but a bare count would hide this from their author.
func FindOverruled(ctx context.Context, s *gitstore.Store, m gitstore.Merged, theirs gitstore.ID) ([]Overruled, error) {
	if m.Old == "" || m.Old == m.Commit {
		return nil, nil
	}
	base, err := s.Repo().History().MergeBase(ctx, string(m.Old), string(theirs))
	if err != nil || base == "" || base == string(m.Old) {
		return nil, err
	}
	var out []Overruled
	err = s.ViewAt(ctx, base, func(common *gitstore.Tree) error {
		return s.ViewAt(ctx, string(m.Old), func(ours *gitstore.Tree) error {
			return s.ViewAt(ctx, string(m.Commit), func(now *gitstore.Tree) error {
				return now.Diff(ours.ID(), func(c gitstore.Change) error {
					if _, ok := MemoryID(c.Path); !ok || c.Old == "" {
						return nil
					}
					was, err := common.Stat(c.Path)
					if errors.Is(err, gitstore.ErrNotFound) || err == nil && was == c.Old {
						return nil
					}
					if err != nil {
						return err
					}
					o, err := overruledBy(ours, now, c)
					if o != nil {
						out = append(out, *o)
					}
					return err
				})
			})
		})
	})
	var bad gitstore.EntryErrors
	if errors.As(err, &bad) { // they were ours before, and check names them
		err = nil
	}
	return out, err
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
