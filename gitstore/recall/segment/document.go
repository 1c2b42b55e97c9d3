package segment

import (
	"encoding/hex"
	"iter"
)

// row is the fixed part of a document; zeros when there is none.
func (r *Reader) row(doc int) []byte {
	if doc >= 0 {
		if row := r.span(secDocs, rowSize*uint64(doc), rowSize*uint64(doc)+rowSize); row != nil {
			return row
		}
	}
	return make([]byte, rowSize)
}

// Length is the weight of a document's tokens.
func (r *Reader) Length(doc int) uint32 { return le32(r.row(doc)[rowLength:]) }

// GramLength is the weight of a document's tokens, each times the grams of its term.
func (r *Reader) GramLength(doc int) uint32 { return le32(r.row(doc)[rowGramLength:]) }

// Time is that of a document, in Unix seconds; 0 is unknown.
func (r *Reader) Time(doc int) int64 { return int64(le64(r.row(doc)[rowTime:]) & (maxTime - 1)) }

// Kind is the number that was given.
func (r *Reader) Kind(doc int) uint8 { return r.row(doc)[rowKind] }

// Expires is when a document ends, in Unix seconds; 0 is never.
func (r *Reader) Expires(doc int) int64 {
	b := r.record(doc)
	return int64(varint(&b))
}

// record is the record of a document, and what comes after.
func (r *Reader) record(doc int) []byte {
	row := r.row(doc)
	from, to := uint64(le32(row[rowRecord:])), r.sizes[secRecords]
	if doc+1 < int(r.docs) {
		to = uint64(le32(r.row(doc + 1)[rowRecord:]))
	}
	return r.span(secRecords, from, to)
}

// Labels adds the ids of a document's labels to out, ascending.
func (r *Reader) Labels(doc int, out []uint32) []uint32 {
	b := r.record(doc)
	varint(&b) // expires
	n, last := varint(&b), uint64(0)
	for ; n > 0 && len(b) > 0; n-- {
		if last += varint(&b); last >= uint64(r.counts[secLabels]) {
			break
		}
		out = append(out, uint32(last))
	}
	if n > 0 {
		r.spoilt()
	}
	return out
}

// Label finds a label's id.
func (r *Reader) Label(text string) (id uint32, ok bool) {
	n, ok := dict{r, secLabels}.find([]byte(text))
	return uint32(n), ok
}

// LabelText is the label of an id.
func (r *Reader) LabelText(id uint32) string { return dict{r, secLabels}.text(int(id)) }

// AllLabels are all labels, in the order of their ids. A text is only good until the next.
func (r *Reader) AllLabels() iter.Seq2[int, []byte] { return dict{r, secLabels}.all() }

// hotTerms are the ids of the terms with short codes, four bytes each.
func (r *Reader) hotTerms() []byte { return r.span(secHot, 0, r.sizes[secHot]) }

// Group is the name of a document's group; "" is none.
func (r *Reader) Group(doc int) string {
	id := le24(r.row(doc)[rowGroup:])
	if id == 0 {
		return ""
	}
	return dict{r, secGroups}.text(int(id))
}

// Members are the documents of a group: those from first to before end.
func (r *Reader) Members(group string) (first, end int) {
	id, ok := dict{r, secGroups}.find([]byte(group))
	if !ok {
		return 0, 0
	}
	at := r.span(secGroupStarts, 4*uint64(id), 4*uint64(id)+8)
	if at == nil || le32(at) > le32(at[4:]) || le32(at[4:]) > r.docs {
		r.spoilt()
		return 0, 0
	}
	return int(le32(at)), int(le32(at[4:]))
}

// Previous is the document before in the same group, or -1; Next the one after.
func (r *Reader) Previous(doc int) int { return r.beside(doc, doc-1) }
func (r *Reader) Next(doc int) int     { return r.beside(doc, doc+1) }

func (r *Reader) beside(doc, other int) int {
	if other < 0 || other >= int(r.docs) {
		return -1
	}
	if id := le24(r.row(doc)[rowGroup:]); id == 0 || id != le24(r.row(other)[rowGroup:]) {
		return -1
	}
	return other
}

