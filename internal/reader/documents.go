package reader

import (
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/docs"
)

// Documents find where the documents and task runners of a work tree state what a memory says. They
// are read once.
type Documents struct {
	Top  string // of the work tree; may be empty
	tree *docs.Tree
}

// Read reads the documents, unless they were read before.
func (d *Documents) Read() *docs.Tree {
	if d.tree == nil {
		d.tree = docs.Read(d.Top)
	}
	return d.tree
}

// Drop has the documents read again when they are wanted next.
func (d *Documents) Drop() { d.tree = nil }

// Places returns where the documents state what a memory says.
func (d *Documents) Places(m record.Memory) []docs.Place {
	if m.Status == record.Contested {
		return nil
	}
	return d.Read().Says(docs.Statement{Text: m.Text, Paths: m.Paths, Job: m.Kind == record.Workflow})
}

// Stated names the first of Places, or is "".
func (d *Documents) Stated(m record.Memory) string {
	if all := d.Places(m); len(all) > 0 {
		return all[0].String()
	}
	return ""
}
