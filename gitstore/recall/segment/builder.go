package segment

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// Builder collects documents for a segment. The zero value is ready, and has no grams. It keeps of a document some five bytes for
// each token, and what is stored.
type Builder struct {
	// Grams gives the pieces of a term by which it is found when it is spelt otherwise; each is a text of its own right.
	// nil: no grams.
	Grams func(term string) []string

	terms  map[string]uint32 // to its number, in the order of appearance
	names  []string
	latin  []bool
	labels map[string]uint32
	docs   []packed
	keys   map[string]bool
}

// packed is a document that waits, with numbers in the place of terms and labels.
type packed struct {
	key, blob, group string
	stored           []byte
	time, expires    int64
	kind             uint8
	length           uint64
	labels           []uint32
	tokens           []byte // varints: number of the term, weight, word as a difference (zigzag), passage
	n                int    // tokens
}

// Len is how many documents were added.
func (b *Builder) Len() int { return len(b.docs) }

// Add takes a document; its slices are the caller's again after.
func (b *Builder) Add(d Doc) error {
	switch {
	case b.keys[d.Key]:
		return fmt.Errorf("add %s to a segment: it is there twice", d.Key)
	case len(d.Blob) > maxBlob:
		return fmt.Errorf("add %s to a segment: the name of its content has more than %d bytes", d.Key, maxBlob)
	case max(len(d.Key), len(d.Group)) > maxText:
		return fmt.Errorf("add %.50s… to a segment: its key or group has more than %d bytes", d.Key, maxText)
	case len(d.Stored) > maxStored:
		return fmt.Errorf("add %s to a segment: more than %d bytes to store", d.Key, maxStored)
	case d.Time < 0 || d.Expires < 0 || d.Time >= maxTime:
		return fmt.Errorf("add %s to a segment: a time before 1970 or after 36812", d.Key)
	case len(b.docs) == maxDocs:
		return fmt.Errorf("add %s to a segment: it has %d documents already", d.Key, maxDocs)
	}
	if b.terms == nil {
		b.terms, b.labels, b.keys = map[string]uint32{}, map[string]uint32{}, map[string]bool{}
	}
	p := packed{key: d.Key, blob: d.Blob, group: d.Group, stored: slices.Clone(d.Stored), time: d.Time, expires: d.Expires, kind: d.Kind, n: len(d.Tokens)}
	for _, l := range d.Labels {
		if len(l) > maxText {
			return fmt.Errorf("add %s to a segment: a label has more than %d bytes", d.Key, maxText)
		}
		if _, known := b.labels[l]; !known {
			b.labels[l] = uint32(len(b.labels))
		}
		p.labels = append(p.labels, b.labels[l])
	}
	word := int64(0)
	for _, t := range d.Tokens {
		if t.Term == "" || len(t.Term) > maxText {
			return fmt.Errorf("add %s to a segment: a term is empty or has more than %d bytes", d.Key, maxText)
		}
		id, known := b.terms[t.Term]
		if !known {
			id = uint32(len(b.names))
			b.terms[t.Term] = id
			b.names, b.latin = append(b.names, t.Term), append(b.latin, false)
		}
		if t.Gram {
			b.latin[id] = true
		}
		p.length += uint64(t.Weight)
		p.tokens = binary.AppendUvarint(p.tokens, uint64(id))
		p.tokens = append(p.tokens, t.Weight)
		p.tokens = binary.AppendUvarint(p.tokens, zigzag(int64(t.Word)-word))
		p.tokens = binary.AppendUvarint(p.tokens, uint64(t.Passage))
		word = int64(t.Word)
	}
	p.tokens = slices.Clip(p.tokens)
	if p.length > maxLength {
		return fmt.Errorf("add %s to a segment: it is too long", d.Key)
	}
	b.keys[d.Key] = true
	b.docs = append(b.docs, p)
	return nil
}

// maxLength keeps sums of lengths from overflowing.
const maxLength = 1 << 31

// each calls fn for each token of a waiting document.
func (p *packed) each(fn func(id uint32, t Position)) {
	b, word := p.tokens, int64(0)
	for len(b) > 0 {
		id := uint32(varint(&b))
		t := Position{Weight: b[0]}
		b = b[1:]
		word += unzigzag(varint(&b))
		t.Word = uint32(word)
		t.Passage = uint16(varint(&b))
		fn(id, t)
	}
}

