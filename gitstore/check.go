package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Problem is something that is not as FORMAT.md says.
type Problem struct {
	Path string // of the file or folder; empty for the store as a whole
	ID   ID     // of the object, where it is about one
	What string
}

func (p Problem) String() string {
	var where string
	if p.Path != "" {
		where = p.Path + ": "
	}
	return where + p.What
}

// Check looks at the store and reports everything that is wrong with it, in the newest tree: that the
// ref names a commit, that every folder can be read and holds only what a store may have. A deep check
// reads every object the ref reaches, history included, and compares its bytes with its id; then git
// fsck checks them by its own rules. The error says that the check could not be made, not that it
// found something.
func (s *Store) Check(ctx context.Context, deep bool, report func(Problem)) error {
	tip, err := s.Tip(ctx)
	if errors.Is(err, git.ErrBrokenRef) {
		report(Problem{What: err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	t, err := s.open(ctx, tip)
	if errors.Is(err, ErrCorrupt) {
		report(Problem{ID: tip, What: err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	defer t.close()
	if t.commit == "" {
		report(Problem{ID: tip, What: "the ref is at a tree, not at a commit"})
	}
	t.checkFolder(t.root, "", 0, report)
	if !deep {
		return ctx.Err()
	}
	if err := s.checkObjects(ctx, t, tip, report); err != nil {
		return err
	}
	return s.fsck(ctx, tip, report)
}

// checkFolder reports what is wrong with a folder and those in it, and goes on after each problem.
func (t *Tree) checkFolder(n *node, prefix string, depth int, report func(Problem)) {
	if err := t.load(n, prefix); err != nil {
		report(Problem{Path: strings.TrimSuffix(prefix, "/"), ID: n.id, What: err.Error()})
		return
	}
	var bad EntryErrors
	var last string
	for i := range n.entries {
		e := &n.entries[i]
		if e.key() < last {
			report(Problem{Path: prefix + e.name, ID: n.id, What: "the folder is not in git's order"})
		}
		last = e.key()
		if bad.pass(e, prefix+e.name, depth) && e.isTree() {
			t.checkFolder(e.node(), prefix+e.name+"/", depth+1, report)
		}
	}
	for _, b := range bad {
		report(Problem{Path: b.Path, What: b.Why})
	}
}

// checkObjects reads every object that the tip reaches.
func (s *Store) checkObjects(ctx context.Context, t *Tree, tip ID, report func(Problem)) error {
	out, err := s.repo.Git(ctx, nil, "rev-list", "--objects", string(tip))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		report(Problem{What: err.Error()}) // and look at what it listed until then
	}
	for line := range strings.Lines(string(out)) {
		id, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if _, err := t.objects.Read(ctx, id); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			report(Problem{Path: path, ID: ID(id), What: err.Error()})
		}
	}
	return nil
}

// fsck asks git about the connectivity of the tip.
func (s *Store) fsck(ctx context.Context, tip ID, report func(Problem)) error {
	cmd := s.repo.Command(ctx, "fsck", "--strict", "--connectivity-only", "--no-dangling", "--no-progress", string(tip))
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "notice:") {
			report(Problem{What: "git fsck: " + line})
		}
	}
	if len(out) == 0 {
		return fmt.Errorf("git fsck: %w", err)
	}
	return nil
}
