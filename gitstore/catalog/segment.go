package catalog

import (
	"bytes"
	"hash/crc32"
	"io"
	"slices"
	"sort"
	"sync/atomic"
)

// Offsets in a segment's header: see builder.join.
const (
	segSize     = 4
	segDocs     = 12
	segIndexed  = 16
	segLength   = 20
	segGrams    = 28
	segSections = 36
	segmentHead = segSections + 8*sections
)

// Segment holds some documents, without those removed since. The others do not change, and many
// goroutines may read them.
type Segment struct {
	*pages
	documents
	vocabulary
	at     int64    // offset in the file; 0 if not written yet
	dead   []uint64 // a bit for each removed document, or nil
	gone   int      // removed documents, and indexed ones among them
	lost   int
	totals Totals
}

// Totals sum up the indexed documents.
type Totals struct {
	Docs       int
	Length     uint64 // weight of all tokens
	GramLength uint64 // weight of all tokens times the grams of their terms
}

// documents answers about the documents of a segment.
type documents struct{ pages *pages }

// openSegment opens the segment of size bytes at an offset of a file, or the bytes of a new one.
func openSegment(file io.ReaderAt, at, size int64, made []byte) (*Segment, bool) {
	p := &pages{made: made, file: file, size: size}
	if made != nil {
		p.file, p.size = bytes.NewReader(made), int64(len(made))
	}
	head := make([]byte, segmentHead)
	if _, err := p.file.ReadAt(head, at); err != nil || int64(le.Uint64(head[segSize:])) != p.size {
		return nil, false
	}
	p.docs = int(le.Uint32(head[segDocs:]))
	body, sums := int64(0), 0
	for i := range p.parts {
		x := &p.parts[i]
		x.size, x.count = uint64(le.Uint32(head[segSections+8*i:])), int(le.Uint32(head[segSections+8*i+4:]))
		if n := uint64(x.count); i < len(fixed) && x.size != n*fixed[i] || i >= len(fixed) && x.size < 4*n+4 {
			return nil, false
		}
		body += int64(x.size)
		x.seen = make([]atomic.Bool, (x.size+pageSize-1)/pageSize)
		sums += 4 * len(x.seen)
	}
	for _, sec := range []int{secRows, secLengths, secKeys, secBlobs, secHeads, secBodies, secRecords} {
		if p.parts[sec].count != p.docs {
			return nil, false
		}
	}
	if segmentHead+int64(sums)+body != p.size || p.parts[secPostings].count != p.parts[secTerms].count || p.parts[secLists].count != p.parts[secGrams].count {
		return nil, false
	}
	head = append(head, make([]byte, sums)...)
	if _, err := p.file.ReadAt(head[segmentHead:], at+segmentHead); err != nil || crc32.ChecksumIEEE(head[4:]) != le.Uint32(head) {
		return nil, false
	}
	s := &Segment{pages: p, documents: documents{p}, vocabulary: vocabulary{p}, at: at, totals: Totals{int(le.Uint32(head[segIndexed:])), le.Uint64(head[segLength:]), le.Uint64(head[segGrams:])}}
	rest := head[segmentHead:]
	at += int64(len(head))
	for i := range p.parts {
		x := &p.parts[i]
		x.at, x.sums, rest = at, rest[:4*len(x.seen)], rest[4*len(x.seen):]
		at += int64(x.size)
	}
	return s, true
}

// whole returns all bytes of a segment. ok is false if it is damaged.
func (s *Segment) whole() (data []byte, ok bool) {
	if s.made != nil {
		return s.made, true
	}
	data = make([]byte, s.size)
	if _, err := s.file.ReadAt(data, s.at); err != nil {
		return nil, false
	}
	again, ok := openSegment(nil, 0, 0, data)
	for i := 0; ok && i < sections; i++ {
		x := &again.parts[i]
		ok = x.size == 0 || again.span(i, 0, x.size) != nil
	}
	return data, ok
}

var noRow [rowSize]byte

