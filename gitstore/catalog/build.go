package catalog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// builder builds a segment of documents.
type builder struct {
	split  func(term string) []string // grams; nil: none
	docs   []packed
	terms  numbers
	labels numbers
	latin  []bool // by number of the term
	keys   map[string]bool
}

// packed is a collected document, with numbers for terms and labels.
type packed struct {
	Doc
	length, gramLength uint64
	labels             []uint32 // the group's is the last
	tokens             []token
}

type token struct {
	term, word uint32
	passage    uint16
	weight     uint8
}

// numbers assigns numbers to texts in the order of appearance.
type numbers struct {
	of    map[string]uint32
	texts []string
}

func (n *numbers) number(text string) uint32 {
	i, known := n.of[text]
	if !known {
		if n.of == nil {
			n.of = map[string]uint32{}
		}
		i = uint32(len(n.texts))
		n.of[text], n.texts = i, append(n.texts, text)
	}
	return i
}

// sorted returns the texts in order, and the new position of each number.
func (n *numbers) sorted() (texts []string, ids []uint32) {
	order := make([]uint32, len(n.texts))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return cmp.Compare(n.texts[x], n.texts[y]) })
	texts, ids = make([]string, len(order)), make([]uint32, len(order))
	for id, number := range order {
		texts[id], ids[number] = n.texts[number], uint32(id)
	}
	return texts, ids
}

// add adds a document. The caller may reuse its Tokens and Labels afterwards.
func (b *builder) add(d Doc) error {
	if b.keys == nil {
		b.keys = map[string]bool{}
	}
	if b.keys[d.Key] {
		return fmt.Errorf("add %s to the catalog: key given twice", d.Key)
	}
	p := packed{Doc: d}
	p.Labels, p.Tokens = nil, nil
	for _, t := range d.Tokens {
		if t.Term == "" || !d.Indexed {
			return fmt.Errorf("add %s to the catalog: empty term, or terms of a document that is not indexed", d.Key)
		}
		p.length += uint64(t.Weight)
	}
	if p.length > maxLength || d.Time < 0 || d.Expires < 0 {
		return fmt.Errorf("add %s to the catalog: too long, or older than 1970", d.Key)
	}
	for _, l := range d.Labels {
		p.labels = append(p.labels, b.labels.number(l))
	}
	if d.Group != "" {
		p.labels = append(p.labels, b.labels.number(d.Group))
	}
	p.tokens = make([]token, len(d.Tokens))
	for i, t := range d.Tokens {
		p.tokens[i] = token{b.terms.number(t.Term), t.Word, t.Passage, t.Weight}
		if n := int(p.tokens[i].term); n == len(b.latin) {
			b.latin = append(b.latin, t.Gram)
		} else if t.Gram {
			b.latin[n] = true
		}
	}
	b.keys[d.Key] = true
	b.docs = append(b.docs, p)
	return nil
}

// section collects a table.
type section struct {
	ends []uint32
	text []byte
}

func (s *section) add(text []byte) {
	s.text = append(s.text, text...)
	s.ends = append(s.ends, uint32(min(len(s.text), maxSection)))
}

func (s *section) addAll(texts []string) {
	for _, t := range texts {
		s.add([]byte(t))
	}
}

func (s *section) bytes() []byte {
	out := make([]byte, 4, 4+4*len(s.ends)+len(s.text))
	for _, end := range s.ends {
		out = le.AppendUint32(out, end)
	}
	return append(out, s.text...)
}

// bytes makes the segment. The same documents make the same bytes, in whatever order they were
// added.
func (b *builder) bytes() ([]byte, error) {
	slices.SortFunc(b.docs, func(x, y packed) int { return cmp.Compare(x.Key, y.Key) })
	var all [sections]section
	names, ids := b.terms.sorted()
	labels, labelIDs := b.labels.sorted()
	all[secTerms].addAll(names)
	all[secLabels].addAll(labels)
	for i := range b.docs {
		p := &b.docs[i]
		for j := range p.tokens {
			p.tokens[j].term = ids[p.tokens[j].term]
		}
		for j := range p.labels {
			p.labels[j] = labelIDs[p.labels[j]]
		}
	}
	latin := make([]bool, len(names))
	for number, id := range ids {
		latin[id] = b.latin[number] && b.split != nil
	}
	b.postings(names, latin, &all)
	var rows, lengths, groups []byte
	for i := range b.docs {
		p := &b.docs[i]
		all[secKeys].add([]byte(p.Key))
		all[secBlobs].add([]byte(p.Blob))
		all[secHeads].add(p.Head)
		all[secBodies].add(p.Body)
		group := uint32(0)
		if p.Group != "" {
			group = p.labels[len(p.labels)-1] + 1
			p.labels = p.labels[:len(p.labels)-1]
		}
		all[secRecords].add(p.record())
		rows = le.AppendUint64(rows, uint64(p.Time))
		rows = le.AppendUint64(rows, uint64(p.Expires))
		rows = le.AppendUint64(rows, p.Mark)
		rows = le.AppendUint32(rows, group)
		rows = append(rows, p.Kind, p.Flags, flag(p.Indexed), 0)
		lengths = le.AppendUint32(lengths, uint32(p.length))
		lengths = le.AppendUint32(lengths, uint32(min(p.gramLength, math.MaxUint32)))
	}
	for _, i := range b.grouped() {
		groups = le.AppendUint32(groups, i)
	}
	return b.join([...][]byte{rows, lengths, groups}, &all)
}

func flag(on bool) uint8 {
	if on {
		return 1
	}
	return 0
}

