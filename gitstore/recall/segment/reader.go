package segment

import (
	"hash/crc32"
	"iter"
	"sync/atomic"
)

// Reader reads a segment. What it gives of a spoilt file is empty, and Err says so.
type Reader struct {
	data []byte
	body []byte
	seen []atomic.Uint64 // a bit for each page whose sum was right
	bad  atomic.Bool

	docs    uint32
	offsets [sections]uint64
	sizes   [sections]uint64
	counts  [sections]uint32
	totals  Totals
}

// Totals are of all documents of a segment.
type Totals struct {
	Docs       int
	Length     uint64 // weight of all tokens
	GramLength uint64 // weight of all tokens times the grams of their terms
}

// Open reads a segment: the bytes of its file, which may be mapped. They must not change as long as the reader is used.
func Open(data []byte) (*Reader, error) {
	r := &Reader{data: data}
	if !r.header() {
		return nil, ErrCorrupt
	}
	return r, nil
}

// Err is ErrCorrupt when something that was read did not fit its checksum or its bounds: what r gave may be wrong.
func (r *Reader) Err() error {
	if r.bad.Load() {
		return ErrCorrupt
	}
	return nil
}

// Sum tells this file from others: it depends on every byte.
func (r *Reader) Sum() uint32 { return le32(r.data[headSum:]) }

// Size is that of the file, in bytes.
func (r *Reader) Size() int { return len(r.data) }

// Bytes is the whole file, which must not be written to.
func (r *Reader) Bytes() []byte { return r.data }

func (r *Reader) spoilt() { r.bad.Store(true) }

// Distrust says of a segment that it is spoilt: Err tells it from then on. It is for those who find that it cannot be read at all.
func (r *Reader) Distrust() { r.spoilt() }

func (r *Reader) header() bool {
	d := r.data
	if len(d) < headerSize || string(d[:len(magic)]) != magic || le64(d[headSize:]) != uint64(len(d)) {
		return false
	}
	size := uint64(0)
	for i := range sections {
		e := d[headSecs+i*secEntry:]
		r.offsets[i], r.sizes[i], r.counts[i] = le64(e), uint64(le32(e[8:])), le32(e[12:])
		if r.offsets[i] != size {
			return false
		}
		size += r.sizes[i]
	}
	pages := (size + pageSize - 1) / pageSize
	if uint64(len(d)) != headerSize+4*pages+size || le32(d[headSum:]) != headerCRC(d[:headerSize+4*pages]) {
		return false
	}
	r.docs = le32(d[headDocs:])
	r.totals = Totals{int(r.docs), le64(d[headLength:]), le64(d[headGrams:])}
	r.body = d[headerSize+4*pages:]
	r.seen = make([]atomic.Uint64, (pages+63)/64)
	return r.fits()
}

// fits reports whether the sections are as long as their counts say.
func (r *Reader) fits() bool {
	n := func(sec int) uint64 { return uint64(r.counts[sec]) }
	docs := uint64(r.docs)
	blocks := func(sec int) bool { return r.sizes[sec] >= 4*((n(sec)+dictBlock-1)/dictBlock+1)+n(sec) }
	for _, ok := range []bool{
		r.sizes[secDocs] == rowSize*docs, n(secKeys) == docs, r.sizes[secIDs] == docs*n(secIDs), n(secIDs) >= 4 || docs == 0,
		r.sizes[secLatin] == (n(secTerms)+7)/8, r.sizes[secPlaces] == 4*((n(secTerms)+placeEvery-1)/placeEvery),
		r.sizes[secGramPlaces] == 4*((n(secGrams)+gramPlaceEvery-1)/gramPlaceEvery),
		r.sizes[secGroupStarts] == 4*(n(secGroups)+1), r.sizes[secHot] == 4*n(secHot), r.sizes[secBlocks] == 8*(n(secBlocks)+1),
		blocks(secTerms), blocks(secGrams), blocks(secKeys), blocks(secLabels), blocks(secGroups), n(secGroups) > 0,
	} {
		if !ok {
			return false
		}
	}
	return true
}

