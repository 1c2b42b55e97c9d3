package gitstore

import (
	"errors"
	"slices"
	"strings"
)

// Change is a file that differs between two trees. Old is empty for a new file, New for a removed
// one.
type Change struct {
	Path     string
	Old, New ID
}

// Diff calls fn for every file that differs from an older root tree, in git's order; "" is the
// empty tree. It reads only folders that differ, so the cost follows the change and not the size.
//
// Entries that a store must not have count as absent. Diff returns those of this tree together, as
// EntryErrors, after comparing the rest. If folders of this tree are damaged it skips them and
// returns a Damage instead.
func (t *Tree) Diff(old ID, fn func(Change) error) error {
	before := &node{loaded: true}
	if old != "" {
		before = t.folder(old)
	}
	var bad EntryErrors
	if err := t.diff(before, t.root, "", 0, &bad, fn); err != nil {
		return err
	}
	return bad.or()
}

// diff compares two folders at a path that ends in a slash, or is empty. The error may be a Damage.
func (t *Tree) diff(old, new *node, prefix string, depth int, bad *EntryErrors, fn func(Change) error) error {
	d := differ{t: t, fn: fn, bad: bad, count: [2]counter{{root: old, prefix: prefix}, {root: new, prefix: prefix}}}
	if err := d.folder(old, new, prefix, depth); err != nil {
		return err
	}
	if d.damage != nil {
		return d.damage
	}
	return nil
}

// Damage lists the unreadable parts of a tree, each with its path. It wraps ErrCorrupt.
type Damage []error

func (d Damage) Error() string   { return errors.Join(d...).Error() }
func (d Damage) Unwrap() []error { return d }

type differ struct {
	t      *Tree
	fn     func(Change) error
	bad    *EntryErrors
	damage Damage
	count  [2]counter // of the old tree and the new
}

func (d *differ) folder(old, new *node, prefix string, depth int) error {
	if old.id == new.id && old.id != "" {
		return nil
	}
	if err := d.t.load(old, prefix); err != nil {
		return err
	}
	if err := d.t.load(new, prefix); errors.Is(err, ErrCorrupt) {
		d.damage = append(d.damage, err)
		return nil
	} else if err != nil {
		return err
	}
	if err := errors.Join(d.count[0].add(d.t, old, prefix), d.count[1].add(d.t, new, prefix)); err != nil {
		return err
	}
	a, b := visit(old, prefix, depth, &EntryErrors{}), visit(new, prefix, depth, d.bad)
	for len(a) > 0 || len(b) > 0 {
		var from, to *entry
		switch {
		case len(a) == 0 || len(b) > 0 && a[0].key() > b[0].key():
			to, b = b[0], b[1:]
		case len(b) == 0 || a[0].key() < b[0].key():
			from, a = a[0], a[1:]
		default:
			from, to, a, b = a[0], b[0], a[1:], b[1:]
		}
		if err := d.entry(from, to, prefix, depth); err != nil {
			return err
		}
	}
	return nil
}

// entry compares the entries of one name in two folders: both files or both folders. One of them
// may be nil.
func (d *differ) entry(from, to *entry, prefix string, depth int) error {
	one := from
	if one == nil {
		one = to
	}
	path := prefix + one.name
	if one.isTree() {
		return d.folder(d.t.below(from), d.t.below(to), path+"/", depth+1)
	}
	c := Change{Path: path}
	if from != nil {
		c.Old = from.id
	}
	if to != nil {
		c.New = to.id
	}
	if c.Old == c.New {
		return nil
	}
	return d.fn(c)
}

// below returns the folder of an entry, or an empty one for nil.
func (t *Tree) below(e *entry) *node {
	if e == nil {
		return &node{loaded: true}
	}
	return t.node(e)
}

// visit returns the allowed entries of a folder, in git's order.
func visit(n *node, prefix string, depth int, bad *EntryErrors) []*entry {
	entries := make([]*entry, 0, len(n.entries))
	for i := range n.entries {
		if e := &n.entries[i]; bad.pass(e, prefix+e.name, depth) {
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b *entry) int { return strings.Compare(a.key(), b.key()) })
	return entries
}
