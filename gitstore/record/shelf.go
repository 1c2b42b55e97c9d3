package record

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/gitstore"
)

// load brings a shelf up to date with a tree. It parses only files that changed, as long as
// git still has the tree the shelf was made from, and says how many that were. What of the tree is
// damaged is left out, and noted in the shelf.
func (s shelf) load(tree *gitstore.Tree) (now shelf, changed int, err error) {
	if s.tree == tree.ID() {
		return s, 0, nil
	}
	if slices.ContainsFunc(s.entries, func(e entry) bool { return e.blob == "" }) {
		s = shelf{} // what is no file at all does not show in a difference
	}
	now, changed, err = s.update(tree)
	var damage gitstore.Damage
	if s.tree != "" && (errors.Is(err, gitstore.ErrNotFound) || errors.Is(err, gitstore.ErrCorrupt)) {
		now, changed, err = shelf{}.update(tree)
	}
	if errors.As(err, &damage) {
		now.damage, err = append(damage, now.damage...), nil
	}
	return now, changed, err
}

// update is load in one go. The error may be a gitstore.Damage of folders: the shelf has all others.
func (s shelf) update(tree *gitstore.Tree) (now shelf, changed int, err error) {
	var fresh []entry
	gone := map[string]bool{}
	err = tree.Diff(s.tree, func(c gitstore.Change) error {
		if strings.HasPrefix(c.Path, MemoryDir+"/") {
			gone[c.Path] = true
			if c.New != "" {
				fresh = append(fresh, entry{path: c.Path, blob: c.New})
			}
		}
		return nil
	})
	var bad gitstore.EntryErrors
	var folders gitstore.Damage
	if err != nil && !errors.As(err, &bad) && !errors.As(err, &folders) {
		return shelf{}, 0, err
	}
	if fresh, now.damage, err = parseAll(tree, fresh); err != nil {
		return shelf{}, 0, err
	}
	now.tree = tree.ID()
	for _, e := range bad {
		fresh = append(fresh, entry{path: e.Path, bad: &FormatError{Path: e.Path, Reason: e.Why}})
	}
	slices.SortFunc(fresh, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	now.entries = make([]entry, 0, len(s.entries)+len(fresh))
	for _, e := range s.entries { // both are in order: merge them
		for len(fresh) > 0 && fresh[0].path <= e.path {
			now.entries, fresh = append(now.entries, fresh[0]), fresh[1:]
		}
		if len(gone) == 0 || !gone[e.path] {
			now.entries = append(now.entries, e)
		}
	}
	now.entries = append(now.entries, fresh...)
	if folders != nil {
		return now, len(gone) + len(bad), folders
	}
	return now, len(gone) + len(bad), nil
}

// parseAll fills in the entries' memories from their blobs, on all processors. Damaged ones are taken out.
func parseAll(tree *gitstore.Tree, entries []entry) ([]entry, gitstore.Damage, error) {
	ids := make([]gitstore.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.blob
	}
	type job struct {
		i    int
		data []byte
	}
	jobs := make(chan []job, 4)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for batch := range jobs {
				for _, j := range batch {
					entries[j.i].parse(j.data)
				}
			}
		})
	}
	var batch []job
	err := tree.ReadAll(ids, func(i int, data []byte) error {
		if len(data) > MaxMemory { // refused for its size, without a copy
			entries[i].parse(data)
			return nil
		}
		if batch = append(batch, job{i, slices.Clone(data)}); len(batch) == 64 {
			jobs <- batch
			batch = nil
		}
		return nil
	})
	jobs <- batch
	close(jobs)
	wg.Wait()
	if errors.Is(err, gitstore.ErrTooLarge) || errors.Is(err, gitstore.ErrCorrupt) {
		return parseEach(tree, entries)
	}
	return entries, nil, err
}

// parseEach is parseAll one by one, for when a file among them cannot be a memory for its size, or is
// damaged: it is named, and the others are read.
func parseEach(tree *gitstore.Tree, entries []entry) (good []entry, damage gitstore.Damage, err error) {
	for _, e := range entries {
		data, err := tree.Read(e.path)
		switch {
		case errors.Is(err, gitstore.ErrTooLarge):
			e.bad = &FormatError{Path: e.path, Reason: err.Error()}
		case errors.Is(err, gitstore.ErrCorrupt):
			damage = append(damage, err)
			continue
		case err != nil:
			return nil, nil, err
		default:
			e.bad = nil
			e.parse(data)
		}
		good = append(good, e)
	}
	return good, damage, nil
}

func (e *entry) parse(data []byte) {
	m, err := ParseMemory(e.path, data)
	if err != nil {
		if !errors.As(err, &e.bad) {
			e.bad = &FormatError{Path: e.path, Reason: err.Error()}
		}
		return
	}
	e.pack(m)
}
