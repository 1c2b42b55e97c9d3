package recall

import (
	"errors"
	"os"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// Entry is a document as a tree has it.
type Entry struct {
	Key  string // path, unique
	Blob string // name of its content: other content, other name
}

// State is what an index stands for.
type State struct {
	Key   string   // of the entries: the same key, the same entries. Not empty
	Notes []string // what else there is to say of it
}

// Analysis is how documents were taken apart: what an index of one analysis holds must not be compared with another's.
type Analysis struct {
	Version string
	Grams   func(term string) []string
}

// Index is what is known about documents at one State: segments, and which of their documents are gone. It does not
// change, and many goroutines may use it. What it holds does not depend on how it came about: totals and frequencies are those of the
// documents that are there, to the last.
type Index struct {
	analysis Analysis
	folder   *folder // nil: in memory
	state    State
	segments []*Segment
	unkept   error
}

// ErrBehind is returned when an index cannot be brought to a state within the limits that were set. It can answer for the state it has.
var ErrBehind = errors.New("too much has changed to index it now")

// Open opens the index in a folder. One that is missing, foreign, of another analysis or spoilt is empty: it never
// fails. Without a name the index is in memory only, and so it is where the folder is not there or a link. To be safe beside a purge, it has
// to be called before the entries are read that Bring is then given.
func Open(dir string, a Analysis) *Index {
	x := &Index{analysis: a}
	if dir == "" {
		return x
	}
	if x.folder, x.unkept = openFolder(dir); x.unkept != nil {
		return x
	}
	if _, fault := catch(func() error { x.read(func() {}); return nil }); fault { // somebody makes a file shorter at this moment
		x.state, x.segments = State{}, nil
	}
	return x
}

// read reads the folder. It calls between after each reading of the manifest.
func (x *Index) read(between func()) {
	for range 2 { // a segment may have gone with the manifest that named it
		m, ok := x.folder.readManifest()
		if !ok || m.version != x.analysis.Version {
			return
		}
		between()
		if segments, ok := x.folder.segments(m); ok {
			x.state, x.segments = m.state, segments
			return
		}
	}
}

// Make is Open where something is to be written: it makes the folder when there is none. The folder around it has to be there.
func Make(dir string, a Analysis) *Index {
	os.Mkdir(dir, 0o700) // what hinders it hinders Open
	return Open(dir, a)
}

func (f *folder) segments(m manifest) ([]*Segment, bool) {
	var all []*Segment
	for _, s := range m.segments {
		p, err := f.load(s)
		if err != nil {
			for _, s := range all {
				s.part.close()
			}
			return nil, false
		}
		all = append(all, newSegment(p, s.dead))
	}
	return all, true
}

// State is what the index stands for; zero when it is empty.
func (x *Index) State() State { return x.state }

// Segments are the parts of the index. They are good until Close.
func (x *Index) Segments() []*Segment { return x.segments }

// Totals are of all documents.
func (x *Index) Totals() (t segment.Totals) {
	for _, s := range x.segments {
		t.Docs += s.totals.Docs
		t.Length += s.totals.Length
		t.GramLength += s.totals.GramLength
	}
	return t
}

// Err is segment.ErrCorrupt when something that was read is spoilt. Who has an answer asks it last: with an error the answer
// is to be thrown away. Bring makes such an index anew.
func (x *Index) Err() error {
	for _, s := range x.segments {
		if err := s.Err(); err != nil {
			return err
		}
	}
	return nil
}

// InMemory is the index without its folder: what it is brought to is kept nowhere. Both are to be closed.
func (x *Index) InMemory() *Index {
	return &Index{analysis: x.analysis, state: x.state, segments: x.shared()}
}

// Unkept is why the index is in memory only, when it was given a folder: the next process does the same work again.
func (x *Index) Unkept() error { return x.unkept }

// Close gives the files back. Nothing of the index may be used after.
func (x *Index) Close() {
	for _, s := range x.segments {
		s.part.close()
	}
	x.folder.close()
	x.segments, x.folder = nil, nil
}

// Ref is a document of an index.
type Ref struct{ Segment, Doc int }

// Find is the document with a key.
func (x *Index) Find(key string) (Ref, bool) {
	for k, s := range x.segments {
		if doc, ok := s.Find(key); ok && s.Live(doc) {
			return Ref{k, doc}, true
		}
	}
	return Ref{}, false
}
