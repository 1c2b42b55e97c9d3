package record

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// shelf holds the entries of one tree, sorted by path.
type shelf struct {
	tree    gitstore.ID // "" when the ref does not exist
	entries []entry
	damage  gitstore.Damage // unreadable parts; a damaged shelf is not stored
}

// cacheLag bounds the files by which the catalog may lag. A reader parses each of them again in
// about 0.08 ms; writing ten thousand memories takes 12 ms.
const cacheLag = 16

// shelves returns the catalog's content, updated to the two trees.
func shelves(c *catalog.Catalog, memory, journal *gitstore.Tree) (now [2]shelf, err error) {
	from := &source{trees: [2]*gitstore.Tree{memory, journal}}
	was, changed := cached(c, from), 0
	for i, tree := range from.trees {
		if tree == nil {
			continue
		}
		n := 0
		if now[i], n, err = was[i].load(tree); err != nil {
			return now, err
		}
		changed += n
	}
	if changed >= cacheLag && now[0].damage == nil && now[1].damage == nil && c.Unkept() == nil {
		keep(c, from, now)
	}
	return now, nil
}

// cached returns the shelves of the catalog, empty ones if it is damaged.
func cached(c *catalog.Catalog, from *source) (out [2]shelf) {
	for i := range out {
		out[i].tree = gitstore.ID(c.Trees[i])
	}
	var largest int
	for _, s := range c.Segments {
		largest = max(largest, s.Len())
	}
	var rest [2][]entry
	for _, s := range c.Segments {
		sorted := s.Len() == largest && out[0].entries == nil // by key, as every segment
		if sorted {
			out[0].entries = make([]entry, 0, largest)
		}
		for doc := range s.Len() {
			if flags := s.Flags(doc); s.Live(doc) && flags&IsGiven == 0 {
				e := entry{key: s.Key(doc), flags: flags, doc: int32(doc), in: s, from: from}
				i := flags & isPrivate
				switch {
				case !e.is(isBad) && len(e.key) < 16:
					return [2]shelf{}
				case sorted && !e.is(isBad):
					out[i].entries = append(out[i].entries, e)
				default:
					rest[i] = append(rest[i], e)
				}
			}
		}
	}
	for i := range out {
		slices.SortFunc(rest[i], byPath)
		out[i].entries = merged(out[i].entries, rest[i])
	}
	if c.Err() != nil {
		return [2]shelf{}
	}
	return out
}

// merged merges entries, both sorted by path. It searches for the places of the fewer ones.
func merged(many, few []entry) []entry {
	if len(many) < len(few) {
		many, few = few, many
	}
	if len(few) == 0 {
		return many
	}
	out := make([]entry, 0, len(many)+len(few))
	for _, e := range few {
		n, _ := slices.BinarySearchFunc(many, e, byPath)
		out = append(append(out, many[:n]...), e)
		many = many[n:]
	}
	return append(out, many...)
}

// byPath compares entries by path. Ids, which are cheaper to get, have the same order.
func byPath(a, b entry) int {
	if !a.is(isBad) && !b.is(isBad) {
		if n := strings.Compare(a.id(), b.id()); n != 0 {
			return n
		}
	}
	return strings.Compare(a.path(), b.path())
}

// keyed returns the catalog keys of a shelf's entries: the id, followed by + for a private one. If
// several files share an id, the first readable one has it, and the others' keys include their
// path.
func (s *shelf) keyed(private bool) []string {
	mark, last := "", ""
	if private {
		mark = "+"
	}
	keys := make([]string, len(s.entries))
	for i := range s.entries {
		switch e := &s.entries[i]; {
		case e.is(isBad):
			keys[i] = "!" + mark + e.path()
		case e.id() == last:
			keys[i] = last + mark + "!" + e.path()
		default:
			last = e.id()
			if keys[i] = last + mark; keys[i] == e.key {
				keys[i] = e.key
			}
		}
	}
	return keys
}

