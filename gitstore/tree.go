package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Tree is the files of one commit. It is valid only inside the function it was given to.
type Tree struct {
	ctx     context.Context
	objects git.Objects
	hash    func(kind string, data []byte) git.Object
	git     func(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error)
	commit  ID
	id      ID
	root    *node
	fresh   map[ID][]byte // files written in a Tx, not yet in the repository
}

// node is a folder. Its entries are read when they are first needed. A changed folder has no id until
// it is saved.
type node struct {
	id      ID
	loaded  bool
	entries []entry
}

// Commit is the id of the commit; empty in a view of a bare tree.
func (t *Tree) Commit() ID { return t.commit }

// ID is the id of the root tree; in a Tx, of the tree it began with.
func (t *Tree) ID() ID { return t.id }

// Read returns the bytes of a file. Errors wrap ErrNotFound or ErrCorrupt.
func (t *Tree) Read(path string) ([]byte, error) {
	id, err := t.Stat(path)
	if err != nil {
		return nil, err
	}
	return t.blob(id, path)
}

// Stat returns the id of a file's content without reading it. The error wraps ErrNotFound if there is no
// file, also where path is a folder.
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

// ReadAll reads many files by their ids and calls fn with the position of each in ids, in the order that
// costs least. fn keeps data if it likes.
func (t *Tree) ReadAll(ids []ID, fn func(i int, data []byte) error) error {
	var stored []string
	var at []int // position in ids of each of stored
	for i, id := range ids {
		if data, ok := t.fresh[id]; ok {
			if err := fn(i, data); err != nil {
				return err
			}
			continue
		}
		stored, at = append(stored, string(id)), append(at, i)
	}
	if len(stored) == 0 {
		return nil
	}
	return damaged(t.objects.ReadAll(t.ctx, stored, func(i int, o git.Object) error {
		if o.Kind != git.Blob {
			return fmt.Errorf("%s is a %s, not a file: %w", o.ID, o.Kind, ErrCorrupt)
		}
		return fn(at[i], o.Data)
	}))
}

// Walk calls fn for every file below a folder, in git's order; "" is the whole tree. A folder that is
// not there has no files. A folder whose object is missing ends the walk with an error wrapping
// ErrCorrupt. Entries that a store must not have are passed over and returned together, as
// EntryErrors, when all else was visited.
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
		n = e.node()
		dir += "/"
	}
	var bad EntryErrors
	if err := t.walk(n, dir, strings.Count(dir, "/"), &bad, fn); err != nil {
		return err
	}
	return bad.or()
}

func (t *Tree) walk(n *node, prefix string, depth int, bad *EntryErrors, fn func(path string, id ID) error) error {
	if err := t.load(n, prefix); err != nil {
		return err
	}
	for i := range n.entries {
		e := &n.entries[i]
		path := prefix + e.name
		var err error
		switch {
		case !bad.pass(e, path, depth):
		case e.isTree():
			err = t.walk(e.node(), path+"/", depth+1, bad, fn)
		default:
			err = fn(path, e.id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pass reports whether an entry may be visited, and notes it if not.
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
		n = e.node()
	}
	return nil, nil
}

// load reads a folder's entries.
func (t *Tree) load(n *node, path string) error {
	if n.loaded {
		return nil
	}
	if err := t.ctx.Err(); err != nil { // folders in folders of the same id can be many more than objects
		return err
	}
	o, err := t.read(n.id, path)
	if err != nil {
		return err
	}
	if o.Kind != git.Tree {
		return fmt.Errorf("%s: %s is a %s, not a folder: %w", path, n.id, o.Kind, ErrCorrupt)
	}
	if n.entries, err = parseTree(o.Data, len(n.id)/2); err != nil {
		return fmt.Errorf("%s: %s: %w: %w", path, n.id, ErrCorrupt, err)
	}
	n.loaded = true
	return nil
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

// read reads an object that the store refers to, so its absence is damage.
func (t *Tree) read(id ID, path string) (git.Object, error) {
	o, err := t.objects.Read(t.ctx, string(id))
	if err = damaged(err); err != nil && path != "" {
		err = fmt.Errorf("%s: %w", strings.TrimSuffix(path, "/"), err)
	}
	return o, err
}

// damaged adds ErrCorrupt to an error that means it.
func damaged(err error) error {
	if errors.Is(err, git.ErrNoObject) || errors.Is(err, git.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

func (t *Tree) close() { t.objects.Close() }

// node is the folder that an entry names.
func (e *entry) node() *node {
	if e.child == nil {
		e.child = &node{id: e.id}
	}
	return e.child
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