// draft is a segment in the making.
type draft struct {
	docs       []packed
	names      []string // of terms, sorted
	sorted     []uint32 // number of a term to its id
	latin      []bool   // by id
	gramCounts []uint32 // by id, how many grams the term has

	gramLengths []uint64 // of docs
	counts      [sections]int
	secs        [sections][]byte
}

// Bytes makes the segment. The same documents make the same bytes, in whatever order they were added.
func (b *Builder) Bytes() ([]byte, error) {
	slices.SortFunc(b.docs, func(x, y packed) int {
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.time, y.time), cmp.Compare(x.key, y.key))
	})
	d := &draft{docs: b.docs}
	var latin []uint32
	d.names, d.sorted = sortTexts(b.names)
	d.latin = make([]bool, len(d.names))
	for number, id := range d.sorted {
		d.latin[id] = b.latin[number] && b.Grams != nil
	}
	for id, yes := range d.latin {
		if yes {
			latin = append(latin, uint32(id))
		}
	}
	d.secs[secTerms] = appendDict(nil, d.names)
	d.counts[secTerms] = len(d.names)
	d.secs[secLatin] = make([]byte, (len(d.names)+7)/8)
	for _, id := range latin {
		d.secs[secLatin][id/8] |= 1 << (id % 8)
	}
	postings := d.postings()
	d.grams(b.Grams, latin, postings)
	rows := d.keys()
	names, sorted := b.sortLabels()
	d.records(names, sorted, rows)
	d.groups(rows)
	if err := d.stored(); err != nil {
		return nil, err
	}
	return d.bytes()
}

func (b *Builder) sortLabels() (names []string, sorted []uint32) {
	texts := make([]string, len(b.labels))
	for l, number := range b.labels {
		texts[number] = l
	}
	return sortTexts(texts)
}

// sortTexts sorts texts, and says where each of them went.
func sortTexts(texts []string) (names []string, sorted []uint32) {
	order := make([]uint32, len(texts))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return cmp.Compare(texts[x], texts[y]) })
	names, sorted = make([]string, len(texts)), make([]uint32, len(texts))
	for id, number := range order {
		names[id], sorted[number] = texts[number], uint32(id)
	}
	return names, sorted
}

// keys writes the keys and what belongs to them, and begins the documents' rows.
func (d *draft) keys() (rows []byte) {
	order := make([]int, len(d.docs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(d.docs[x].key, d.docs[y].key) })
	names, blobs, width := make([]string, len(order)), make([][]byte, len(order)), 0
	for place, i := range order {
		names[place] = d.docs[i].key
		blobs[place] = packBlob(d.docs[i].blob)
		width = max(width, len(blobs[place]))
	}
	rows = make([]byte, rowSize*len(d.docs))
	var ids []byte
	for place, i := range order {
		ids = append(ids, byte(i), byte(i>>8), byte(i>>16))
		ids = append(ids, blobs[place]...)
		ids = append(ids, make([]byte, width-len(blobs[place]))...)
		put24(rows[i*rowSize+rowKey:], place)
	}
	d.secs[secKeys], d.counts[secKeys] = appendDict(nil, names), len(names)
	d.secs[secIDs], d.counts[secIDs] = ids, 3+width
	d.secs[secDocs], d.counts[secDocs] = rows, len(d.docs)
	return rows
}

// The columns of a document's row.
const (
	rowLength     = 0  // u32
	rowGramLength = 4  // u32
	rowTime       = 8  // u40
	rowKind       = 13 // u8
	rowRecord     = 14 // u32
	rowKey        = 18 // u24
	rowGroup      = 21 // u24
	rowSize       = 24
)

const hexBlob = 0x80

// packBlob is the length of the name, and its bytes.
func packBlob(name string) []byte {
	if raw, err := hex.DecodeString(name); err == nil && hex.EncodeToString(raw) == name {
		return append([]byte{byte(len(raw)) | hexBlob}, raw...)
	}
	return append([]byte{byte(len(name))}, name...)
}

