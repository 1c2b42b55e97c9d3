package catalog

import (
	"bytes"
	"hash/crc32"
	"io"
	"iter"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
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

// pages holds a segment's bytes, read on demand.
type pages struct {
	made  []byte // the whole segment, if just made
	file  io.ReaderAt
	size  int64
	docs  int
	parts [sections]part
	mutex sync.Mutex
	bad   atomic.Bool
}

// part is a section.
type part struct {
	size  uint64
	count int
	at    int64  // in the file
	sums  []byte // of the pages
	data  []byte // nil until something is read
	seen  []atomic.Bool
	asks  atomic.Int32 // for strings of a large section
}

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
	s := &Segment{pages: p, at: at, totals: Totals{int(le.Uint32(head[segIndexed:])), le.Uint64(head[segLength:]), le.Uint64(head[segGrams:])}}
	rest := head[segmentHead:]
	at += int64(len(head))
	for i := range p.parts {
		x := &p.parts[i]
		x.at, x.sums, rest = at, rest[:4*len(x.seen)], rest[4*len(x.seen):]
		at += int64(x.size)
	}
	return s, true
}

func (p *pages) spoilt() { p.bad.Store(true) }

// Err returns ErrCorrupt if damaged data was read: answers of the segment may be wrong.
func (p *pages) Err() error {
	if p.bad.Load() {
		return ErrCorrupt
	}
	return nil
}

// span returns a part of a section, or nil if it cannot be read or reaches beyond the section.
func (p *pages) span(sec int, from, to uint64) []byte {
	x := &p.parts[sec]
	if from > to || to > x.size {
		p.spoilt()
		return nil
	}
	if from == to {
		return []byte{}
	}
	first, end := from/pageSize, (to+pageSize-1)/pageSize
	for k := first; k < end; k++ {
		if !x.seen[k].Load() && !p.fill(x, k, end) {
			return nil
		}
	}
	return x.data[from:to:to]
}

// fill reads a page of a section, the pages before end, and some that follow.
func (p *pages) fill(x *part, k, end uint64) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if x.data == nil {
		x.data = make([]byte, x.size) // the system allocates only the pages that are used
	}
	if k > 0 && x.seen[k-1].Load() {
		end = max(end, k+readAhead)
	}
	to := k
	for to < min(end, uint64(len(x.seen))) && !x.seen[to].Load() {
		to++
	}
	if !p.read(x, x.data[k*pageSize:min(to*pageSize, x.size)], k) {
		return false
	}
	for ; k < to; k++ {
		x.seen[k].Store(true)
	}
	return true
}

