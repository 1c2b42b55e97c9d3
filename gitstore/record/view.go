package record

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/catalog"
)

// View is a consistent snapshot of all records. It is valid inside the function it was given to;
// the values it returns may outlive it. It parses memories on first use. It is not safe for
// concurrent use.
type View struct {
	memory, journal, inbox *gitstore.Tree // journal and inbox may be nil
	fallback               bool
	shelves                func() ([2]shelf, error) // nil once they were read
	// entries are the readable files of the branch and the journal, sorted by id.
	entries   []*entry
	own       []bool // entry by entry: it is of the journal
	bad       []*FormatError
	purges    PurgeSet
	loaded    [2]shelf // of the branch and the journal, once read
	actual    *View    // of a view for agents: the full view
	otherwise string   // of a view for agents: its replacements
	agents    *View    // a view of this state for agents; may be nil
	err       error    // damage, returned after the use of the view
}

// read loads the entries once.
func (v *View) read() {
	if v.shelves == nil {
		return
	}
	all, err := v.shelves()
	v.shelves = nil
	if err != nil {
		v.err = errors.Join(v.err, err)
		return
	}
	v.loaded = all
	v.err = errors.Join(append(append([]error{v.err}, all[0].damage...), all[1].damage...)...)
	a, b := v.good(&v.loaded[0]), v.good(&v.loaded[1])
	if len(b) == 0 {
		v.entries, v.own = a, make([]bool, len(a))
		return
	}
	for len(a) > 0 || len(b) > 0 {
		fromB := len(a) == 0 || len(b) > 0 && b[0].id() < a[0].id()
		if fromB {
			v.entries, b = append(v.entries, b[0]), b[1:]
		} else {
			if len(b) > 0 && b[0].id() == a[0].id() {
				if b[0].blob() != a[0].blob() { // a writer to the branch must not hide this clone's own record
					v.bad = append(v.bad, &FormatError{Path: a[0].path(), Field: "id", Reason: "the same id as a private memory of this clone, which counts"})
					a = a[1:]
					continue
				}
				b = b[1:]
			}
			v.entries, a = append(v.entries, a[0]), a[1:]
		}
		v.own = append(v.own, fromB)
	}
}

// done returns the damage that the view met.
func (v *View) done() error {
	if v.agents != nil {
		return cmp.Or(v.err, v.agents.err)
	}
	return v.err
}

// Damage returns the missing objects met so far, normally nil. With damage the view is incomplete,
// and its Key does not show that. Check it before storing anything under the Key.
func (v *View) Damage() error { return v.err }

// good returns the readable entries of a shelf in the order of ids, each id once, and records the
// others as bad.
func (v *View) good(s *shelf) []*entry {
	out := make([]*entry, 0, len(s.entries))
	for i := range s.entries {
		e := &s.entries[i]
		switch {
		case e.is(isBad):
			v.bad = append(v.bad, e.get().bad)
		case len(out) > 0 && out[len(out)-1].id() == e.id():
			v.bad = append(v.bad, &FormatError{Path: e.path(), Field: "id", Reason: "the same id as " + out[len(out)-1].path() + "; keep one of them"})
		default:
			out = append(out, e)
		}
	}
	return out
}

// Bad returns the files of memories that cannot be read, sorted by path.
func (v *View) Bad() []*FormatError {
	v.read()
	return v.bad
}

// File locates a memory of the view.
type File struct {
	ID      string // of the memory
	Path    string
	Blob    gitstore.ID
	Private bool // it is of the journal
	Retired bool
}

// Files returns the files of all readable memories, sorted by id. Memory parses one of them.
func (v *View) Files() []File {
	v.read()
	out := make([]File, len(v.entries))
	for i, e := range v.entries {
		out[i] = File{e.id(), e.path(), e.blob(), v.own[i], e.is(isRetired)}
	}
	return out
}

// Kept is a file as the catalog stores it, without its search terms.
type Kept struct {
	Key  string
	File int // its number in Files; -1: not among them
	of   *entry

	private bool
}

// Doc returns the document of a file. ok is false if its content was lost.
func (k Kept) Doc() (d catalog.Doc, ok bool) { return k.of.document(k.Key, k.private) }