// keep writes the changes to the catalog. If it fails, the next reader repeats the work.
func keep(c *catalog.Catalog, from *source, now [2]shelf) {
	ch := c.Change(terms.Grams)
	to := catalog.State{Trees: [2]string{string(now[0].tree), string(now[1].tree)}, Analysis: c.Analysis, Purged: purgedOf(from.trees[:]...)}
	stay := map[string]bool{}
	for i := range now {
		for j, key := range now[i].keyed(i == 1) {
			e := &now[i].entries[j]
			if e.in != nil && e.key == key {
				stay[key] = true
				continue
			}
			d, ok := e.document(key, i == 1)
			if !ok || ch.Add(d) != nil {
				return
			}
		}
	}
	for _, s := range ch.Segments {
		for doc := range s.Len() {
			if s.Live(doc) && !stay[s.Key(doc)] && (s.Flags(doc)&IsGiven == 0 || to.Purged != c.Purged) {
				s.Remove(doc)
			}
		}
	}
	if y, err := ch.Commit(context.Background(), to, 0); err == nil {
		y.Close()
	}
}

// load updates a shelf to a tree. It parses only changed files, as long as git still has the
// shelf's old tree, and returns their number. Damaged parts are left out and noted in the shelf.
func (s shelf) load(tree *gitstore.Tree) (now shelf, changed int, err error) {
	if s.tree == tree.ID() {
		return s, 0, nil
	}
	if slices.ContainsFunc(s.entries, func(e entry) bool { return e.is(isBad) && e.blob() == "" }) {
		s = shelf{} // a difference does not show entries that are not files
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

// update is load in one go. The error may be a gitstore.Damage of folders: the shelf has all
// others.
func (s shelf) update(tree *gitstore.Tree) (now shelf, changed int, err error) {
	var fresh []entry
	gone, ids := map[string]bool{}, map[string]bool{}
	err = tree.Diff(s.tree, func(c gitstore.Change) error {
		if strings.HasPrefix(c.Path, MemoryDir+"/") {
			gone[c.Path] = true
			if id, ok := MemoryID(c.Path); ok {
				ids[id] = true
			}
			if c.New != "" {
				fresh = append(fresh, entry{file: &parsed{path: c.Path, blob: c.New}})
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
		fresh = append(fresh, entry{flags: isBad, file: &parsed{path: e.Path, bad: &FormatError{Path: e.Path, Reason: e.Why}}})
	}
	now.entries = s.entries
	if len(gone) > 0 {
		now.entries = slices.DeleteFunc(slices.Clone(s.entries), func(e entry) bool {
			return (e.is(isBad) || ids[e.id()]) && gone[e.path()]
		})
	}
	slices.SortFunc(fresh, byPath)
	now.entries = merged(now.entries, fresh)
	if folders != nil {
		return now, len(gone) + len(bad), folders
	}
	return now, len(gone) + len(bad), nil
}

// parseAll parses the entries' blobs on all processors, and removes damaged ones.
func parseAll(tree *gitstore.Tree, entries []entry) ([]entry, gitstore.Damage, error) {
	ids := make([]gitstore.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.blob()
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
		if len(data) > MaxMemory { // too large, refused without a copy
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

// parseEach is parseAll one by one. It names a file that is damaged or too large for a memory, and
// reads the others.
func parseEach(tree *gitstore.Tree, entries []entry) (good []entry, damage gitstore.Damage, err error) {
	for _, e := range entries {
		data, err := tree.Read(e.path())
		switch {
		case errors.Is(err, gitstore.ErrTooLarge):
			e.spoil(err)
		case errors.Is(err, gitstore.ErrCorrupt):
			damage = append(damage, err)
			continue
		case err != nil:
			return nil, nil, err
		default:
			e.parse(data)
		}
		good = append(good, e)
	}
	return good, damage, nil
}

func (e *entry) parse(data []byte) {
	e.flags, e.file.bad = 0, nil
	m, err := ParseMemory(e.file.path, data)
	if err != nil {
		e.spoil(err)
		return
	}
	e.pack(m)
}

func (e *entry) spoil(err error) {
	e.flags = isBad
	if !errors.As(err, &e.file.bad) {
		e.file.bad = &FormatError{Path: e.file.path, Reason: err.Error()}
	}
}