// records writes the records, and ends the rows but for their groups.
func (d *draft) records(names []string, sorted []uint32, rows []byte) {
	d.secs[secLabels], d.counts[secLabels] = appendDict(nil, names), len(names)
	hot, codes := d.hot()
	for _, id := range hot {
		d.secs[secHot] = binary.LittleEndian.AppendUint32(d.secs[secHot], id)
	}
	d.counts[secHot] = len(hot)
	var out []byte
	var labels []uint32
	for i := range d.docs {
		p, row := &d.docs[i], rows[i*rowSize:]
		binary.LittleEndian.PutUint32(row[rowLength:], uint32(p.length))
		binary.LittleEndian.PutUint32(row[rowGramLength:], uint32(min(d.gramLengths[i], math.MaxUint32)))
		binary.LittleEndian.PutUint32(row[rowTime:], uint32(p.time))
		row[rowTime+4] = byte(p.time >> 32)
		binary.LittleEndian.PutUint32(row[rowRecord:], uint32(len(out)))
		row[rowKind] = p.kind
		out = binary.AppendUvarint(out, uint64(p.expires))
		labels = labels[:0]
		for _, number := range p.labels {
			labels = append(labels, sorted[number])
		}
		slices.Sort(labels)
		labels = slices.Compact(labels)
		out = binary.AppendUvarint(out, uint64(len(labels)))
		out = appendGaps(out, labels)
		out = binary.AppendUvarint(out, uint64(p.n))
		var last Position
		p.each(func(number uint32, t Position) {
			out = appendToken(out, codes[d.sorted[number]], last, t)
			last = t
		})
	}
	d.secs[secRecords] = out
}

// appendGaps writes ascending numbers as differences, the first from 0.
func appendGaps(out []byte, ids []uint32) []byte {
	last := uint32(0)
	for _, id := range ids {
		out = binary.AppendUvarint(out, uint64(id-last))
		last = id
	}
	return out
}

// groups writes the groups, and who is in which to the rows.
func (d *draft) groups(rows []byte) {
	names := []string{""}
	starts := binary.LittleEndian.AppendUint32(nil, 0)
	for i := range d.docs {
		if g := d.docs[i].group; g != names[len(names)-1] {
			names = append(names, g)
			starts = binary.LittleEndian.AppendUint32(starts, uint32(i))
		}
		put24(rows[i*rowSize+rowGroup:], len(names)-1)
	}
	d.secs[secGroupStarts] = binary.LittleEndian.AppendUint32(starts, uint32(len(d.docs)))
	d.secs[secGroups], d.counts[secGroups] = appendDict(nil, names), len(names)
}

// bytes puts the parts together.
func (d *draft) bytes() ([]byte, error) {
	size := 0
	for _, s := range d.secs {
		if uint64(len(s)) > maxSection {
			return nil, errors.New("build a segment: too much for one; divide the documents")
		}
		size += len(s)
	}
	pages := (size + pageSize - 1) / pageSize
	out := make([]byte, headerSize+4*pages, headerSize+4*pages+size)
	copy(out, magic)
	var length, grams uint64
	for i := range d.docs {
		length += d.docs[i].length
		grams += d.gramLengths[i]
	}
	le := binary.LittleEndian
	le.PutUint64(out[headSize:], uint64(cap(out)))
	le.PutUint64(out[headLength:], length)
	le.PutUint64(out[headGrams:], grams)
	le.PutUint32(out[headDocs:], uint32(len(d.docs)))
	for i, at := 0, 0; i < sections; i++ {
		e := out[headSecs+i*secEntry:]
		le.PutUint64(e, uint64(at))
		le.PutUint32(e[8:], uint32(len(d.secs[i])))
		le.PutUint32(e[12:], uint32(d.counts[i]))
		at += len(d.secs[i])
	}
	for i, s := range d.secs {
		out = append(out, s...)
		d.secs[i] = nil
	}
	body := out[headerSize+4*pages:]
	for k := range pages {
		le.PutUint32(out[headerSize+4*k:], crc32.ChecksumIEEE(body[k*pageSize:min((k+1)*pageSize, size)]))
	}
	le.PutUint32(out[headSum:], headerCRC(out[:headerSize+4*pages]))
	return out, nil
}

// headerCRC is the sum of header and checksums, without its own place.
func headerCRC(b []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(b[:headSum]), crc32.IEEETable, b[headSum+4:])
}
