package recall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Segment is a part of an Index.
type Segment = catalog.Segment

var (
	// ErrBehind means that an index cannot be updated within the limits.
	ErrBehind = catalog.ErrBehind
	// ErrCorrupt means that an index is damaged.
	ErrCorrupt = catalog.ErrCorrupt
)

// Index gives access to the documents of a catalog. It does not change, and many goroutines may use
// it. Totals and frequencies cover exactly the present documents, whatever the catalog's history.
type Index struct {
	catalog  *catalog.Catalog
	segments []*Segment
	joined   []joined // by With
}

// joined marks the memories of the segments from a number on.
type joined struct {
	from int
	mark func(*record.Memory)
}

// Open opens the index in the catalog at a path; without one it is in memory only. It never fails:
// a missing or damaged index, or one of another analysis, is empty. To be safe from a concurrent
// purge, call it before taking the view that it is brought to.
func Open(path string) *Index {
	f := catalog.Open(path)
	defer f.Close()
	return of(f.Read())
}

func of(c *catalog.Catalog) *Index { return &Index{c, c.Segments, nil} }

// With returns an index of the documents of two, and marks the memories of the second. It is for
// answers only, needs no Close, and holds as long as both are open. Check the Err of both.
func (x *Index) With(y *Index, mark func(*record.Memory)) *Index {
	of := append(slices.Clip(x.joined), joined{len(x.segments), mark})
	return &Index{x.catalog, slices.Concat(x.segments, y.segments), of}
}

// Drop removes a catalog with its index.
func Drop(path string) error { return catalog.Drop(path) }

// Notes returns remarks on the index: reasons that files are missing.
func (x *Index) Notes() []string { return x.catalog.Notes }

// Segments returns the parts of the index, valid until Close.
func (x *Index) Segments() []*Segment { return x.segments }

// Totals returns the totals of all documents that may be found.
func (x *Index) Totals() (t catalog.Totals) {
	for _, s := range x.segments {
		of := s.Totals()
		t.Docs += of.Docs
		t.Length += of.Length
		t.GramLength += of.GramLength
	}
	return t
}

// Err returns ErrCorrupt if damaged data was read. Check it after the last answer, which is invalid
// with an error.
func (x *Index) Err() error { return x.catalog.Err() }

// InMemory returns the index without its file, so that updates are not stored. Close both.
func (x *Index) InMemory() *Index { return of(x.catalog.InMemory()) }

// Unkept returns the reason that the index is in memory only. The next process repeats the work.
func (x *Index) Unkept() error { return x.catalog.Unkept() }

// Close releases the file. The index must not be used afterwards.
func (x *Index) Close() {
	x.catalog.Close()
	x.segments = nil
}

// Ref is a document of an index.
type Ref struct{ Segment, Doc int }

// Find returns the document with a key.
func (x *Index) Find(key string) (Ref, bool) {
	for k, s := range x.segments {
		if doc, ok := s.Find(key); ok && s.May(doc) {
			return Ref{k, doc}, true
		}
	}
	return Ref{}, false
}

// change begins a change of the index.
func (x *Index) change() *catalog.Change { return x.catalog.Change(terms.Grams) }

// Beside returns the documents before and after one in its group, in any segment.
func (x *Index) Beside(at Ref) (before, after Ref, hasBefore, hasAfter bool) {
	group := x.segments[at.Segment].Group(at.Doc)
	if group == "" {
		return
	}
	for k, s := range x.segments {
		n := s.Neighbours()
		i := s.FirstNeighbour(func(doc int) bool { return x.order(Ref{k, doc}, at) >= 0 })
		low, high := i-1, i
		if i < n && k == at.Segment && s.Neighbour(i) == at.Doc {
			high++
		}
		for ; low >= 0 && !s.Live(s.Neighbour(low)); low-- {
		}
		for ; high < n && !s.Live(s.Neighbour(high)); high++ {
		}
		if r := (Ref{k, 0}); low >= 0 {
			if r.Doc = s.Neighbour(low); s.Group(r.Doc) == group && (!hasBefore || x.order(r, before) > 0) {
				before, hasBefore = r, true
			}
		}
		if r := (Ref{k, 0}); high < n {
			if r.Doc = s.Neighbour(high); s.Group(r.Doc) == group && (!hasAfter || x.order(r, after) < 0) {
				after, hasAfter = r, true
			}
		}
	}
	return before, after, hasBefore, hasAfter
}

// order compares two documents as neighbours: by group, time and key.
func (x *Index) order(a, b Ref) int {
	s, t := x.segments[a.Segment], x.segments[b.Segment]
	return cmp.Or(strings.Compare(s.Group(a.Doc), t.Group(b.Doc)), cmp.Compare(s.Time(a.Doc), t.Time(b.Doc)), strings.Compare(s.Key(a.Doc), t.Key(b.Doc)))
}