// Find is the document with a key.
func (r *Reader) Find(key string) (doc int, ok bool) {
	place, ok := dict{r, secKeys}.find([]byte(key))
	if !ok {
		return 0, false
	}
	doc, _ = r.id(place)
	return doc, doc >= 0
}

// Key is that of a document.
func (r *Reader) Key(doc int) string { return dict{r, secKeys}.text(int(le24(r.row(doc)[rowKey:]))) }

// Blob is the name of a document's content.
func (r *Reader) Blob(doc int) string {
	_, blob := r.id(int(le24(r.row(doc)[rowKey:])))
	return unpackBlob(blob)
}

// id is what stands beside a key: its document, and the packed name of its content. The document is -1 when there is none.
func (r *Reader) id(place int) (doc int, blob []byte) {
	width := uint64(r.counts[secIDs])
	b := r.span(secIDs, width*uint64(place), width*uint64(place)+width)
	if len(b) < 4 {
		return -1, nil
	}
	n := int(b[3] &^ hexBlob)
	if le24(b) >= r.docs || 4+n > len(b) {
		r.spoilt()
		return -1, nil
	}
	return int(le24(b)), b[3 : 4+n]
}

func unpackBlob(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case b[0]&hexBlob != 0:
		return hex.EncodeToString(b[1:])
	default:
		return string(b[1:])
	}
}

// Entries walks over all documents in the order of their keys, as a comparison with a tree does.
//
//	for e := r.Entries(); e.Next(); {
//		use(e.Key(), e.Doc)
//	}
type Entries struct {
	Doc  int
	keys dictCursor
	blob []byte
}

func (r *Reader) Entries() Entries { return Entries{keys: dict{r, secKeys}.cursor()} }

// Next moves on to the next document.
func (e *Entries) Next() bool {
	if !e.keys.next() {
		return false
	}
	e.Doc, e.blob = e.keys.r.id(e.keys.id)
	return e.Doc >= 0
}

// Key is that of the document, and only good until Next.
func (e *Entries) Key() []byte { return e.keys.text }

// Same reports whether the document's content has that name.
func (e *Entries) Same(name string) bool {
	if len(e.blob) == 0 || e.blob[0]&hexBlob == 0 {
		return string(e.blob[min(1, len(e.blob)):]) == name
	}
	digits := e.blob[1:]
	if len(name) != 2*len(digits) {
		return false
	}
	const hexDigits = "0123456789abcdef"
	for i, b := range digits {
		if name[2*i] != hexDigits[b>>4] || name[2*i+1] != hexDigits[b&15] {
			return false
		}
	}
	return true
}

// Copier gives documents of a segment as they were added, for another Builder.
type Copier struct {
	r      *Reader
	terms  []string
	places []Position
}

// NewCopier unpacks the terms once for all documents.
func NewCopier(r *Reader) *Copier { return &Copier{r: r, terms: dict{r, secTerms}.strings()} }

// Doc is a document. Its Tokens are only good until the next.
func (c *Copier) Doc(doc int, tokens []Token) (Doc, error) {
	r := c.r
	stored, err := r.Stored(doc)
	if err != nil {
		return Doc{}, err
	}
	d := Doc{Key: r.Key(doc), Blob: r.Blob(doc), Stored: stored, Time: r.Time(doc), Expires: r.Expires(doc), Kind: r.Kind(doc), Group: r.Group(doc)}
	for _, id := range r.Labels(doc, nil) {
		d.Labels = append(d.Labels, r.LabelText(id))
	}
	c.places = r.Forward(doc, c.places[:0])
	for _, p := range c.places {
		if int(p.Term) >= len(c.terms) {
			r.spoilt()
			break
		}
		tokens = append(tokens, Token{c.terms[p.Term], p.Weight, p.Word, p.Passage, r.Latin(p.Term)})
	}
	d.Tokens = tokens
	return d, r.Err()
}
