package record

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

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
	omit      *gitstore.Omit // the purged content, once asked for
	loaded    [2]shelf       // of the branch and the journal, once read
	actual    *View          // of a view for agents: the full view
	otherwise string         // of a view for agents: its replacements
	agents    *View          // a view of this state for agents; may be nil
	err       error          // damage, returned after the use of the view
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
	for i, tree := range []*gitstore.Tree{v.memory, v.journal} {
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
			if alone, err := v.alone(id, c.Path, i); err != nil || !alone {
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

// alone reports whether an id belongs to one file only, the one at a path of the branch (0) or the
// journal (1).
func (v *View) alone(id, at string, of int) (bool, error) {
	alone := true
	for i, tree := range []*gitstore.Tree{v.memory, v.journal} {
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

// Operations returns the pending operations, sorted by id. The error joins those of unreadable
// files; the others are returned all the same.
func (v *View) Operations() ([]Operation, error) { return records(v.inbox, "ops", ParseOperation) }

// Rejections returns the operations that a person rejected, sorted by id.
func (v *View) Rejections() ([]Rejection, error) { return records(v.inbox, "rejected", ParseRejection) }

// Skills returns the skills on the branch, sorted by name. Anybody who may push can have written
// them.
func (v *View) Skills() ([]SkillFile, error) {
	return recordsNamed(v.memory, SkillDir, func(at string) bool { return path.Base(at) == "SKILL.md" }, ParseSkill)
}

// SkillText returns the text of a skill's file by its name. The error wraps gitstore.ErrNotFound if
// the skill does not exist.
func (v *View) SkillText(name string) ([]byte, error) {
	return v.memory.Read(SkillFile{Name: name}.Path())
}

// Dreams returns this clone's dreams, oldest month first.
func (v *View) Dreams() ([]Dream, error) { return records(v.journal, DreamDir, ParseDream) }

// Reflections returns the reflections in the journal, on this clone's sessions, sorted by id.
func (v *View) Reflections() ([]Reflection, error) { return reflections(v.journal) }

// ReflectionIDs returns the ids of this clone's reflections without reading them.
func (v *View) ReflectionIDs() (map[string]bool, error) {
	ids := map[string]bool{}
	if v.journal == nil {
		return ids, nil
	}
	err := v.journal.Walk(ReflectionDir, func(at string, _ gitstore.ID) error {
		ids[strings.TrimSuffix(path.Base(at), ".json")] = true
		return nil
	})
	if errors.Is(err, gitstore.ErrNotFound) {
		err = nil
	}
	return ids, err
}

// Evidence returns the reflections on the branch, sorted by id. Anyone who can push may have
// written them, so they prove nothing.
func (v *View) Evidence() ([]Reflection, error) { return reflections(v.memory) }

func reflections(tree *gitstore.Tree) ([]Reflection, error) {
	all, err := records(tree, ReflectionDir, ParseReflection)
	slices.SortStableFunc(all, func(a, b Reflection) int { return strings.Compare(a.ID(), b.ID()) })
	return all, err
}

// Checkpoints returns those of this clone, and SharedCheckpoints those on the branch, by session
// and number. A session "<client>/<id>" selects its own alone; "" selects all.
func (v *View) Checkpoints(session string) ([]Checkpoint, error) {
	return checkpoints(v.journal, session)
}

// SharedCheckpoints returns the checkpoints on the branch. Anybody who may push can have written
// them.
func (v *View) SharedCheckpoints(session string) ([]Checkpoint, error) {
	return checkpoints(v.memory, session)
}

// CheckpointsBetween returns the checkpoints of this clone in the months of two times and between,
// unsorted. It reads no others.
func CheckpointsBetween(v *View, from, to time.Time) (all []Checkpoint, err error) {
	from = from.UTC()
	for at := time.Date(from.Year(), from.Month(), 1, 0, 0, 0, 0, time.UTC); !at.After(to); at = at.AddDate(0, 1, 0) {
		some, failed := recordsNamed(v.journal, CheckpointDir+"/"+month(at), func(string) bool { return true }, ParseCheckpoint)
		all, err = append(all, some...), errors.Join(err, failed)
	}
	return all, err
}

func checkpoints(tree *gitstore.Tree, session string) ([]Checkpoint, error) {
	name := func(string) bool { return true }
	if client, id, ok := strings.Cut(session, "/"); ok {
		stem := client + "-" + id + "-"
		name = func(at string) bool { return strings.HasPrefix(path.Base(at), stem) }
	}
	all, err := recordsNamed(tree, CheckpointDir, name, ParseCheckpoint)
	all = slices.DeleteFunc(all, func(c Checkpoint) bool { return session != "" && c.Client+"/"+c.Session != session })
	slices.SortStableFunc(all, func(a, b Checkpoint) int {
		return cmp.Or(strings.Compare(a.Client, b.Client), strings.Compare(a.Session, b.Session), cmp.Compare(a.N, b.N))
	})
	return all, err
}

// Has reports whether a reflection is in the journal.
func (v *View) Has(r Reflection) bool {
	if v.journal == nil {
		return false
	}
	_, err := v.journal.Stat(r.Path())
	return err == nil
}

// operation reads one pending operation. The error wraps gitstore.ErrNotFound if it is not pending.
func (v *View) operation(id string) (Operation, error) {
	if v.inbox == nil || !ValidID(id) {
		return Operation{}, fmt.Errorf("operation %s: %w", id, gitstore.ErrNotFound)
	}
	data, err := v.inbox.Read(OperationPath(id))
	if err != nil {
		return Operation{}, err
	}
	return ParseOperation(OperationPath(id), data)
}

// reflection finds a reflection by its id in a tree, which may be nil. The error wraps
// gitstore.ErrNotFound if it does not exist.
func (v *View) reflection(tree *gitstore.Tree, id string) (Reflection, error) {
	none := fmt.Errorf("reflection %s: %w", id, gitstore.ErrNotFound)
	if tree == nil {
		return Reflection{}, none
	}
	at := ""
	err := tree.Walk(ReflectionDir, func(p string, _ gitstore.ID) error {
		if strings.TrimSuffix(path.Base(p), ".json") == id {
			at = p
		}
		return nil
	})
	if err != nil {
		return Reflection{}, err
	}
	if at == "" {
		return Reflection{}, none
	}
	data, err := tree.Read(at)
	if err != nil {
		return Reflection{}, err
	}
	return ParseReflection(at, data)
}

// records reads every file of a folder. tree may be nil.
func records[T any](tree *gitstore.Tree, dir string, parse func(string, []byte) (T, error)) ([]T, error) {
	return recordsNamed(tree, dir, func(string) bool { return true }, parse)
}

// recordsNamed parses the files of a folder whose paths want accepts.
func recordsNamed[T any](tree *gitstore.Tree, dir string, want func(string) bool, parse func(string, []byte) (T, error)) ([]T, error) {
	if tree == nil {
		return nil, nil
	}
	var paths []string
	var blobs []gitstore.ID
	err := tree.Walk(dir, func(at string, blob gitstore.ID) error {
		if want(at) {
			paths, blobs = append(paths, at), append(blobs, blob)
		}
		return nil
	})
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return nil, err
	}
	var bad []error
	out := make([]T, 0, len(blobs))
	err = tree.ReadAll(blobs, func(i int, data []byte) error {
		r, err := parse(paths[i], data)
		if err != nil {
			bad = append(bad, err)
			return nil
		}
		out = append(out, r)
		return nil
	})
	return out, errors.Join(append(bad, err)...)
}
