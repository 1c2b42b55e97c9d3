package gitstore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/redact"
)

// Version is the state of a file at one commit.
type Version struct {
	ID      ID    // of its content; "" if the commit has no such file
	Parents []int // parent versions, as earlier positions; none at the start of a history
}

// History holds all versions of a file in two histories, parents first. Ours and Theirs are the
// positions of the newest ones, or -1 if a history lacks the file.
type History struct {
	Versions     []Version
	Ours, Theirs int
	Read         func(ID) ([]byte, error)
}

// Outcome is the resolved content of a file: ID, or Text if ID is empty. If both are empty the file
// is removed.
type Outcome struct {
	ID      ID
	Text    redact.Redacted
	Dropped bool // one side's text is now only in history
}

// Resolve decides the content of a file that both sides changed. It must not depend on which side
// is which.
type Resolve func(path string, h History) (Outcome, error)

// resolve decides files and writes the outcome.
func (tx *Tx) resolve(paths []string, own apart, decide Resolve, m *Merged) error {
	if len(paths) == 0 {
		return nil
	}
	if decide == nil {
		return fmt.Errorf("both sides changed %s", strings.Join(paths, ", "))
	}
	l, err := tx.lineage(paths, own)
	if err != nil {
		return err
	}
	for _, path := range paths {
		h, err := tx.history(path, l)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		o, err := decide(path, h)
		if err == nil && o.ID == "" && o.Text.Len() > 0 {
			err = tx.Write(path, o.Text)
		} else if err == nil {
			err = tx.set(path, o.ID)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if o.Dropped {
			m.Dropped = append(m.Dropped, path)
		}
	}
	return nil
}

// lineage is the part of two histories about some files, parents first. tips are the positions for
// the tips, or -1.
type lineage struct {
	commits []commitNode
	parents [][]int
	roots   []*Tree
	tips    [2]int
}

// lineage asks git for the commits that changed one of the files, and for merges, with their
// parents among them.
func (t *Tree) lineage(paths []string, own apart) (lineage, error) {
	l := lineage{tips: [2]int{-1, -1}}
	list := func(revs string, more ...string) ([]commitNode, error) {
		args := append([]string{"--literal-pathspecs", "rev-list", "--stdin", "--full-history", "--parents", "--topo-order", "--format=tformat:%T"}, more...)
		out, err := t.git(t.ctx, strings.NewReader(revs+"--\n"+strings.Join(paths, "\n")+"\n"), args...)
		return parseRevList(out), err
	}
	var err error
	if l.commits, err = list(string(own.tips[0])+"\n"+string(own.tips[1])+"\n", "--reverse"); err != nil {
		return l, err
	}
	at := map[ID]int{}
	seen := map[ID]*Tree{}
	for i, c := range l.commits {
		at[c.id] = i
		var parents []int
		for _, p := range c.parents {
			if j, ok := at[p]; ok {
				parents = append(parents, j)
			}
		}
		if seen[c.tree] == nil {
			seen[c.tree] = t.beside(c.tree)
		}
		l.parents, l.roots = append(l.parents, parents), append(l.roots, seen[c.tree])
	}
	for side, tip := range own.tips {
		newest, err := list(string(tip)+"\n", "-1")
		if err != nil {
			return l, err
		}
		if len(newest) > 0 {
			if i, ok := at[newest[0].id]; ok {
				l.tips[side] = i
			}
		}
	}
	return l, nil
}

// history returns the versions of one file.
func (tx *Tx) history(path string, l lineage) (History, error) {
	h := History{Ours: l.tips[0], Theirs: l.tips[1], Read: func(id ID) ([]byte, error) { return tx.blob(id, path) }}
	for i, root := range l.roots {
		id, err := root.version(path)
		if err != nil {
			return h, err
		}
		h.Versions = append(h.Versions, Version{ID: id, Parents: l.parents[i]})
	}
	return h, nil
}

// version returns the content of a file, or "" if it has no readable one.
func (t *Tree) version(path string) (ID, error) {
	id, err := t.Stat(path)
	var bad *EntryError
	if errors.Is(err, ErrNotFound) || errors.As(err, &bad) {
		return "", nil
	}
	return id, err
}
