package record

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/catalog"
)

// Flags of a document of the catalog.
const (
	isPrivate = 1 << iota // a file of the journal
	isRetired
	isBad
	IsGiven // an older version that agents get
)

// entry is one file under MemoryDir, from the catalog or just parsed.
type entry struct {
	key   string // in the catalog: see keyed. "" if it was parsed now
	flags uint8
	doc   int32
	in    *catalog.Segment
	from  *source
	file  *parsed // nil: not unpacked yet
}

// parsed is the decoded content of a file.
type parsed struct {
	path  string
	blob  gitstore.ID
	print Fingerprint // of the memory's statement
	bad   *FormatError
	body  string // the packed memory; "" if it is in the catalog
}

// source provides the trees from which entries are read if the catalog is damaged.
type source struct {
	trees [2]*gitstore.Tree
	all   map[string]*parsed // by key; nil: not read yet
	err   error
}

func (s *source) parsed(e *entry) *parsed {
	if s.all == nil {
		s.all = map[string]*parsed{}
		for i, tree := range s.trees {
			if tree == nil {
				continue
			}
			now, _, err := shelf{}.load(tree)
			if len(now.damage) > 0 {
				err = now.damage
			}
			s.err = cmp.Or(s.err, err)
			for j, key := range now.keyed(i == 1) {
				s.all[key] = now.entries[j].file
			}
		}
	}
	if p := s.all[e.key]; p != nil {
		return p
	}
	return &parsed{bad: &FormatError{Path: e.key, Reason: "the file is lost"}}
}

// get returns the decoded file.
func (e *entry) get() *parsed {
	if e.file != nil {
		return e.file
	}
	head, ok := e.in.Head(int(e.doc))
	d, p := decoder{rest: head}, &parsed{}
	p.path, p.blob = d.str(), gitstore.ID(e.in.Blob(int(e.doc)))
	if e.flags&isBad != 0 {
		p.bad = &FormatError{Path: p.path, Line: int(d.num()), Field: d.str(), Reason: d.str()}
	} else {
		p.print = Fingerprint{d.str(), d.str(), d.str()}
	}
	if !ok || d.torn || e.in.Err() != nil {
		p = e.from.parsed(e)
	}
	e.file = p
	return p
}

func (e *entry) path() string       { return e.get().path }
func (e *entry) blob() gitstore.ID  { return e.get().blob }
func (e *entry) print() Fingerprint { return e.get().print }
func (e *entry) is(flag uint8) bool { return e.flags&flag != 0 }

// id returns the memory's id, from its path.
func (e *entry) id() string {
	if e.key != "" && !e.is(isBad) {
		return e.key[:16]
	}
	return e.path()[len(MemoryDir)+4:][:16]
}

// mark holds one bit per word of a statement, and the number of words in the last byte.
func (e *entry) mark() uint64 {
	if e.file == nil {
		return e.in.Mark(int(e.doc))
	}
	return e.file.print.mark()
}

// packed returns the packed memory. ok is false if both catalog and git have lost it.
func (e *entry) packed() (body string, ok bool) {
	if e.file != nil && e.file.body != "" {
		return e.file.body, true
	}
	if e.in != nil {
		if body, ok = e.in.Body(int(e.doc)); !ok {
			body = e.from.parsed(e).body
		}
	}
	return body, body != ""
}

func (e *entry) memory() (m Memory, ok bool) {
	body, _ := e.packed()
	return Unpack(body)
}

// pack fills the entry from a parsed memory.
func (e *entry) pack(m Memory) {
	e.file.body, e.file.print = string(Pack(m)), Print(m.Text)
	if m.Status == Retired {
		e.flags |= isRetired
	}
}

// Document encodes a memory's file for the catalog, without its search terms.
func Document(path string, blob gitstore.ID, m Memory, private bool) catalog.Doc {
	e := entry{file: &parsed{path: path, blob: blob}}
	e.pack(m)
	s := shelf{entries: []entry{e}}
	d, _ := e.document(s.keyed(private)[0], private)
	return d
}

// document returns the entry in the catalog's form. ok is false if it was lost.
func (e *entry) document(key string, private bool) (d catalog.Doc, ok bool) {
	p := e.get()
	var head encoder
	head.str(p.path)
	d = catalog.Doc{Key: key, Blob: string(p.blob), Flags: e.flags}
	if private {
		d.Flags |= isPrivate
	}
	if p.bad != nil {
		head.num(uint64(p.bad.Line))
		head.str(p.bad.Field)
		head.str(p.bad.Reason)
		d.Flags |= isBad
	} else {
		head.str(p.print.words)
		head.str(p.print.row)
		head.str(p.print.turns)
		d.Mark = p.print.mark()
		body, ok := e.packed()
		if !ok {
			return d, false
		}
		d.Body = []byte(body)
	}
	d.Head = head.Bytes()
	return d, true
}