// read reads pages of a section, from the page first on.
func (p *pages) read(x *part, data []byte, first uint64) bool {
	_, err := p.file.ReadAt(data, x.at+int64(first*pageSize))
	sums := x.sums[4*first:]
	for at := 0; at < len(data) && err == nil; at += pageSize {
		if crc32.ChecksumIEEE(data[at:min(at+pageSize, len(data))]) != le.Uint32(sums) {
			err = ErrCorrupt
		}
		sums = sums[4:]
	}
	if err != nil {
		p.spoilt()
	}
	return err == nil
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

// text returns a string of a table.
func (p *pages) text(sec, i int) []byte {
	from, to, ok := p.place(sec, i)
	if !ok {
		return nil
	}
	return p.span(sec, from, to)
}

// place returns the position of a table's string in its section.
func (p *pages) place(sec, i int) (from, to uint64, ok bool) {
	x := &p.parts[sec]
	if i < 0 || i >= x.count {
		p.spoilt()
		return 0, 0, false
	}
	at := p.span(sec, 4*uint64(i), 4*uint64(i)+8)
	if at == nil {
		return 0, 0, false
	}
	base := 4*uint64(x.count) + 4
	return base + uint64(le.Uint32(at)), base + uint64(le.Uint32(at[4:])), true
}

// rooms recycles memory for strings of large sections. Allocating costs more than reading.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// large gives use a string of a large section, which is not kept until many were asked for; nil if
// it cannot be read.
func (p *pages) large(sec, i int, use func(text []byte)) {
	x := &p.parts[sec]
	from, to, ok := p.place(sec, i)
	switch {
	case !ok:
		use(nil)
		return
	case from >= to || to > x.size || x.asks.Add(1) > fewAsks:
		use(p.span(sec, from, to))
		return
	}
	first := from / pageSize * pageSize
	end := min((to+pageSize-1)/pageSize*pageSize, x.size)
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	if n := int(end - first); cap(*room) < n {
		*room = make([]byte, max(n, 8*pageSize))
	}
	data := (*room)[:end-first]
	if !p.read(x, data, first/pageSize) {
		use(nil)
		return
	}
	use(data[from-first : to-first])
}

// view returns a string of a table without a copy: loaded data never changes.
func (p *pages) view(sec, i int) string {
	b := p.text(sec, i)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// search returns the index of a text in a sorted table, or where it would be.
func (p *pages) search(sec int, text string) (i int, found bool) {
	return sort.Find(p.parts[sec].count, func(i int) int {
		return bytes.Compare(unsafe.Slice(unsafe.StringData(text), len(text)), p.text(sec, i))
	})
}

var noRow [rowSize]byte

func (p *pages) row(doc int) []byte {
	if b := p.span(secRows, rowSize*uint64(doc), rowSize*uint64(doc)+rowSize); b != nil {
		return b
	}
	return noRow[:]
}

// Len returns the number of documents, including removed ones.
func (p *pages) Len() int { return p.docs }

// Key, Blob, Mark, Flags, Kind, Time and Expires return a document's fields. doc counts from 0, in
// the order of keys.
func (p *pages) Key(doc int) string    { return p.view(secKeys, doc) }
func (p *pages) Blob(doc int) string   { return p.view(secBlobs, doc) }
func (p *pages) Mark(doc int) uint64   { return le.Uint64(p.row(doc)[rowMark:]) }
func (p *pages) Flags(doc int) uint8   { return p.row(doc)[rowFlags] }
func (p *pages) Kind(doc int) uint8    { return p.row(doc)[rowKind] }
func (p *pages) Time(doc int) int64    { return int64(le.Uint64(p.row(doc)[rowTime:])) }
func (p *pages) Expires(doc int) int64 { return int64(le.Uint64(p.row(doc)[rowExpires:])) }
func (p *pages) Indexed(doc int) bool  { return p.row(doc)[rowIndexed] == 1 }

// Length returns the weight of a document's tokens. GramLength returns the sum of each token's
// weight times the grams of its term.
func (p *pages) Length(doc int) uint32     { return p.length(8 * uint64(doc)) }
func (p *pages) GramLength(doc int) uint32 { return p.length(8*uint64(doc) + 4) }

func (p *pages) length(at uint64) uint32 {
	if b := p.span(secLengths, at, at+4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

// Head and Body return the stored parts of a document. ok is false if it cannot be read.
func (p *pages) Head(doc int) (head string, ok bool) { return p.view(secHeads, doc), !p.bad.Load() }
func (p *pages) Body(doc int) (body string, ok bool) {
	p.large(secBodies, doc, func(text []byte) { body = string(text) })
	return body, !p.bad.Load()
}

// Find returns the document with a key.
func (p *pages) Find(key string) (doc int, ok bool) { return p.search(secKeys, key) }

// Terms returns the number of terms.
func (p *pages) Terms() int { return p.parts[secTerms].count }

// Term returns the id of a term, which is below Terms.
func (p *pages) Term(text string) (id uint32, ok bool) {
	i, ok := p.search(secTerms, text)
	return uint32(i), ok
}

// TermText returns the term of an id.
func (p *pages) TermText(id uint32) string { return p.view(secTerms, int(id)) }

// Prefix returns the ids of the terms that begin with a text.
func (p *pages) Prefix(text string) iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		for i, _ := p.search(secTerms, text); i < p.parts[secTerms].count; i++ {
			term := p.text(secTerms, i)
			if len(term) < len(text) || string(term[:len(text)]) != text || !yield(uint32(i), term) {
				return
			}
		}
	}
}

// Labels adds the ids of a document's labels to out, ascending.
func (p *pages) Labels(doc int, out []uint32) []uint32 {
	p.large(secRecords, doc, func(b []byte) {
		n, last := varint(&b), uint64(0)
		for ; n > 0 && len(b) > 0; n-- {
			if last += varint(&b); last >= uint64(p.parts[secLabels].count) {
				break
			}
			out = append(out, uint32(last))
		}
		if n > 0 {
			p.spoilt()
		}
	})
	return out
}

// Label returns the id of a label, LabelText the label of an id, and LabelCount the number of
// labels.
func (p *pages) Label(text string) (id uint32, ok bool) {
	i, ok := p.search(secLabels, text)
	return uint32(i), ok
}
func (p *pages) LabelText(id uint32) string { return p.view(secLabels, int(id)) }
func (p *pages) LabelCount() int            { return p.parts[secLabels].count }

// Group returns the name of a document's group, or "".
func (p *pages) Group(doc int) string {
	if id := le.Uint32(p.row(doc)[rowGroup:]); id > 0 {
		return p.view(secLabels, int(id)-1)
	}
	return ""
}

// Neighbours returns the number of documents with a group, ordered by group, time and key.
// Neighbour returns one of them.
func (p *pages) Neighbours() int { return p.parts[secGroups].count }
func (p *pages) Neighbour(i int) int {
	b := p.span(secGroups, 4*uint64(i), 4*uint64(i)+4)
	if b == nil || int(le.Uint32(b)) >= p.docs {
		p.spoilt()
		return 0
	}
	return int(le.Uint32(b))
}

// FirstNeighbour returns the index of the first neighbour for which is holds. is must hold for all
// after it.
func (p *pages) FirstNeighbour(is func(doc int) bool) int {
	return sort.Search(p.Neighbours(), func(i int) bool { return is(p.Neighbour(i)) })
}

// Position is a token of a document, in the order of reading.
type Position struct {
	Term    uint32
	Word    uint32
	Passage uint16
	Weight  uint8
}

// Forward adds the tokens of a document to out.
func (p *pages) Forward(doc int, out []Position) []Position {
	p.large(secRecords, doc, func(b []byte) { out = p.tokens(b, out) })
	return out
}

func (p *pages) tokens(b []byte, out []Position) []Position {
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
				p.spoilt()
				return out
			}
			t.Weight, rest = rest[0], rest[1:]
		}
		if b = rest; b == nil || v>>2 >= uint64(p.parts[secTerms].count) {
			p.spoilt()
			return out
		}
		t.Word, t.Term = t.Word+uint32(step), uint32(v>>2)
		out = append(out, t)
	}
	return out
}

