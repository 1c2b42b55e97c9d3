package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
)

// tallyJSON is what a merge did to the memories, in numbers, and what a number would hide.
type tallyJSON struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Retired int `json:"retired"` // went out of force, or were taken away

	Overruled []overruledJSON `json:"overruled,omitempty"` // of the retired, those that this side had changed
}

// tally adds up what a merge changed, and returns the ids of the memories that it brought or changed.
func (t *tallyJSON) tally(ctx context.Context, s *gitstore.Store, m gitstore.Merged) (ids []string, err error) {
	if m.Old == m.Commit {
		return nil, nil
	}
	var before gitstore.ID
	if m.Old != "" {
		if err := s.ViewAt(ctx, string(m.Old), func(t *gitstore.Tree) error { before = t.ID(); return nil }); err != nil {
			return nil, err
		}
	}
	err = s.ViewAt(ctx, string(m.Commit), func(tree *gitstore.Tree) error {
		var changes []gitstore.Change
		var blobs []gitstore.ID
		err := tree.Diff(before, func(c gitstore.Change) error {
			id, ok := record.MemoryID(c.Path)
			switch {
			case !ok:
			case c.New == "":
				t.Retired++
			default:
				ids, changes, blobs = append(ids, id), append(changes, c), append(blobs, c.New)
			}
			return nil
		})
		var bad gitstore.EntryErrors
		if err != nil && !errors.As(err, &bad) { // those were ours before, and check names them
			return err
		}
		return tree.ReadAll(blobs, func(i int, data []byte) error {
			now, err := record.ParseMemory(changes[i].Path, data)
			switch {
			case err == nil && now.Status == record.Retired:
				t.Retired++
			case changes[i].Old == "":
				t.Added++
			default:
				t.Changed++
			}
			return nil
		})
	})
	return ids, err
}

func (t tallyJSON) String() string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{t.Added, "added"}, {t.Changed, "changed"}, {t.Retired, "retired"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if parts == nil {
		return "no memory changed"
	}
	return "memories: " + strings.Join(parts, ", ")
}

// refusedEntries words a merge that was refused for what theirs holds.
func refusedEntries(err error, from string) error {
	var bad gitstore.EntryErrors
	if !errors.As(err, &bad) {
		return err
	}
	var lines []error
	for _, e := range bad[:min(10, len(bad))] {
		lines = append(lines, fmt.Errorf("refused from %s: %w", from, e))
	}
	if more := len(bad) - len(lines); more > 0 {
		lines = append(lines, fmt.Errorf("and %d more", more))
	}
	return exit.New(exit.NeedsPerson, errors.Join(lines...), "such entries are not written by Reverie; nothing of this history was merged. Ask whoever keeps it")
}