// Kept returns all files, including unreadable ones.
func (v *View) Kept() (all []Kept) {
	v.read()
	files := make(map[*entry]int, len(v.entries))
	for i, e := range v.entries {
		files[e] = i
	}
	for i := range v.loaded {
		for j, key := range v.loaded[i].keyed(i == 1) {
			e := &v.loaded[i].entries[j]
			n, ok := files[e]
			if !ok {
				n = -1
			}
			all = append(all, Kept{key, n, e, i == 1})
		}
	}
	return all
}

// StateOf returns the state of a catalog with all documents of Kept.
func StateOf(v *View) catalog.State {
	s := catalog.State{Trees: [2]string{string(v.memory.ID())}, Key: v.Key(), Purged: purgedOf(v.memory, v.journal)}
	if v.journal != nil {
		s.Trees[1] = string(v.journal.ID())
	}
	return s
}

// Change is a changed file of a memory.
type Change struct {
	ID      string
	Path    string
	Private bool // it is of the journal
	Born    bool // it is new
	Blob    gitstore.ID
	Memory  Memory // zero where Blob is ""
}

// Doc returns the document of a changed file, which has a Memory.
func (c Change) Doc() catalog.Doc { return Document(c.Path, c.Blob, c.Memory, c.Private) }

// Since returns the changes since the state with a Key, at most the given number. ok is false if
// there are more, git has lost that state, or something cannot be read; then use Files.
func (v *View) Since(key string, most int) (changes []Change, ok bool) {
	memory, journal, ok := strings.Cut(key, "+")
	if !ok || memory == "" || v.otherwise != "" || strings.Contains(journal, "+") {
		return nil, false
	}
	trees := [2]*gitstore.Tree{v.memory, v.journal}
	for i, tree := range trees {
		old := gitstore.ID([]string{memory, journal}[i])
		if tree == nil {
			if old != "" {
				return nil, false
			}
			continue
		}
		err := tree.Diff(old, func(c gitstore.Change) error {
			id, is := MemoryID(c.Path)
			switch {
			case !strings.HasPrefix(c.Path, MemoryDir+"/"):
				return nil
			case !is || len(changes) == most:
				return errTooMany
			}
			change := Change{ID: id, Path: c.Path, Private: i == 1, Blob: c.New}
			if alone, err := alone(trees, id, c.Path, i); err != nil || !alone {
				return cmp.Or(err, errTooMany)
			}
			if c.New != "" {
				data, err := tree.Read(c.Path)
				if err != nil {
					return err
				}
				if change.Memory, err = ParseMemory(c.Path, data); err != nil {
					return err
				}
				change.Memory.Private = change.Private
			}
			changes = append(changes, change)
			return nil
		})
		if err != nil {
			return nil, false
		}
	}
	return changes, true
}

// alone reports whether an id belongs to one file only: the one at a path of the branch (trees[0])
// or of the journal.
func alone(trees [2]*gitstore.Tree, id, at string, of int) (bool, error) {
	alone := true
	for i, tree := range trees {
		if tree == nil {
			continue
		}
		err := tree.Walk(path.Dir(at), func(p string, _ gitstore.ID) error {
			if other, is := MemoryID(p); is && other == id && (p != at || i != of) {
				alone = false
			}
			return nil
		})
		if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
			return false, err
		}
	}
	return alone, nil
}

// errTooMany ends a comparison early.
var errTooMany = errors.New("too many changes")

// Memory returns the memory of the file with a number in Files. It is zero if the file cannot be
// read any more, which is a Damage.
func (v *View) Memory(i int) Memory { return v.at(i) }

// Memories returns every readable memory, of the branch and of the journal, sorted by id.
func (v *View) Memories() []Memory {
	v.read()
	out := make([]Memory, len(v.entries))
	for i := range v.entries {
		out[i] = v.at(i)
	}
	return out
}

// at returns the memory of an entry: from the catalog, or from git if that is damaged. If git has
// lost it too, the view is damaged.
func (v *View) at(i int) Memory {
	e := v.entries[i]
	m, ok := e.memory()
	if !ok {
		v.err = cmp.Or(v.err, e.from.err, fmt.Errorf("read %s: %w", e.path(), gitstore.ErrCorrupt))
		return Memory{}
	}
	m.Private = v.own[i]
	return m
}

// Tip returns the branch's commit and Tree its tree.
func (v *View) Tip() gitstore.ID  { return v.memory.Commit() }
func (v *View) Tree() gitstore.ID { return v.memory.ID() }

