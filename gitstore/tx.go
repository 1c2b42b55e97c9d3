package gitstore

import (
	"fmt"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Tx is a tree under change, which sees its own writes. It is valid only inside its function, and
// has no effect until that returns nil.
type Tx struct {
	*Tree
	message Commit
	added   []string // new files
	crowded bool     // one of them is in a folder of very many
}

// crowd is the number of entries in a folder that suggests a tree near its limit. Names begin with
// two digits of a hash, so other folders have as many.
const crowd = MaxEntries / 256

// fits returns a LimitError if the tree is beyond the limits of a store.
func (tx *Tx) fits() error {
	if !tx.crowded && len(tx.added) < crowd {
		return nil
	}
	return newScale(tx.ctx, tx.objects).grows(tx.Tree.id, tx.added)
}

// change begins a Tx on a tree, which nothing else uses from then on.
func (t *Tree) change(c Commit) *Tx {
	t.fresh, t.nodes = map[ID][]byte{}, nil
	t.root = &node{id: t.id}
	return &Tx{Tree: t, message: c}
}

// SetCommit replaces the commit message given to Update, for a subject that depends on fn's work.
func (tx *Tx) SetCommit(c Commit) { tx.message = c }

// Write writes a file and makes its folders. It refuses text longer than MaxFile, and with an
// *EntryError a path that some file system would read differently.
func (tx *Tx) Write(path string, text redact.Redacted) error {
	if text.Len() > MaxFile {
		return &EntryError{path, fmt.Sprintf("%d bytes are more than the %d a file may have", text.Len(), MaxFile)}
	}
	o := tx.hash(git.Blob, []byte(text.String()))
	tx.fresh[ID(o.ID)] = o.Data
	return tx.set(path, ID(o.ID))
}

// Delete removes a file and the folders that it leaves empty. The error wraps ErrNotFound if the
// file does not exist.
func (tx *Tx) Delete(path string) error {
	if _, err := tx.Stat(path); err != nil {
		return err
	}
	return tx.set(path, "")
}

// set sets the content of a path, which the repository has or is about to get; "" removes it.
func (tx *Tx) set(path string, id ID) error {
	names, err := splitPath(path)
	if err != nil {
		return err
	}
	_, err = tx.setIn(tx.root, path, names, id)
	return err
}

// setIn sets the file at names below a folder, and reports whether the folder changed.
func (tx *Tx) setIn(n *node, path string, names []string, id ID) (changed bool, err error) {
	if err := tx.load(n, path); err != nil {
		return false, err
	}
	e := n.get(names[0])
	if e != nil && e.bad != "" {
		return false, &EntryError{path, e.bad}
	}
	if len(names) == 1 {
		if changed, err = n.setFile(e, path, names[0], id); changed && e == nil {
			tx.added = append(tx.added, path)
			tx.crowded = tx.crowded || len(n.entries) > crowd
		}
	} else {
		changed, err = tx.setBelow(n, e, path, names, id)
	}
	if changed {
		n.id = ""
	}
	return changed, err
}

func (n *node) setFile(e *entry, path, name string, id ID) (changed bool, err error) {
	switch {
	case e != nil && e.isTree():
		return false, &EntryError{path, "is a folder"}
	case e == nil && id == "", e != nil && e.id == id:
		return false, nil
	case e == nil:
		n.entries = append(n.entries, entry{mode: modeFile, name: name, id: id})
	case id == "":
		n.remove(name)
	default:
		e.id = id
	}
	return true, nil
}

func (tx *Tx) setBelow(n *node, e *entry, path string, names []string, id ID) (changed bool, err error) {
	if e != nil && !e.isTree() {
		return false, &EntryError{path, fmt.Sprintf("%s in it is a file", names[0])}
	}
	if e == nil {
		if id == "" {
			return false, nil
		}
		child := &node{loaded: true}
		if changed, err = tx.setIn(child, path, names[1:], id); changed {
			n.entries = append(n.entries, entry{mode: modeTree, name: names[0], child: child})
		}
		return changed, err
	}
	child := tx.node(e)
	if changed, err = tx.setIn(child, path, names[1:], id); changed {
		e.id = ""
		if len(child.entries) == 0 {
			n.remove(names[0])
		}
	}
	return changed, err
}

func (n *node) remove(name string) {
	for i := range n.entries {
		if n.entries[i].name == name {
			n.entries = append(n.entries[:i], n.entries[i+1:]...)
			return
		}
	}
}

// build computes the id of every changed folder, and returns the objects that the repository lacks:
// files before their folders, the root last.
func (tx *Tx) build() (root ID, objs []git.Object) {
	have := map[ID]bool{}
	root = tx.buildNode(tx.root, &objs, have)
	return root, objs
}

func (tx *Tx) buildNode(n *node, objs *[]git.Object, have map[ID]bool) ID {
	if n.id != "" {
		return n.id
	}
	for i := range n.entries {
		e := &n.entries[i]
		if e.child != nil {
			e.id = tx.buildNode(e.child, objs, have)
		} else if data, ok := tx.fresh[e.id]; ok && !have[e.id] {
			have[e.id] = true
			*objs = append(*objs, git.Object{ID: string(e.id), Kind: git.Blob, Data: data})
		}
	}
	o := tx.newTree(lines(n.entries))
	n.id = ID(o.ID)
	if !have[n.id] {
		have[n.id] = true
		*objs = append(*objs, o)
	}
	return n.id
}