func (d documents) row(doc int) []byte {
	if b := d.pages.span(secRows, rowSize*uint64(doc), rowSize*uint64(doc)+rowSize); b != nil {
		return b
	}
	return noRow[:]
}

// Len returns the number of documents, including removed ones.
func (d documents) Len() int { return d.pages.docs }

// Key, Blob, Mark, Flags, Kind, Time and Expires return a document's fields. doc counts from 0, in
// the order of keys.
func (d documents) Key(doc int) string    { return d.pages.view(secKeys, doc) }
func (d documents) Blob(doc int) string   { return d.pages.view(secBlobs, doc) }
func (d documents) Mark(doc int) uint64   { return le.Uint64(d.row(doc)[rowMark:]) }
func (d documents) Flags(doc int) uint8   { return d.row(doc)[rowFlags] }
func (d documents) Kind(doc int) uint8    { return d.row(doc)[rowKind] }
func (d documents) Time(doc int) int64    { return int64(le.Uint64(d.row(doc)[rowTime:])) }
func (d documents) Expires(doc int) int64 { return int64(le.Uint64(d.row(doc)[rowExpires:])) }
func (d documents) Indexed(doc int) bool  { return d.row(doc)[rowIndexed] == 1 }

// Length returns the weight of a document's tokens. GramLength returns the sum of each token's
// weight times the grams of its term.
func (d documents) Length(doc int) uint32     { return d.length(8 * uint64(doc)) }
func (d documents) GramLength(doc int) uint32 { return d.length(8*uint64(doc) + 4) }

