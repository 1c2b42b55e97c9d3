package catalog

import "iter"

// vocabulary answers about the terms and labels of a segment, and has the postings of terms.
type vocabulary struct{ pages *pages }

// Terms returns the number of terms.
func (v vocabulary) Terms() int { return v.pages.parts[secTerms].count }

// Term returns the id of a term, which is below Terms.
func (v vocabulary) Term(text string) (id uint32, ok bool) {
	i, ok := v.pages.search(secTerms, text)
	return uint32(i), ok
}

// TermText returns the term of an id.
func (v vocabulary) TermText(id uint32) string { return v.pages.view(secTerms, int(id)) }

// Prefix returns the ids of the terms that begin with a text.
func (v vocabulary) Prefix(text string) iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		for i, _ := v.pages.search(secTerms, text); i < v.pages.parts[secTerms].count; i++ {
			term := v.pages.text(secTerms, i)
			if len(term) < len(text) || string(term[:len(text)]) != text || !yield(uint32(i), term) {
				return
			}
		}
	}
}

// Label returns the id of a label, LabelText the label of an id, and LabelCount the number of
// labels.
func (v vocabulary) Label(text string) (id uint32, ok bool) {
	i, ok := v.pages.search(secLabels, text)
	return uint32(i), ok
}
func (v vocabulary) LabelText(id uint32) string { return v.pages.view(secLabels, int(id)) }
func (v vocabulary) LabelCount() int            { return v.pages.parts[secLabels].count }

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
func (v vocabulary) Postings(term uint32) Cursor {
	b := v.pages.text(secPostings, int(term))
	n := varint(&b) >> 1
	if n > uint64(len(b)) {
		v.pages.spoilt()
		n = 0
	}
	return Cursor{rest: b, left: uint32(n), of: v.pages}
}

// Latin reports whether a term's grams count.
func (v vocabulary) Latin(term uint32) bool {
	b := v.pages.text(secPostings, int(term))
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
