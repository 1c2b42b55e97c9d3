package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Tree gives access to the files of one commit. It is valid only inside its function.
type Tree struct {
	ctx     context.Context
	objects git.Objects
	hash    func(kind string, data []byte) git.Object
	newTree func([]git.TreeEntry) git.Object
	git     func(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error)
	commit  ID
	id      ID
	root    *node
	nodes   map[ID]*node  // folders by id; nil in a Tx, whose folders change path by path
	fresh   map[ID][]byte // files written in a Tx, not yet in the repository
}

// node is a folder. Its entries load on first use. Except in a Tx, equal folders share one node,
// whatever their paths. A changed folder has no id until it is saved.
type node struct {
	id      ID
	loaded  bool
	entries []entry
}

// Commit returns the id of the commit; empty in a view of a bare tree.
func (t *Tree) Commit() ID { return t.commit }

// ID returns the id of the root tree; in a Tx, of the tree it began with.
func (t *Tree) ID() ID { return t.id }

// Read returns the bytes of a file. Errors wrap ErrNotFound or ErrCorrupt.
func (t *Tree) Read(path string) ([]byte, error) {
	id, err := t.Stat(path)
	if err != nil {
		return nil, err
	}
	return t.blob(id, path)
}

// Stat returns the id of a file's content without reading it. The error wraps ErrNotFound if the
// path is not a file.
func (t *Tree) Stat(path string) (ID, error) {
	e, err := t.find(path)
	if err != nil {
		return "", err
	}
	if e == nil || e.isTree() {
		return "", fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	return e.id, nil
}

// ReadAll reads many files by id, in the cheapest order, and calls fn with the position of each in
// ids. It reads a repeated id once. fn may keep data but must not change it.
func (t *Tree) ReadAll(ids []ID, fn func(i int, data []byte) error) error {
	var stored []string
	at := make(map[ID][]int, len(ids)) // positions in ids
	for i, id := range ids {
		if data, ok := t.fresh[id]; ok {
			if err := fn(i, data); err != nil {
				return err
			}
			continue
		}
		if at[id] = append(at[id], i); len(at[id]) == 1 {
			stored = append(stored, string(id))
		}
	}
	if len(stored) == 0 {
		return nil
	}
	return damaged(t.objects.ReadAll(t.ctx, stored, func(i int, o git.Object) error {
		if o.Kind != git.Blob {
			return fmt.Errorf("%s is a %s, not a file: %w", o.ID, o.Kind, ErrCorrupt)
		}
		for _, i := range at[ID(o.ID)] {
			if err := fn(i, o.Data); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Walk calls fn for every file below a folder, in git's order; "" is the whole tree. A missing
// folder has no files. The error wraps ErrCorrupt if a folder's object is missing and ErrLimit if
// the tree is beyond the limits. Entries that a store must not have are skipped and returned
// together at the end, as EntryErrors.
func (t *Tree) Walk(dir string, fn func(path string, id ID) error) error {
	n := t.root
	if dir != "" {
		e, err := t.find(dir)
		if err != nil || e == nil {
			return err
		}
		if !e.isTree() {
			return fmt.Errorf("%s: is a file, not a folder", dir)
		}
		n = t.node(e)
		dir += "/"
	}
	w := walker{t: t, fn: fn, count: counter{root: n, prefix: dir}}
	if err := w.walk(n, dir, strings.Count(dir, "/")); err != nil {
		return err
	}
	return w.bad.or()
}

type walker struct {
	t     *Tree
	fn    func(path string, id ID) error
	bad   EntryErrors
	count counter
}

func (w *walker) walk(n *node, prefix string, depth int) error {
	if err := w.t.load(n, prefix); err != nil {
		return err
	}
	if err := w.count.add(w.t, n, prefix); err != nil {
		return err
	}
	for i := range n.entries {
		e := &n.entries[i]
		path := prefix + e.name
		var err error
		switch {
		case !w.bad.pass(e, path, depth):
		case e.isTree():
			err = w.walk(w.t.node(e), path+"/", depth+1)
		default:
			err = w.fn(path, e.id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pass reports whether an entry is allowed, and records it otherwise.
func (bad *EntryErrors) pass(e *entry, path string, depth int) bool {
	why := e.bad
	if why == "" && depth >= MaxDepth {
		why = fmt.Sprintf("deeper than %d names", MaxDepth)
	}
	if why != "" {
		*bad = append(*bad, &EntryError{path, why})
	}
	return why == ""
}

// find returns the entry at a path, or nil.
func (t *Tree) find(path string) (*entry, error) {
	names, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	n := t.root
	for i, name := range names {
		if err := t.load(n, path); err != nil {
			return nil, err
		}
		e := n.get(name)
		switch {
		case e == nil:
			return nil, nil
		case e.bad != "":
			return nil, &EntryError{strings.Join(names[:i+1], "/"), e.bad}
		case i == len(names)-1:
			return e, nil
		case !e.isTree():
			return nil, nil
		}
		n = t.node(e)
	}
	return nil, nil
}

// load reads a folder's entries.
func (t *Tree) load(n *node, path string) (err error) {
	if err := t.ctx.Err(); err != nil { // paths can be many more than folders
		return err
	}
	if n.loaded {
		return nil
	}
	n.entries, err = readFolder(t.ctx, t.objects, n.id, path)
	n.loaded = err == nil
	return err
}

func (t *Tree) blob(id ID, path string) ([]byte, error) {
	if data, ok := t.fresh[id]; ok {
		return data, nil
	}
	o, err := t.read(id, path)
	if err == nil && o.Kind != git.Blob {
		err = fmt.Errorf("%s: %s is a %s, not a file: %w", path, id, o.Kind, ErrCorrupt)
	}
	return o.Data, err
}

// read reads an object of the store; its absence is corruption.
func (t *Tree) read(id ID, path string) (git.Object, error) {
	if err := t.ctx.Err(); err != nil {
		return git.Object{}, err
	}
	o, err := t.objects.Read(t.ctx, string(id))
	if err = damaged(err); err != nil {
		err = at(path, err)
	}
	return o, err
}

// damaged adds ErrCorrupt to an error that implies it.
func damaged(err error) error {
	if errors.Is(err, git.ErrNoObject) || errors.Is(err, git.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

func (t *Tree) close() { t.objects.Close() }

// node returns the folder of an entry.
func (t *Tree) node(e *entry) *node {
	if e.child == nil {
		e.child = t.folder(e.id)
	}
	return e.child
}

// folder returns the folder with an id.
func (t *Tree) folder(id ID) *node {
	n := t.nodes[id]
	if n == nil {
		n = &node{id: id}
		if t.nodes != nil {
			t.nodes[id] = n
		}
	}
	return n
}

// get returns the first entry of a name, or nil.
func (n *node) get(name string) *entry {
	for i := range n.entries {
		if n.entries[i].name == name {
			return &n.entries[i]
		}
	}
	return nil
}
