package share

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// Tally counts the memories that a merge changed, and lists the surprising ones.
type Tally struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Retired int `json:"retired"` // went out of force, or were removed

	// Overruled are the retired memories that had been changed meanwhile.
	Overruled []record.Overruled `json:"overruled,omitempty"`
}

// Merged describes the outcome of Merge.
type Merged struct {
	Way    string `json:"way"` // nothing, fast-forward, adopted or joined
	From   string `json:"from"`
	Commit string `json:"commit"`
	Tally
	Contested []string `json:"contested"` // among the memories that it added or changed
	Dropped   []string `json:"dropped"`   // files of which one side's text is in history only
	Backup    string   `json:"backup,omitempty"`

	Arrived []string              `json:"-"` // ids of added or changed memories
	Note    string                `json:"-"` // git's remarks, such as on signing
	Bad     []*record.FormatError `json:"-"` // records that cannot be read now
}

// Merge brings a commit into the memory branch; from names it for people.
func Merge(ctx context.Context, c *clone.Clone, tip gitstore.ID, from string) (Merged, error) {
	message := gitstore.Commit{Subject: "merge: " + from, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "merge"}}}
	m, err := c.Book.Merge(ctx, tip, message, func(theirs *gitstore.Tree) error { return Accept(c.Config, from, theirs) })
	if err != nil {
		return Merged{}, refusedEntries(err, from)
	}
	out := Merged{Way: string(m.Way), From: from, Commit: string(m.Commit), Dropped: m.Dropped, Backup: m.Backup, Contested: []string{}, Note: m.Note}
	if out.Dropped == nil {
		out.Dropped = []string{}
	}
	if !m.Changed {
		return out, nil
	}
	if out.Arrived, err = out.add(ctx, c.Memory, m, tip); err != nil {
		return out, err
	}
	return out, c.Book.View(ctx, func(v *record.View) error {
		out.Bad = v.Bad()
		for _, id := range out.Arrived {
			if held, err := v.Find(id); err == nil && held.Status == record.Contested {
				out.Contested = append(out.Contested, id)
			}
		}
		slices.Sort(out.Contested)
		return nil
	})
}

// Accept refuses a tree that is no memory branch, or one whose format is newer than this program.
func Accept(c config.Config, from string, theirs *gitstore.Tree) error {
	text, err := theirs.Read("reverie.toml")
	if errors.Is(err, gitstore.ErrNotFound) {
		return fmt.Errorf("%s has no reverie.toml: it is no memory branch", from)
	}
	if err != nil {
		return err
	}
	return c.Restrict(from+":reverie.toml", text)
}

// add counts the changes of a merge, and returns the ids of added or changed memories.
func (t *Tally) add(ctx context.Context, s *gitstore.Store, m gitstore.Merged, theirs gitstore.ID) (ids []string, err error) {
	if m.Old == m.Commit {
		return nil, nil
	}
	var before gitstore.ID
	if m.Old != "" {
		if before, err = treeOf(ctx, s, m.Old); err != nil {
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
		if err != nil && !errors.As(err, &bad) { // bad entries were ours before, and check names them
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
	if err != nil {
		return nil, err
	}
	overruled, err := record.FindOverruled(ctx, s, m, theirs)
	t.Overruled = append(t.Overruled, overruled...)
	return ids, err
}

// treeOf returns the id of a commit's tree.
func treeOf(ctx context.Context, s *gitstore.Store, at gitstore.ID) (tree gitstore.ID, err error) {
	err = s.ViewAt(ctx, string(at), func(t *gitstore.Tree) error { tree = t.ID(); return nil })
	return tree, err
}

// refusedEntries names the first entries for which a history from elsewhere was refused.
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
	return exit.New(exit.NeedsPerson, errors.Join(lines...), "such entries are not written by Reverie; nothing of this history was merged. Ask its maintainer")
}

// The first files of a memory branch.
var (
	//go:embed first/README.md
	firstReadme string
	//go:embed first/reverie.toml
	firstConfig string
)

// FirstFiles returns the files with which a memory branch begins, by path.
func FirstFiles() map[string]string {
	return map[string]string{"README.md": firstReadme, "reverie.toml": firstConfig}
}

// Begun tells how a clone got its memory branch.
type Begun int

const (
	Existed Begun = iota // the branch was there, or another process was first
	Adopted              // it was taken from origin's branch
	Created              // it was started
)

// Begin makes the memory branch of a clone that has none: from origin's branch, or a new one.
func Begin(ctx context.Context, c *clone.Clone) (Begun, error) {
	if _, err := c.Memory.Tip(ctx); !errors.Is(err, gitstore.ErrNoStore) {
		return Existed, err
	}
	if branch, ok := strings.CutPrefix(c.Config.Ref, "refs/heads/"); ok {
		_, err := c.Memory.Adopt(ctx, "refs/remotes/origin/"+branch)
		switch {
		case err == nil:
			return Adopted, nil
		case errors.Is(err, gitstore.ErrExists):
			return Existed, nil
		case !errors.Is(err, git.ErrNoRef):
			return Existed, refusedEntries(err, "origin/"+branch)
		}
	}
	err := c.Book.Create(ctx, FirstFiles())
	switch {
	case err == nil:
		return Created, nil
	case errors.Is(err, gitstore.ErrExists):
		return Existed, nil
	}
	return Existed, err
}
