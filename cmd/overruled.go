package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// overruledJSON is a memory that a merge put out of force though this side had changed it.
type overruledJSON struct {
	ID   string `json:"id"`
	Text string `json:"text"` // as it was changed here
	Why  string `json:"why"`  // they retired it; empty where they did not say
	Gone bool   `json:"gone"` // its file was taken away
}

// overruled finds what a merge of theirs put out of force that our own commits had changed since both sides were
// one. The rule that it goes is right, but whoever changed it would not learn of it from a number.
func (w *workspace) overruled(ctx context.Context, s *gitstore.Store, m gitstore.Merged, theirs gitstore.ID) ([]overruledJSON, error) {
	if m.Old == "" || m.Old == m.Commit {
		return nil, nil
	}
	base, err := w.repo.MergeBase(ctx, string(m.Old), string(theirs))
	if err != nil || base == "" || base == string(m.Old) {
		return nil, err
	}
	var out []overruledJSON
	err = s.ViewAt(ctx, base, func(common *gitstore.Tree) error {
		return s.ViewAt(ctx, string(m.Old), func(ours *gitstore.Tree) error {
			return s.ViewAt(ctx, string(m.Commit), func(now *gitstore.Tree) error {
				return now.Diff(ours.ID(), func(c gitstore.Change) error {
					if _, ok := record.MemoryID(c.Path); !ok || c.Old == "" {
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

// overruledBy compares a memory of ours with what a merge made of it; nil if it is in force still, was not before, or
// cannot be read.
func overruledBy(ours, now *gitstore.Tree, c gitstore.Change) (*overruledJSON, error) {
	data, err := ours.Read(c.Path)
	if err != nil {
		return nil, err
	}
	before, bad := record.ParseMemory(c.Path, data)
	if bad != nil || before.Status == record.Retired {
		return nil, nil
	}
	o := &overruledJSON{ID: before.ID, Text: before.Text, Gone: c.New == ""}
	if o.Gone {
		return o, nil
	}
	if data, err = now.Read(c.Path); err != nil {
		return nil, err
	}
	after, bad := record.ParseMemory(c.Path, data)
	if bad != nil || after.Status != record.Retired {
		return nil, nil
	}
	o.Why = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(after.Body, after.Revive().Body)), "Retired: ")
	return o, nil
}

// maxOverruled bounds how many are named to people.
const maxOverruled = 10

func (env *Env) tellOverruled(all []overruledJSON) {
	for _, o := range all[:min(maxOverruled, len(all))] {
		why, next := "retired: "+oneLine(o.Why, 100), "reverie edit "+o.ID[:8]+" --status active"
		switch {
		case o.Gone:
			why, next = "its file was taken away", "reverie remember TEXT"
		case o.Why == "":
			why = "retired"
		}
		env.tellRow("changed here", "%s  %s  (%s); to bring it back: %s", o.ID[:8], oneLine(o.Text, 100), why, next)
	}
	if more := len(all) - maxOverruled; more > 0 {
		env.tellRow("", "and %d more that were changed here: reverie list --all", more)
	}
}
