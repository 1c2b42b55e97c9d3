package git

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// NewCommit returns a commit whose author is its committer. Ids of sha256 do not fit go-git's
// encoder.
func (f Format) NewCommit(who Identity, when time.Time, tree string, parents []string, message string) Object {
	if f == "sha256" {
		var b strings.Builder
		fmt.Fprintf(&b, "tree %s\n", tree)
		for _, p := range parents {
			fmt.Fprintf(&b, "parent %s\n", p)
		}
		stamp := who.Stamp(when)
		fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", stamp, stamp, message)
		return f.NewObject(Commit, []byte(b.String()))
	}
	by := object.Signature{Name: who.Name, Email: who.Email, When: when}
	c := &object.Commit{Author: by, Committer: by, Message: message, TreeHash: plumbing.NewHash(tree)}
	for _, p := range parents {
		c.ParentHashes = append(c.ParentHashes, plumbing.NewHash(p))
	}
	o, err := encoded(c)
	if err != nil {
		panic(err) // memory takes every commit
	}
	return o
}

// TreeEntry is one line of a tree.
type TreeEntry struct{ Mode, Name, ID string }

// IsFile reports whether an entry is a file or a link, whose content is a blob.
func (e TreeEntry) IsFile() bool { return strings.HasPrefix(e.Mode, "10") || e.Mode == "120000" }

// IsSubmodule reports whether an entry names a commit of another repository.
func (e TreeEntry) IsSubmodule() bool { return e.Mode == "160000" }

// NewTree returns a tree of entries in git's order. go-git encodes files and folders; lines with
// other modes, and ids of sha256, are written as they are.
func (f Format) NewTree(entries []TreeEntry) Object {
	tree := &object.Tree{Entries: make([]object.TreeEntry, len(entries))}
	plain := f != "sha256"
	for i, e := range entries {
		mode := filemode.Regular
		if e.Mode == "40000" {
			mode = filemode.Dir
		}
		plain = plain && (mode == filemode.Dir || e.Mode == "100644")
		tree.Entries[i] = object.TreeEntry{Name: e.Name, Mode: mode, Hash: plumbing.NewHash(e.ID)}
	}
	if o, err := encoded(tree); err == nil && plain {
		return o
	}
	var data []byte
	for _, e := range entries {
		data = append(append(append(data, e.Mode...), ' '), e.Name...)
		id, _ := hex.DecodeString(e.ID)
		data = append(append(data, 0), id...)
	}
	return f.NewObject(Tree, data)
}

// encoded returns a tree or commit as go-git encodes it.
func encoded(from interface {
	Encode(plumbing.EncodedObject) error
}) (Object, error) {
	e := &plumbing.MemoryObject{}
	if err := from.Encode(e); err != nil {
		return Object{}, err
	}
	in, err := e.Reader()
	if err != nil {
		return Object{}, err
	}
	data, err := io.ReadAll(in)
	return Object{ID: e.Hash().String(), Kind: e.Type().String(), Data: data}, err
}