// mark returns one bit per word, and the number of words in the last byte. Two statements that
// differ in d words, counted both ways, differ in at most d bits.
func (f Fingerprint) mark() (mark uint64) {
	for at := 0; at+4 <= len(f.words); at += 4 {
		mark |= 256 << (binary.BigEndian.Uint32([]byte(f.words[at:at+4])) % 56)
	}
	return mark | uint64(min(len(f.words)/4, 255))
}

// mayShare reports whether the statements of two marks can share this part of their words. If |A∩B|
// is a share s of |A∪B|, at most (1-s)/(1+s) of the |A|+|B| words occur in only one: a third for a
// share of 0.5.
func mayShare(a, b uint64, share float64) bool {
	words := a&255 + b&255
	return a&255 == 255 || b&255 == 255 || float64(bits.OnesCount64(a>>8^b>>8)) <= ((1-share)/(1+share)+1e-9)*float64(words)
}

type encoder struct{ bytes.Buffer }

func (e *encoder) num(n uint64) { e.Write(binary.AppendUvarint(nil, n)) }
func (e *encoder) str(s string) { e.num(uint64(len(s))); e.WriteString(s) }
func (e *encoder) time(t time.Time) {
	if t.IsZero() {
		e.num(0)
		return
	}
	e.num(uint64(t.Unix()) + 1<<62)
}

func (e *encoder) strs(list []string) {
	e.num(uint64(len(list)))
	for _, s := range list {
		e.str(s)
	}
}

// decoder decodes the output of encoder. Its strings share memory with the input.
type decoder struct {
	rest string
	torn bool
}

func (d *decoder) num() uint64 {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		b := d.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.torn, d.rest = true, ""
	return 0
}

// count reads the length of a list whose items have at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.num()
	if n > uint64(len(d.rest)/size) {
		d.torn, d.rest = true, ""
		return 0
	}
	return int(n)
}

func (d *decoder) str() string {
	n := d.count(1)
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) time() time.Time {
	n := d.num()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(int64(n-1<<62), 0).UTC()
}

func (d *decoder) strs() []string {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.str()
	}
	return list
}

// Pack encodes a memory for the catalog, and Unpack decodes it. ok is false for any other input.
// The encoding does not hold whether a memory is private.
func Pack(m Memory) []byte {
	var e encoder
	for _, s := range []string{m.ID, m.Slug, string(m.Kind), string(m.Status), m.Text, m.Body, m.Source.By, m.Source.Commit, string(m.Source.How), m.Ref, m.Topic, m.Branch} {
		e.str(s)
	}
	e.time(m.Source.Time)
	e.time(m.Expires)
	for _, list := range [][]string{m.Paths, m.Tags, m.Supersedes, m.Anchors} {
		e.strs(list)
	}
	e.num(uint64(len(m.Variants)))
	for _, v := range m.Variants {
		e.str(v.Text)
		e.str(v.Body)
	}
	e.num(uint64(len(m.Extra)))
	for _, f := range m.Extra {
		e.str(f.Key)
		e.str(f.Value)
	}
	return e.Bytes()
}

// Unpack decodes the output of Pack. The memory's texts are substrings of packed.
func Unpack(packed string) (m Memory, ok bool) {
	d := decoder{rest: packed}
	m.ID, m.Slug = d.str(), d.str()
	m.Kind, m.Status = Kind(d.str()), Status(d.str())
	m.Text, m.Body = d.str(), d.str()
	m.Source.By, m.Source.Commit, m.Source.How = d.str(), d.str(), How(d.str())
	m.Ref, m.Topic, m.Branch = d.str(), d.str(), d.str()
	m.Source.Time, m.Expires = d.time(), d.time()
	m.Paths, m.Tags, m.Supersedes, m.Anchors = d.strs(), d.strs(), d.strs(), d.strs()
	for range d.count(2) {
		m.Variants = append(m.Variants, Variant{Text: d.str(), Body: d.str()})
	}
	for range d.count(2) {
		m.Extra = append(m.Extra, Field{Key: d.str(), Value: d.str()})
	}
	return m, !d.torn && d.rest == ""
}
