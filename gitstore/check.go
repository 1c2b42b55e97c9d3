package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Problem is a violation of FORMAT.md.
type Problem struct {
	Path string // of the file or folder; empty for the store as a whole
	ID   ID     // of the object, if it is about one
	What string
}

func (p Problem) String() string {
	var where string
	if p.Path != "" {
		where = p.Path + ": "
	}
	return where + p.What
}

// Check reports every fault in the newest tree. The ref must name a commit, every folder must be
// readable and hold only allowed entries, and every file must be readable. It reads the whole tree.
//
// A deep check reads every object that the ref reaches, history included, and compares its bytes
// with its id. Then git fsck applies its own rules. The error means that the check could not run,
// not that it found a fault.
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
	if lost, err := s.Lost(ctx); err != nil {
		return err
	} else if lost != "" {
		report(Problem{ID: lost, What: goneBack(s.ref, lost)})
	}
	files := map[ID]string{}
	c := checkWalk{t: t, files: files, report: report, count: counter{root: t.root}}
	if err := c.folder(t.root, "", 0); errors.Is(err, ErrLimit) {
		report(Problem{What: err.Error()})
		return nil
	}
	t.checkFiles(files, report)
	if err := ctx.Err(); err != nil || !deep {
		return err
	}
	if err := c.objects(ctx, tip); err != nil {
		return err
	}
	return fsck(ctx, s.repo, tip, report)
}

// checkWalk collects the contents of files, each with its first path.
type checkWalk struct {
	t      *Tree
	files  map[ID]string
	report func(Problem)
	count  counter
}

// folder reports the faults of a folder and its subfolders, and continues after each one. Beyond
// the limits of a tree it returns a LimitError.
func (c *checkWalk) folder(n *node, prefix string, depth int) error {
	if err := c.t.load(n, prefix); errors.Is(err, ErrLimit) || c.t.ctx.Err() != nil {
		return err
	} else if err != nil {
		path := strings.TrimSuffix(prefix, "/")
		c.report(Problem{Path: path, ID: n.id, What: strings.TrimPrefix(err.Error(), path+": ")})
		return nil
	}
	if err := c.count.add(c.t, n, prefix); err != nil {
		return err
	}
	var bad EntryErrors
	var last string
	for i := range n.entries {
		e := &n.entries[i]
		if e.key() < last {
			c.report(Problem{Path: prefix + e.name, ID: n.id, What: "the folder is not in git's order"})
		}
		last = e.key()
		switch path := prefix + e.name; {
		case !bad.pass(e, path, depth):
		case e.isTree():
			if err := c.folder(c.t.node(e), path+"/", depth+1); err != nil {
				return err
			}
		case c.files[e.id] == "":
			c.files[e.id] = path
		}
	}
	for _, b := range bad {
		c.report(Problem{Path: b.Path, What: b.Why})
	}
	return nil
}

// checkFiles reads the content of every file.
func (t *Tree) checkFiles(files map[ID]string, report func(Problem)) {
	ids := slices.SortedFunc(maps.Keys(files), func(a, b ID) int { return strings.Compare(files[a], files[b]) })
	// Files are read in the cheapest order, in a partial clone with one fetch. If one is damaged this
	// ends early, and they are read one by one.
	if t.ReadAll(ids, func(int, []byte) error { return nil }) == nil {
		return
	}
	for _, id := range ids {
		if t.ctx.Err() != nil {
			return
		}
		if _, err := t.blob(id, ""); err != nil {
			report(Problem{Path: files[id], ID: id, What: err.Error()})
		}
	}
}

// objects reads every object that the tip reaches, except the files read before.
func (c *checkWalk) objects(ctx context.Context, tip ID) error {
	out, err := c.t.git(ctx, nil, "rev-list", "--objects", string(tip))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.report(Problem{What: err.Error()}) // and check the entries listed before the error
	}
	for line := range strings.Lines(string(out)) {
		id, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if c.files[ID(id)] != "" {
			continue
		}
		if _, err := c.t.objects.Read(ctx, id); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.report(Problem{Path: path, ID: ID(id), What: err.Error()})
		}
	}
	return nil
}

// fsck asks git about the connectivity of the tip.
func fsck(ctx context.Context, repo *git.Repo, tip ID, report func(Problem)) error {
	cmd := repo.Command(ctx, "fsck", "--strict", "--connectivity-only", "--no-dangling", "--no-progress", string(tip))
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return nil
	}
	said := map[string]bool{"": true} // git repeats its message about a damaged pack for each object
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); !said[line] && !strings.HasPrefix(line, "notice:") {
			said[line] = true
			report(Problem{What: "git fsck: " + line})
		}
	}
	if len(out) == 0 {
		return fmt.Errorf("git fsck: %w", err)
	}
	return nil
}

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
	log, err := repo.Refs().Log(ctx, ref)
	if err != nil {
		return "", "", err
	}
	ids := log.IDs()
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
