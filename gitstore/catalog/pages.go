package catalog

import (
	"bytes"
	"hash/crc32"
	"io"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
)

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
