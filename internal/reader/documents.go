package reader

import (
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/docs"
)

// Documents finds the places where a work tree's documents and task runners state a memory. It
// reads them once.
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

// Drop makes the next use read the documents again.
func (d *Documents) Drop() { d.tree = nil }

// Places returns the places where the documents state a memory.
func (d *Documents) Places(m record.Memory) []docs.Place {
	if m.Status == record.Contested {
		return nil
	}
	return d.Read().Says(docs.Statement{Text: m.Text, Paths: m.Paths, Job: m.Kind == record.Workflow})
}

// Stated names the first of Places, or returns "".
func (d *Documents) Stated(m record.Memory) string {
	if all := d.Places(m); len(all) > 0 {
		return all[0].String()
	}
	return ""
}
