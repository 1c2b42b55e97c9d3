package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/file"
)

// The cache is one file with every parsed memory, keyed by the ids of the two trees it was
// made from. It may be deleted at any time; one that is foreign, torn, of another version or
// of other trees is made again, from what is unchanged in it where that can be told.
//
// Layout: magic; the lengths of the table and of the index, eight bytes each; the table, of which
// table.go tells; its CRC-32 (IEEE); the index, which is length-prefixed strings
// and varints in the order of encoder.shelf, twice; its CRC-32; the bodies, each with a
// CRC-32 in the index. Numbers of fixed size are little-endian. The bodies are most of the file,
// and are only read by who asks for a memory.

// cacheMagic changes with the layout and with anything that parsing makes of a file.
const cacheMagic = "reverie cache 3\n"

// entry is one file under MemoryDir as the cache keeps it.
type entry struct {
	path    string
	blob    gitstore.ID
	print   Fingerprint // of the memory's statement
	retired bool
	bad     *FormatError
	body    body
}

// What an entry of the index is.
const (
	isLive = iota
	isBad
	isRetired
)

// id is the memory's id, which its path tells.
func (e *entry) id() string { return e.path[len(MemoryDir)+4:][:16] }

// memory unpacks the memory; ok is false if the cache file lost it.
func (e *entry) memory() (m Memory, ok bool) {
	packed, ok := e.body.packed()
	d := decoder{rest: packed}
	d.memory(&m)
	return m, ok && !d.torn && d.rest == ""
}

// pack makes the entry of a memory that was read from its file.
func (e *entry) pack(m Memory) {
	var enc encoder
	enc.memory(m)
	e.body, e.print, e.retired = body{text: enc.String()}, Print(m.Text), m.Status == Retired
}

// body is a packed memory: at hand, or in a cache file.
type body struct {
	text   string
	file   *bodies // nil when text is at hand
	at, to uint64  // in file
	sum    uint32
}

func (b body) packed() (text string, ok bool) {
	if b.file == nil {
		return b.text, true
	}
	text, ok = b.file.read(b.at, b.to)
	return text, ok && checksum(text) == b.sum
}

// bodies is the last part of an open cache file.
type bodies struct {
	file *os.File
	at   int64 // where they begin
	asks atomic.Int32
	once sync.Once
	all  string
}

// fewAsks is how many bodies are read one by one before all are read at once: most writers want one, most
// readers want all.
const fewAsks = 8

func (b *bodies) read(from, to uint64) (string, bool) {
	if b.asks.Add(1) <= fewAsks && from <= to && to-from <= 2*MaxMemory {
		data := make([]byte, to-from)
		_, err := b.file.ReadAt(data, b.at+int64(from))
		return view(data), err == nil
	}
	b.once.Do(func() {
		if info, err := b.file.Stat(); err == nil && info.Size() > b.at {
			data := make([]byte, info.Size()-b.at)
			if _, err := b.file.ReadAt(data, b.at); err == nil {
				b.all = view(data)
			}
		}
	})
	if from > to || to > uint64(len(b.all)) {
		return "", false
	}
	return b.all[from:to], true
}

// view is data as a string, without a copy: nobody may write to data after.
func view(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

func checksum(text string) uint32 {
	return crc32.ChecksumIEEE(unsafe.Slice(unsafe.StringData(text), len(text)))
}

// shelf is the entries of one tree, sorted by path.
type shelf struct {
	tree    gitstore.ID // "" when the ref does not exist
	entries []entry
	damage  gitstore.Damage // what could not be read; such a shelf is not cached
}

// cached is what the file holds: the branch's shelf and the journal's.
type cached struct {
	shelves [2]shelf
	bodies  *bodies // may be nil
}

func (c cached) close() {
	if c.bodies != nil {
		c.bodies.file.Close()
	}
}

// readCache opens the cache; what cannot be read is as good as empty. The caller closes it when
// no memory of it will be asked for any more.
func readCache(path string) cached {
	f, err := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return cached{}
	}
	c, ok := readIndex(f)
	if !ok {
		f.Close()
		return cached{}
	}
	return c
}

func readIndex(f *os.File) (c cached, ok bool) {
	table, size, err := readSizes(f)
	if err != nil {
		return cached{}, false
	}
	index := make([]byte, size+4)
	if _, err := f.ReadAt(index, bodiesAt(table, size)-int64(len(index))); err != nil {
		return cached{}, false
	}
	text := view(index[:size])
	if checksum(text) != binary.LittleEndian.Uint32(index[size:]) {
		return cached{}, false
	}
	c.bodies = &bodies{file: f, at: bodiesAt(table, size)}
	d := decoder{rest: text, bodies: c.bodies}
	for i := range c.shelves {
		c.shelves[i] = d.shelf()
	}
	return c, !d.torn && d.rest == ""
}