func (d documents) length(at uint64) uint32 {
	if b := d.pages.span(secLengths, at, at+4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

// Head and Body return the stored parts of a document. ok is false if it cannot be read.
func (d documents) Head(doc int) (head string, ok bool) {
	return d.pages.view(secHeads, doc), !d.pages.bad.Load()
}
func (d documents) Body(doc int) (body string, ok bool) {
	d.pages.large(secBodies, doc, func(text []byte) { body = string(text) })
	return body, !d.pages.bad.Load()
}

// Find returns the document with a key.
func (d documents) Find(key string) (doc int, ok bool) { return d.pages.search(secKeys, key) }

// Labels adds the ids of a document's labels to out, ascending.
func (d documents) Labels(doc int, out []uint32) []uint32 {
	d.pages.large(secRecords, doc, func(b []byte) {
		n, last := varint(&b), uint64(0)
		for ; n > 0 && len(b) > 0; n-- {
			if last += varint(&b); last >= uint64(d.pages.parts[secLabels].count) {
				break
			}
			out = append(out, uint32(last))
		}
		if n > 0 {
			d.pages.spoilt()
		}
	})
	return out
}

// Group returns the name of a document's group, or "".
func (d documents) Group(doc int) string {
	if id := le.Uint32(d.row(doc)[rowGroup:]); id > 0 {
		return d.pages.view(secLabels, int(id)-1)
	}
	return ""
}

// Neighbours returns the number of documents with a group, ordered by group, time and key.
// Neighbour returns one of them.
func (d documents) Neighbours() int { return d.pages.parts[secGroups].count }
func (d documents) Neighbour(i int) int {
	b := d.pages.span(secGroups, 4*uint64(i), 4*uint64(i)+4)
	if b == nil || int(le.Uint32(b)) >= d.pages.docs {
		d.pages.spoilt()
		return 0
	}
	return int(le.Uint32(b))
}

// FirstNeighbour returns the index of the first neighbour for which is holds. is must hold for all
// after it.
func (d documents) FirstNeighbour(is func(doc int) bool) int {
	return sort.Search(d.Neighbours(), func(i int) bool { return is(d.Neighbour(i)) })
}

// Position is a token of a document, in the order of reading.
type Position struct {
	Term    uint32
	Word    uint32
	Passage uint16
	Weight  uint8
}

// Forward adds the tokens of a document to out.
func (d documents) Forward(doc int, out []Position) []Position {
	d.pages.large(secRecords, doc, func(b []byte) { out = d.tokens(b, out) })
	return out
}

func (d documents) tokens(b []byte, out []Position) []Position {
	for n := varint(&b); n > 0 && len(b) > 0; n-- {
		varint(&b) // labels
	}
	var t Position
	for len(b) > 0 {
		v, rest := uvarint(b)
		step := int64(v & 3)
		if step == stepFollows {
			step = unzigzag(varint(&rest))
			t.Passage += uint16(unzigzag(varint(&rest)))
			if len(rest) == 0 {
				d.pages.spoilt()
				return out
			}
			t.Weight, rest = rest[0], rest[1:]
		}
		if b = rest; b == nil || v>>2 >= uint64(d.pages.parts[secTerms].count) {
			d.pages.spoilt()
			return out
		}
		t.Word, t.Term = t.Word+uint32(step), uint32(v>>2)
		out = append(out, t)
	}
	return out
}

// Live reports whether a document is still present.
func (s *Segment) Live(doc int) bool { return s.dead == nil || s.dead[doc/64]>>(doc%64)&1 == 0 }

// May reports whether a search may find a document.
func (s *Segment) May(doc int) bool { return s.Live(doc) && s.Indexed(doc) }

// Totals returns the totals of the present documents.
func (s *Segment) Totals() Totals { return s.totals }

// Remove removes a document. Only the owner of a segment that no other goroutine reads yet may call
// it.
func (s *Segment) Remove(doc int) {
	if s.dead == nil {
		s.dead = make([]uint64, (s.docs+63)/64)
	}
	s.dead[doc/64] |= 1 << (doc % 64)
	s.gone++
	if s.Indexed(doc) {
		s.lost++
		s.totals.Docs--
		s.totals.Length -= uint64(s.Length(doc))
		s.totals.GramLength -= uint64(s.GramLength(doc))
	}
}

// share returns the segment for another catalog, which may remove more of it.
func (s *Segment) share() *Segment {
	other := *s
	other.dead = slices.Clone(s.dead)
	return &other
}

// DF returns the number of present documents with a term.
func (s *Segment) DF(term uint32) (n int) {
	c := s.Postings(term)
	if s.lost == 0 {
		return int(c.left)
	}
	for c.Next() {
		if s.Live(int(c.Doc)) {
			n++
		}
	}
	return n
}

// Gram returns the number of present documents with a gram, and adds the ids of its terms to ids,
// ascending. A term that has the gram twice occurs twice.
func (s *Segment) Gram(text string, ids []uint32) (df int, terms []uint32) {
	i, ok := s.search(secGrams, text)
	if !ok {
		return 0, ids
	}
	b := s.text(secLists, i)
	df = int(varint(&b))
	from := len(ids)
	for last := uint64(0); len(b) > 0; {
		if last += varint(&b); last >= uint64(s.parts[secTerms].count) {
			s.spoilt()
			return 0, ids
		}
		ids = append(ids, uint32(last))
	}
	if s.lost == 0 {
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

// doc returns a document as it was added. Its Tokens are valid until the next call.
func (s *Segment) doc(i int, positions *[]Position, tokens *[]Token) (d Doc) {
	head, _ := s.Head(i)
	body, _ := s.Body(i)
	d = Doc{Key: s.Key(i), Blob: s.Blob(i), Mark: s.Mark(i), Flags: s.Flags(i), Head: []byte(head), Body: []byte(body), Indexed: s.Indexed(i),
		Time: s.Time(i), Expires: s.Expires(i), Kind: s.Kind(i), Group: s.Group(i)}
	for _, id := range s.Labels(i, nil) {
		d.Labels = append(d.Labels, s.LabelText(id))
	}
	*positions, *tokens = s.Forward(i, (*positions)[:0]), (*tokens)[:0]
	for _, p := range *positions {
		*tokens = append(*tokens, Token{s.TermText(p.Term), p.Weight, p.Word, p.Passage, s.Latin(p.Term)})
	}
	d.Tokens = *tokens
	return d
}
