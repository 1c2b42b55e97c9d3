package sqlite

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kinds of pages.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// maxDepth exceeds the depth of any tree that fits on a disk; maxPayload bounds a row, in bytes.
const (
	maxDepth   = 40
	maxPayload = 256 << 20
)

// node is a page of a tree.
type node struct {
	*Snapshot
	b     []byte
	kind  byte
	cells int
	at    int // where the pointers to cells begin
	right uint32
}

func (s *Snapshot) node(n uint32, kinds ...byte) (node, error) {
	b, err := s.page(n)
	if err != nil {
		return node{}, err
	}
	head := 0
	if n == 1 {
		head = fileHead
	}
	x := node{Snapshot: s, b: b[:s.use], kind: b[head], cells: int(binary.BigEndian.Uint16(b[head+3:])), at: head + 8}
	if x.kind == indexInterior || x.kind == tableInterior {
		x.right = binary.BigEndian.Uint32(b[head+8:])
		x.at += 4
	}
	if (x.kind != kinds[0] && x.kind != kinds[1]) || x.at+2*x.cells > len(x.b) {
		return node{}, s.damaged("page %d is not of the tree that names it", n)
	}
	return x, nil
}

// cell returns the content of cell i; for an interior page, without its left child.
func (x node) cell(i int) (rest []byte, left uint32, err error) {
	at := int(binary.BigEndian.Uint16(x.b[x.at+2*i:]))
	if at+4 > len(x.b) {
		return nil, 0, x.damaged("a cell lies outside of its page")
	}
	rest = x.b[at:]
	if x.kind == indexInterior || x.kind == tableInterior {
		return rest[4:], binary.BigEndian.Uint32(rest), nil
	}
	return rest, 0, nil
}

// varint reads a number; n is 0 if b ends before it.
func varint(b []byte) (v int64, n int) {
	var u uint64
	for i := 0; i < len(b) && i < 9; i++ {
		if i == 8 {
			return int64(u<<8 | uint64(b[i])), 9
		}
		u = u<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return int64(u), i + 1
		}
	}
	return 0, 0
}

// payload reads size bytes that begin in b and may continue in overflow pages. most is the largest
// payload that a page of this kind holds whole.
func (s *Snapshot) payload(b []byte, size int64, most int) ([]byte, error) {
	if size < 0 || size > maxPayload {
		return nil, s.damaged("a row of %d bytes", size)
	}
	here := int(size)
	if here > most {
		least := (s.use-12)*32/255 - 23
		if here = least + (int(size)-least)%(s.use-4); here > most {
			here = least
		}
	}
	if here == int(size) {
		if here > len(b) {
			return nil, s.damaged("a row goes over the end of its page")
		}
		return b[:here], nil
	}
	if here+4 > len(b) {
		return nil, s.damaged("a row goes over the end of its page")
	}
	out := append(make([]byte, 0, min(int(size), 1<<20)), b[:here]...)
	next := binary.BigEndian.Uint32(b[here:])
	for len(out) < int(size) {
		p, err := s.page(next)
		if err != nil {
			return nil, err
		}
		next = binary.BigEndian.Uint32(p)
		out = append(out, p[4:min(s.use, 4+int(size)-len(out))]...)
	}
	return out, nil
}

// visit returns a node of a tree that is walked as a whole. The caller sets visits to 0 first.
func (s *Snapshot) visit(n uint32, depth int, kinds ...byte) (node, error) {
	x, err := s.node(n, kinds...)
	if s.visits++; err == nil && (depth > maxDepth || s.visits > s.count) {
		err = s.damaged("a tree goes in circles")
	}
	return x, err
}

// walk calls fn for every row of the table tree at page n, in order of rowid.
func (s *Snapshot) walk(n uint32, depth int, fn func(rowid int64, payload []byte) error) error {
	x, err := s.visit(n, depth, tableLeaf, tableInterior)
	if err != nil {
		return err
	}
	for i := range x.cells {
		rest, left, err := x.cell(i)
		if err != nil {
			return err
		}
		if x.kind == tableInterior {
			err = s.walk(left, depth+1, fn)
		} else {
			var id int64
			var row []byte
			if id, row, err = x.row(rest, true); err == nil {
				err = fn(id, row)
			}
		}
		if err != nil {
			return err
		}
	}
	if x.kind == tableInterior {
		return s.walk(x.right, depth+1, fn)
	}
	return nil
}

// row parses a cell of a table's leaf, and reads its payload only if wanted.
func (x node) row(cell []byte, wanted bool) (id int64, payload []byte, err error) {
	size, n := varint(cell)
	id, m := varint(cell[n:])
	if n == 0 || m == 0 {
		return 0, nil, x.damaged("a cell is cut off")
	}
	if wanted {
		payload, err = x.payload(cell[n+m:], size, x.use-35)
	}
	return id, payload, err
}

