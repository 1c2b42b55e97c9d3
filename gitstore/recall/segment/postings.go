package segment

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Posting is a document that has a term.
type Posting struct {
	Doc  uint32
	Freq uint32 // sum of the weights of its tokens
}

// Cursor walks over the postings of a term, in the order of documents.
//
//	for c := r.Postings(term); c.Next(); {
//		use(c.Doc, c.Freq)
//	}
//
// Read gives many at once, in a fraction of the time.
type Cursor struct {
	Posting

	rest []byte
	left uint32
	next uint32 // the least document that may come
	r    *Reader
}

// Next moves on to the next document that has the term.
func (c *Cursor) Next() bool {
	var one [1]Posting
	if c.Read(one[:]) == 0 {
		return false
	}
	c.Posting = one[0]
	return true
}

// Read fills room with the next postings and returns how many there were; 0 at the end.
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
		if b == nil || doc >= uint64(c.r.docs) {
			c.left = 0
			c.r.spoilt()
			break
		}
		room[n] = Posting{uint32(doc), uint32(freq)}
		next = uint32(doc) + 1
	}
	c.rest, c.next = b, next
	return n
}

// postings writes what each term is found in, and returns it: of a term from at[id] to at[id+1].
func (d *draft) postings() *postingLists {
	type use struct{ id, freq uint32 }
	uses := func(p *packed, buf []use) []use {
		buf = buf[:0]
		p.each(func(number uint32, t Position) {
			if t.Weight > 0 {
				buf = append(buf, use{d.sorted[number], uint32(t.Weight)})
			}
		})
		slices.SortFunc(buf, func(x, y use) int { return cmp.Compare(x.id, y.id) })
		n := 0
		for _, u := range buf {
			if n > 0 && buf[n-1].id == u.id {
				buf[n-1].freq += u.freq
			} else {
				buf[n] = u
				n++
			}
		}
		return buf[:n]
	}
	lists := &postingLists{at: make([]uint32, len(d.names)+1)}
	var buf []use
	for i := range d.docs {
		buf = uses(&d.docs[i], buf)
		for _, u := range buf {
			lists.at[u.id+1]++
		}
	}
	for id := range d.names {
		lists.at[id+1] += lists.at[id]
	}
	lists.all = make([]Posting, lists.at[len(d.names)])
	fill := slices.Clone(lists.at)
	for i := range d.docs {
		buf = uses(&d.docs[i], buf)
		for _, u := range buf {
			lists.all[fill[u.id]] = Posting{uint32(i), u.freq}
			fill[u.id]++
		}
	}
	var out, places, body []byte
	for id := range d.names {
		if id%placeEvery == 0 {
			places = binary.LittleEndian.AppendUint32(places, uint32(len(out)))
		}
		list := lists.of(uint32(id))
		body = body[:0]
		next := uint32(0)
		for _, p := range list {
			gap := uint64(p.Doc-next) << 2
			if p.Freq <= 3 {
				body = binary.AppendUvarint(body, gap|uint64(p.Freq-1))
			} else {
				body = binary.AppendUvarint(body, gap|3)
				body = binary.AppendUvarint(body, uint64(p.Freq))
			}
			next = p.Doc + 1
		}
		out = appendList(out, len(list), body)
	}
	d.secs[secPlaces], d.secs[secPostings] = places, out
	return lists
}

type postingLists struct {
	at  []uint32
	all []Posting
}

func (l *postingLists) of(id uint32) []Posting { return l.all[l.at[id]:l.at[id+1]] }

// grams writes the grams of the latin terms, and sums up each document's gram length: the weight of each token as often as its term
// has grams.
func (d *draft) grams(split func(string) []string, latin []uint32, lists *postingLists) {
	d.gramLengths = make([]uint64, len(d.docs))
	numbers := map[string]uint32{}
	var texts []string
	var terms [][]uint32 // by number
	for _, id := range latin {
		pieces := split(d.names[id])
		for _, g := range pieces {
			number, known := numbers[g]
			if !known {
				number = uint32(len(texts))
				numbers[g] = number
				texts, terms = append(texts, g), append(terms, nil)
			}
			terms[number] = append(terms[number], id)
		}
		for _, p := range lists.of(id) {
			d.gramLengths[p.Doc] += uint64(p.Freq) * uint64(len(pieces))
		}
	}
	names, sorted := sortTexts(texts)
	order := make([]uint32, len(names)) // id to number
	for number, id := range sorted {
		order[id] = uint32(number)
	}
	seen := make([]uint32, len(d.docs)) // the last gram, from 1, that was found in a document
	var out, places, body []byte
	for id := range names {
		if id%gramPlaceEvery == 0 {
			places = binary.LittleEndian.AppendUint32(places, uint32(len(out)))
		}
		list, df := terms[order[id]], 0
		for _, term := range list {
			for _, p := range lists.of(term) {
				if seen[p.Doc] != uint32(id)+1 {
					seen[p.Doc] = uint32(id) + 1
					df++
				}
			}
		}
		if body = body[:0]; len(list) > 1 {
			body = binary.AppendUvarint(body, uint64(df))
		}
		out = appendList(out, len(list), appendGaps(body, list))
	}
	d.secs[secGrams], d.counts[secGrams] = appendDict(nil, names), len(names)
	d.secs[secGramPlaces], d.secs[secGramLists] = places, out
}

const (
	placeEvery     = 4 // terms share a place
	gramPlaceEvery = 8 // grams do
	longList       = 8 // from which length on a list says its size: a shorter one is passed over by reading it
)

// appendList writes a list of n things.
func appendList(out []byte, n int, body []byte) []byte {
	out = binary.AppendUvarint(out, uint64(n))
	if n >= longList {
		out = binary.AppendUvarint(out, uint64(len(body)))
	}
	return append(out, body...)
}

// list is the list of an id and its length: in section sec, where section places tells the beginning of every so many. Of a short list the
// end is not known. Each thing of a list takes a byte at least.
func (r *Reader) list(places, sec int, id uint32, every uint32, skip func(b *[]byte, n uint64)) (b []byte, n uint64) {
	at := r.span(places, 4*uint64(id/every), 4*uint64(id/every)+4)
	if at == nil {
		return nil, 0
	}
	from, to := uint64(le32(at)), r.sizes[sec]
	if next := 4*uint64(id/every) + 4; next+4 <= r.sizes[places] {
		if at = r.span(places, next, next+4); at == nil {
			return nil, 0
		}
		to = uint64(le32(at))
	}
	b = r.span(sec, from, to)
	for left := id % every; ; left-- {
		n = varint(&b)
		size := uint64(0)
		if n >= longList {
			if size = varint(&b); size > uint64(len(b)) || n > size {
				r.spoilt()
				return nil, 0
			}
		}
		switch {
		case left == 0 && n >= longList:
			return b[:size], n
		case left == 0 && n > uint64(len(b)):
			r.spoilt()
			return nil, 0
		case left == 0:
			return b, n
		case n >= longList:
			b = b[size:]
		default:
			skip(&b, n)
		}
	}
}

func skipPostings(b *[]byte, n uint64) {
	for ; n > 0; n-- {
		if varint(b)&3 == 3 {
			varint(b)
		}
	}
}

func skipGrams(b *[]byte, n uint64) {
	if n > 1 {
		n++ // in how many documents
	}
	for ; n > 0; n-- {
		varint(b)
	}
}
