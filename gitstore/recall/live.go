package recall

import (
	"io/fs"
	"os"
	"slices"
	"sync/atomic"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// Segment is a segment of an Index. Its Reader knows nothing of documents that are gone: Live does.
type Segment struct {
	*segment.Reader
	part   *part
	dead   []uint64 // a bit for each document that is gone; nil when none is
	gone   int
	totals segment.Totals // of those that are there
}

// part is an open segment, which several indexes may share.
type part struct {
	*segment.Reader
	name    string
	refs    atomic.Int32
	file    atomic.Pointer[fs.FileInfo] // that was read, or written; nil: none
	release func()                      // gives what was mapped back; nil: nothing
}

func newPart(r *segment.Reader, name string) *part {
	p := &part{Reader: r, name: name}
	p.refs.Store(1)
	return p
}

func (p *part) share() *part {
	p.refs.Add(1)
	return p
}

// isIn reports whether the file of the part's name in a folder is the one that was read or written: another may hold anything.
func (p *part) isIn(f *folder) bool {
	file := p.file.Load()
	if file == nil {
		return false
	}
	info, err := f.root.Lstat(p.name)
	return err == nil && info.Size() == int64(p.Size()) && os.SameFile(info, *file)
}

func (p *part) close() {
	if p.refs.Add(-1) == 0 && p.release != nil {
		p.release()
	}
}

// newSegment is a segment without some of its documents.
func newSegment(p *part, dead []uint32) *Segment {
	s := &Segment{Reader: p.Reader, part: p, totals: p.Totals()}
	for _, doc := range dead {
		s.remove(int(doc))
	}
	return s
}

func (s *Segment) remove(doc int) {
	if s.dead == nil {
		s.dead = make([]uint64, (s.Len()+63)/64)
	}
	s.dead[doc/64] |= 1 << (doc % 64)
	s.gone++
	s.totals.Docs--
	s.totals.Length -= uint64(s.Length(doc))
	s.totals.GramLength -= uint64(s.GramLength(doc))
}

// share is the segment for another index, which may lose more of it.
func (s *Segment) share() *Segment {
	other := *s
	other.part, other.dead = s.part.share(), slices.Clone(s.dead)
	return &other
}

func (s *Segment) deadDocs() (dead []uint32) {
	for doc := range s.Len() {
		if !s.Live(doc) {
			dead = append(dead, uint32(doc))
		}
	}
	return dead
}

// Live reports whether a document is there.
func (s *Segment) Live(doc int) bool { return s.dead == nil || s.dead[doc/64]>>(doc%64)&1 == 0 }

// Totals are of the documents that are there.
func (s *Segment) Totals() segment.Totals { return s.totals }

// DF is how many documents that are there have a term.
func (s *Segment) DF(term uint32) int {
	if s.dead == nil {
		return s.Reader.DF(term)
	}
	n := 0
	for c := s.Postings(term); c.Next(); {
		if s.Live(int(c.Doc)) {
			n++
		}
	}
	return n
}

// Gram finds a gram: in how many documents that are there it is, and the terms that have it, which are added to ids.
func (s *Segment) Gram(text string, ids []uint32) (df int, terms []uint32) {
	from := len(ids)
	df, ids = s.Reader.Gram(text, ids)
	if s.dead == nil {
		return df, ids
	}
	seen := slices.Clone(s.dead)
	df = 0
	for _, id := range ids[from:] {
		for c := s.Postings(id); c.Next(); {
			if bit := uint64(1) << (c.Doc % 64); seen[c.Doc/64]&bit == 0 {
				seen[c.Doc/64] |= bit
				df++
			}
		}
	}
	return df, ids
}