// grouped returns the indexed documents with a group, in the order of neighbours.
func (b *builder) grouped() (order []uint32) {
	for i := range b.docs {
		if b.docs[i].Indexed && b.docs[i].Group != "" {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(i, j uint32) int {
		x, y := &b.docs[i], &b.docs[j]
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Time, y.Time), cmp.Compare(i, j))
	})
	return order
}

// postings writes the documents of each term and each gram. It also sums up each document's gram
// length: a token's weight times the number of its term's grams.
func (b *builder) postings(names []string, latin []bool, all *[sections]section) {
	lists := make([][]Posting, len(names))
	for i := range b.docs {
		for _, t := range b.docs[i].tokens {
			list := lists[t.term]
			if n := len(list); n > 0 && list[n-1].Doc == uint32(i) {
				list[n-1].Freq += uint32(t.weight)
			} else if t.weight > 0 {
				lists[t.term] = append(list, Posting{uint32(i), uint32(t.weight)})
			}
		}
	}
	var grams numbers
	var having [][]uint32 // terms, by number of the gram
	var out []byte
	for id, list := range lists {
		out = binary.AppendUvarint(out[:0], uint64(len(list))<<1|uint64(flag(latin[id])))
		next := uint32(0)
		for _, p := range list {
			gap := uint64(p.Doc-next) << 2
			if p.Freq <= 3 {
				out = binary.AppendUvarint(out, gap|uint64(p.Freq-1))
			} else {
				out = binary.AppendUvarint(binary.AppendUvarint(out, gap|3), uint64(p.Freq))
			}
			next = p.Doc + 1
		}
		all[secPostings].add(out)
		if !latin[id] {
			continue
		}
		pieces := b.split(names[id])
		for _, g := range pieces {
			number := grams.number(g)
			if int(number) == len(having) {
				having = append(having, nil)
			}
			having[number] = append(having[number], uint32(id))
		}
		for _, p := range list {
			b.docs[p.Doc].gramLength += uint64(p.Freq) * uint64(len(pieces))
		}
	}
	texts, ids := grams.sorted()
	all[secGrams].addAll(texts)
	order := make([]uint32, len(texts)) // id to number
	for number, id := range ids {
		order[id] = uint32(number)
	}
	seen := make([]uint32, len(b.docs)) // the last gram, from 1, that was found in a document
	for id := range texts {
		df, last := 0, uint32(0)
		out = out[:0]
		for _, term := range having[order[id]] {
			for _, p := range lists[term] {
				if seen[p.Doc] != uint32(id)+1 {
					seen[p.Doc] = uint32(id) + 1
					df++
				}
			}
			out = binary.AppendUvarint(out, uint64(term-last))
			last = term
		}
		all[secLists].add(append(binary.AppendUvarint(nil, uint64(df)), out...))
	}
}

// record writes the labels and tokens of a document.
func (p *packed) record() (out []byte) {
	slices.Sort(p.labels)
	p.labels = slices.Compact(p.labels)
	out = binary.AppendUvarint(out, uint64(len(p.labels)))
	last := uint32(0)
	for _, id := range p.labels {
		out = binary.AppendUvarint(out, uint64(id-last))
		last = id
	}
	var was token
	for _, t := range p.tokens {
		step := int64(t.word) - int64(was.word)
		if step >= 0 && step < stepFollows && t.passage == was.passage && t.weight == was.weight {
			out = binary.AppendUvarint(out, uint64(t.term)<<2|uint64(step))
		} else {
			out = binary.AppendUvarint(out, uint64(t.term)<<2|stepFollows)
			out = binary.AppendUvarint(out, zigzag(step))
			out = binary.AppendUvarint(out, zigzag(int64(t.passage)-int64(was.passage)))
			out = append(out, t.weight)
		}
		was = t
	}
	return out
}

const stepFollows = 3

// join writes a header and the sections. The header holds its own sum, the segment's size, the
// numbers of documents and of indexed ones, and sums of lengths. Each section's size and number of
// texts follow, then the sums of the pages.
func (b *builder) join(first [len(fixed)][]byte, all *[sections]section) ([]byte, error) {
	var body []byte
	head := make([]byte, segmentHead)
	var indexed, length, grams uint64
	for i := range b.docs {
		indexed += uint64(flag(b.docs[i].Indexed))
		length += b.docs[i].length
		grams += b.docs[i].gramLength
	}
	for i := range all {
		var part []byte
		n := len(all[i].ends)
		if i < len(first) {
			part = first[i]
			n = len(part) / int(fixed[i])
		} else {
			part = all[i].bytes()
		}
		if len(part) > maxSection {
			return nil, errors.New("build the catalog: too much for one segment")
		}
		le.PutUint32(head[segSections+8*i:], uint32(len(part)))
		le.PutUint32(head[segSections+8*i+4:], uint32(n))
		for at := 0; at < len(part); at += pageSize {
			head = le.AppendUint32(head, crc32.ChecksumIEEE(part[at:min(at+pageSize, len(part))]))
		}
		body = append(body, part...)
		all[i] = section{}
	}
	le.PutUint32(head[segDocs:], uint32(len(b.docs)))
	le.PutUint32(head[segIndexed:], uint32(indexed))
	le.PutUint64(head[segLength:], length)
	le.PutUint64(head[segGrams:], grams)
	le.PutUint64(head[segSize:], uint64(len(head)+len(body)))
	le.PutUint32(head, crc32.ChecksumIEEE(head[4:]))
	return append(head, body...), nil
}