// find returns the row with that rowid, or nil.
func (s *Snapshot) find(n uint32, rowid int64) ([]byte, error) {
	for range maxDepth {
		x, err := s.node(n, tableLeaf, tableInterior)
		if err != nil {
			return nil, err
		}
		next := x.right
		lo, hi := 0, x.cells
		for lo < hi { // the first cell whose key is not below rowid
			mid := (lo + hi) / 2
			rest, _, err := x.cell(mid)
			if err != nil {
				return nil, err
			}
			var key int64
			if x.kind == tableInterior {
				key, _ = varint(rest)
			} else if key, _, err = x.row(rest, false); err != nil {
				return nil, err
			}
			if key < rowid {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo < x.cells {
			rest, left, err := x.cell(lo)
			if err != nil {
				return nil, err
			}
			if x.kind == tableLeaf {
				key, row, err := x.row(rest, true)
				if err != nil || key != rowid {
					return nil, err
				}
				return row, nil
			}
			next = left
		}
		if x.kind == tableLeaf {
			return nil, nil
		}
		n = next
	}
	return nil, s.damaged("a tree goes in circles")
}

// equal calls fn with the rowid of every entry of the index tree at page n whose first column is
// key.
func (s *Snapshot) equal(n uint32, key string, depth int, fn func(rowid int64) error) error {
	x, err := s.visit(n, depth, indexLeaf, indexInterior)
	if err != nil {
		return err
	}
	for i := range x.cells {
		rest, left, err := x.cell(i)
		if err != nil {
			return err
		}
		size, n := varint(rest)
		if n == 0 {
			return s.damaged("a cell is cut off")
		}
		entry, err := s.payload(rest[n:], size, (s.use-12)*64/255-23)
		if err != nil {
			return err
		}
		values, err := record(entry)
		if err != nil || len(values) < 2 {
			return s.damaged("an entry of an index cannot be read")
		}
		order := values[0].compare(key)
		if order < 0 {
			continue
		}
		if x.kind == indexInterior {
			if err := s.equal(left, key, depth+1, fn); err != nil {
				return err
			}
		}
		if order > 0 {
			return nil
		}
		if err := fn(values[len(values)-1].Int()); err != nil {
			return err
		}
	}
	if x.kind == indexInterior {
		return s.equal(x.right, key, depth+1, fn)
	}
	return nil
}

// Value is the value of a column.
type Value struct {
	kind byte // n, i, f, t or b: null, integer, float, text, blob
	num  int64
	data []byte
}

// Text returns a text, or "" for another type.
func (v Value) Text() string {
	if v.kind != 't' {
		return ""
	}
	return string(v.data)
}

// Bytes returns the stored bytes of a text or a blob, valid until the end of Read.
func (v Value) Bytes() []byte { return v.data }

// Int returns an integer, or the whole part of a float, or 0 for another type.
func (v Value) Int() int64 {
	if v.kind == 'f' {
		return int64(math.Float64frombits(uint64(v.num)))
	}
	return v.num
}

// compare orders v against a text as an index does: null, numbers, texts, blobs.
func (v Value) compare(text string) int {
	switch {
	case v.kind == 'b':
		return 1
	case v.kind != 't':
		return -1
	case string(v.data) < text:
		return -1
	case string(v.data) > text:
		return 1
	}
	return 0
}

// record parses a row.
func record(b []byte) ([]Value, error) {
	size, n := varint(b)
	if n == 0 || size < int64(n) || size > int64(len(b)) {
		return nil, fmt.Errorf("%w: a row is cut off", ErrDamaged)
	}
	head, data := b[n:size], b[size:]
	var out []Value
	for len(head) > 0 {
		t, n := varint(head)
		if n == 0 || t < 0 {
			return nil, fmt.Errorf("%w: a row is cut off", ErrDamaged)
		}
		head = head[n:]
		v, width := Value{kind: 'i'}, int64(0)
		switch {
		case t == 0:
			v.kind = 'n'
		case t <= 4:
			width = t
		case t == 5:
			width = 6
		case t == 6:
			width = 8
		case t == 7:
			v.kind, width = 'f', 8
		case t == 8 || t == 9:
			v.num = t - 8
		case t < 12:
			return nil, fmt.Errorf("%w: type %d", ErrUnknown, t)
		case t%2 == 0:
			v.kind, width = 'b', (t-12)/2
		default:
			v.kind, width = 't', (t-13)/2
		}
		if width > int64(len(data)) {
			return nil, fmt.Errorf("%w: a row is cut off", ErrDamaged)
		}
		if t >= 12 {
			v.data = data[:width]
		} else if width > 0 {
			for i, c := range data[:width] {
				if i == 0 {
					v.num = int64(int8(c))
				} else {
					v.num = v.num<<8 | int64(c)
				}
			}
		}
		data = data[width:]
		out = append(out, v)
	}
	return out, nil
}