// span is a part of a section, whose pages fit their sums; nil when they do not, or when it reaches beyond the section.
func (r *Reader) span(sec int, from, to uint64) []byte {
	if from > to || to > r.sizes[sec] {
		r.spoilt()
		return nil
	}
	from, to = from+r.offsets[sec], to+r.offsets[sec]
	if from == to {
		return []byte{}
	}
	for k := from / pageSize; k <= (to-1)/pageSize; k++ {
		if r.seen[k/64].Load()&(1<<(k%64)) == 0 && !r.check(k) {
			return nil
		}
	}
	return r.body[from:to:to]
}

func (r *Reader) check(page uint64) bool {
	text := r.body[page*pageSize : min((page+1)*pageSize, uint64(len(r.body)))]
	if crc32.ChecksumIEEE(text) != le32(r.data[headerSize+4*page:]) {
		r.spoilt()
		return false
	}
	r.seen[page/64].Or(1 << (page % 64))
	return true
}

// Len is how many documents there are.
func (r *Reader) Len() int { return int(r.docs) }

func (r *Reader) Totals() Totals { return r.totals }

// Terms is how many terms there are.
func (r *Reader) Terms() int { return int(r.counts[secTerms]) }

// Term finds a term: its id, which is below Terms.
func (r *Reader) Term(text string) (id uint32, ok bool) {
	n, ok := dict{r, secTerms}.find([]byte(text))
	return uint32(n), ok
}

// TermText is the term of an id.
func (r *Reader) TermText(id uint32) string { return dict{r, secTerms}.text(int(id)) }

// Prefix are the terms that begin with a text, by id. A term is only good until the next.
func (r *Reader) Prefix(text string) iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		for id, term := range (dict{r, secTerms}).prefix([]byte(text)) {
			if !yield(uint32(id), term) {
				return
			}
		}
	}
}

// Latin reports whether a term's grams count.
func (r *Reader) Latin(id uint32) bool {
	b := r.span(secLatin, uint64(id/8), uint64(id/8)+1)
	return b != nil && b[0]>>(id%8)&1 == 1
}

// DF is how many documents have a term.
func (r *Reader) DF(term uint32) int { return int(r.Postings(term).left) }

// Postings are the documents that have a term.
func (r *Reader) Postings(term uint32) Cursor {
	b, n := r.list(secPlaces, secPostings, term, placeEvery, skipPostings)
	if n > uint64(r.docs) || term >= r.counts[secTerms] {
		r.spoilt()
		return Cursor{}
	}
	return Cursor{rest: b, left: uint32(n), r: r}
}

// Gram finds a gram: in how many documents it is, and the terms that have it, ascending. A term that has it twice is there
// twice. The terms are added to ids.
func (r *Reader) Gram(text string, ids []uint32) (df int, terms []uint32) {
	id, ok := dict{r, secGrams}.find([]byte(text))
	if !ok {
		return 0, ids
	}
	b, n := r.list(secGramPlaces, secGramLists, uint32(id), gramPlaceEvery, skipGrams)
	docs := uint64(0)
	if n > 1 {
		docs = varint(&b)
	}
	for last := uint64(0); n > 0; n-- {
		last += varint(&b)
		if last >= uint64(r.counts[secTerms]) {
			r.spoilt()
			return 0, ids
		}
		ids = append(ids, uint32(last))
		if docs == 0 {
			docs = uint64(r.DF(uint32(last)))
		}
	}
	return int(docs), ids
}

// Sizes are the bytes of each part, for people.
func (r *Reader) Sizes() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i, name := range sectionNames() {
			if !yield(name, int(r.sizes[i])) {
				return
			}
		}
		yield("header", len(r.data)-len(r.body))
	}
}