// Fallback reports whether the fallback store was read, because this clone has no branch yet.
func (v *View) Fallback() bool { return v.fallback }

// Key changes whenever a memory does, on the branch or in the journal.
func (v *View) Key() string {
	key := string(v.memory.ID()) + "+"
	if v.journal != nil {
		key += string(v.journal.ID())
	}
	if v.otherwise != "" {
		key += "+" + v.otherwise
	}
	return key
}

// Blob is git's object id of a memory's file.
func (v *View) Blob(id string) (gitstore.ID, bool) {
	i, ok := v.index(id)
	if !ok {
		return "", false
	}
	return v.entries[i].blob(), true
}

// Config returns the text of reverie.toml on the branch, or nil.
func (v *View) Config() ([]byte, error) {
	data, err := v.memory.Read("reverie.toml")
	if errors.Is(err, gitstore.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

// Content returns the bytes of any blob of the repository. The error wraps gitstore.ErrCorrupt if
// git has lost it.
func (v *View) Content(blob gitstore.ID) (text []byte, err error) {
	err = v.memory.ReadAll([]gitstore.ID{blob}, func(_ int, data []byte) error { text = slices.Clone(data); return nil })
	return text, err
}

// ConfigBlob returns git's object id of reverie.toml on the branch, or "".
func (v *View) ConfigBlob() (gitstore.ID, error) {
	id, err := v.memory.Stat("reverie.toml")
	if errors.Is(err, gitstore.ErrNotFound) {
		return "", nil
	}
	return id, err
}

// Branch returns the records on the branch. Anyone who can push may have written them, so they
// prove nothing.
func (v *View) Branch() Records { return Records{v.memory} }

// Journal returns the records in the journal, which this clone made.
func (v *View) Journal() Records { return Records{v.journal} }

// Inbox returns the pending operations and the rejected ones.
func (v *View) Inbox() Records { return Records{v.inbox} }

// Purges returns the view's purge records. They are read at first use.
func (v *View) Purges() *PurgeSet {
	v.purges.trees = [2]*gitstore.Tree{v.memory, v.journal}
	return &v.purges
}

func (v *View) index(id string) (int, bool) {
	v.read()
	return slices.BinarySearchFunc(v.entries, id, func(e *entry, id string) int { return strings.Compare(e.id(), id) })
}

// Find returns the memory whose id begins with prefix. The error wraps ErrNoMemory or ErrAmbiguous.
func (v *View) Find(prefix string) (Memory, error) {
	i, ok := v.index(prefix)
	if !ok {
		e, err := byID(v.entries, (*entry).id, prefix)
		if err != nil {
			return Memory{}, err
		}
		i, _ = v.index(e.id())
	}
	return v.at(i), nil
}

// Same returns a memory whose statement means the same as text, preferably one in force.
func (v *View) Same(text string) (m Memory, found bool) {
	v.read()
	print := Print(text)
	for i, e := range v.entries {
		if e.mark() != print.mark() {
			continue
		}
		of := e.print()
		wordless := of.words == "" && print.words == "" // no word that carries meaning
		if !wordless && !of.Same(print) {
			continue
		}
		switch held := v.at(i); {
		case wordless && Normal(held.Text) != Normal(text):
		case held.Status != Retired:
			return held, true
		case !found:
			m, found = held, true
		}
	}
	return m, found
}

// Alike returns memories, retired ones included, whose statements share at least this part of their
// words with text, the most alike first.
func (v *View) Alike(text string, share float64) []Memory {
	v.read()
	print := Print(text)
	var found []Memory
	likeness := map[string]float64{}
	for i, e := range v.entries {
		if !mayShare(e.mark(), print.mark(), share) {
			continue
		}
		if n := e.print().Alike(print); n >= share {
			likeness[e.id()], found = n, append(found, v.at(i))
		}
	}
	slices.SortFunc(found, func(a, b Memory) int {
		return cmp.Or(cmp.Compare(likeness[b.ID], likeness[a.ID]), strings.Compare(a.ID, b.ID))
	})
	return found
}

// Retired returns the retired memory with the meaning of a statement, if none in force has it.
func (v *View) Retired(text string) (Memory, bool) {
	m, found := v.Same(text)
	return m, found && m.Status == Retired
}