// Posting is a document that has a term.
type Posting struct {
	Doc  uint32
	Freq uint32 // sum of the weights of its tokens
}

// Cursor walks over the postings of a term, in the order of documents, one by one or with Read many
// at once.
type Cursor struct {
	Posting

	rest []byte
	left uint32
	next uint32 // the least document that may come
	of   *pages
}

// Postings returns the documents that have a term.
func (p *pages) Postings(term uint32) Cursor {
	b := p.text(secPostings, int(term))
	n := varint(&b) >> 1
	if n > uint64(len(b)) {
		p.spoilt()
		n = 0
	}
	return Cursor{rest: b, left: uint32(n), of: p}
}

// Latin reports whether a term's grams count.
func (p *pages) Latin(term uint32) bool {
	b := p.text(secPostings, int(term))
	return len(b) > 0 && b[0]&1 == 1
}

// Next advances to the next document with the term.
func (c *Cursor) Next() bool {
	var one [1]Posting
	if c.Read(one[:]) == 0 {
		return false
	}
	c.Posting = one[0]
	return true
}

// Read fills room with the next postings and returns their number; 0 at the end.
func (c *Cursor) Read(room []Posting) (n int) {
	b, next := c.rest, c.next
	for ; n < len(room) && c.left > 0; n++ {
		c.left--
		var v, freq uint64
		if len(b) > 0 && b[0] < 0x80 { // nearly all, without a call
			v, b = uint64(b[0]), b[1:]
		} else {
			v, b = uvarint(b)
		}
		if freq = v&3 + 1; freq == 4 {
			freq, b = uvarint(b)
		}
		doc := uint64(next) + v>>2
		if b == nil || doc >= uint64(c.of.docs) {
			c.left = 0
			c.of.spoilt()
			break
		}
		room[n] = Posting{uint32(doc), uint32(freq)}
		next = uint32(doc) + 1
	}
	c.rest, c.next = b, next
	return n
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