// readSizes reads the beginning of the file: how long the table and the index are.
func readSizes(f *os.File) (table, index uint64, err error) {
	head := make([]byte, len(cacheMagic)+16)
	if _, err := io.ReadFull(f, head); err != nil {
		return 0, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	magic, sizes := string(head[:len(cacheMagic)]), head[len(cacheMagic):]
	table, index = binary.LittleEndian.Uint64(sizes), binary.LittleEndian.Uint64(sizes[8:])
	if all := uint64(info.Size()); magic != cacheMagic || table > all || index > all {
		return 0, 0, errors.New("this is no cache")
	}
	return table, index, nil
}

// bodiesAt is where the bodies begin in the file.
func bodiesAt(table, index uint64) int64 {
	return int64(len(cacheMagic)) + 16 + int64(table) + 4 + int64(index) + 4
}

// writeCache replaces the file. A failure costs the next reader a rebuild and nothing else.
func writeCache(path string, c cached) error {
	var table, index, all encoder
	for _, s := range c.shelves {
		var rows encoder
		if err := index.shelf(s, &rows, &all); err != nil {
			return err
		}
		table.tableShelf(s, rows.Bytes())
	}
	var out bytes.Buffer
	out.WriteString(cacheMagic)
	out.Write(binary.LittleEndian.AppendUint64(nil, uint64(table.Len())))
	out.Write(binary.LittleEndian.AppendUint64(nil, uint64(index.Len())))
	out.Write(table.Bytes())
	out.Write(binary.LittleEndian.AppendUint32(nil, checksum(view(table.Bytes()))))
	out.Write(index.Bytes())
	out.Write(binary.LittleEndian.AppendUint32(nil, checksum(view(index.Bytes()))))
	out.Write(all.Bytes())
	if info, err := os.Lstat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return errors.Join(err, errors.New("the state folder is a link")) // to files that are not ours
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(out.Bytes())
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
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

// shelf writes a shelf, the rows of its memories, and they to all.
func (e *encoder) shelf(s shelf, rows, all *encoder) error {
	e.str(string(s.tree))
	e.num(uint64(len(s.entries)))
	for i := range s.entries {
		x := &s.entries[i]
		e.str(x.path)
		e.str(string(x.blob))
		if x.bad != nil {
			e.num(isBad)
			e.num(uint64(x.bad.Line))
			e.str(x.bad.Field)
			e.str(x.bad.Reason)
			continue
		}
		packed, ok := x.body.packed()
		if !ok {
			return fmt.Errorf("the cache lost %s", x.path)
		}
		if x.retired {
			e.num(isRetired)
		} else {
			e.num(isLive)
		}
		e.str(x.print.words)
		e.str(x.print.pairs)
		e.str(x.print.turns)
		sum := checksum(packed)
		rows.row(x, all.Len(), len(packed), sum)
		e.num(uint64(all.Len()))
		e.num(uint64(len(packed)))
		e.num(uint64(sum))
		all.WriteString(packed)
	}
	return nil
}

func (e *encoder) memory(m Memory) {
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
}

// decoder takes apart what encoder wrote. Its strings share the file's memory.
type decoder struct {
	rest   string
	torn   bool
	bodies *bodies // that entries point to
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

// count reads the length of a list whose items take at least size bytes each.
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

func (d *decoder) shelf() shelf {
	s := shelf{tree: gitstore.ID(d.str())}
	n := d.count(3)
	s.entries = make([]entry, n)
	for i := range s.entries {
		x := &s.entries[i]
		x.path, x.blob = d.str(), gitstore.ID(d.str())
		switch d.num() {
		case isBad:
			x.bad = &FormatError{Path: x.path, Line: int(d.num()), Field: d.str(), Reason: d.str()}
			continue
		case isRetired:
			x.retired = true
		}
		x.print = Fingerprint{d.str(), d.str(), d.str()}
		x.body = body{file: d.bodies, at: d.num()}
		x.body.to, x.body.sum = x.body.at+d.num(), uint32(d.num())
		if len(x.path) < len(MemoryDir)+4+16 || (len(x.print.words)|len(x.print.pairs))%4 != 0 {
			d.torn = true
			return shelf{}
		}
	}
	return s
}

func (d *decoder) memory(m *Memory) {
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
}

// Pack is a memory in the form of the cache, for whoever keeps some beside it, and Unpack takes it apart again; ok is
// false for anything that Pack did not make. Whether a memory is private is not in it.
func Pack(m Memory) []byte {
	var e encoder
	e.memory(m)
	return e.Bytes()
}

// Unpack takes apart what Pack made. The memory shares data, which may not change after.
func Unpack(data []byte) (m Memory, ok bool) {
	d := decoder{rest: view(data)}
	d.memory(&m)
	return m, !d.torn && d.rest == ""
}
