package vector

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"sort"
)

// A file of vectors derives from memories and a model, and may be deleted at any time. Foreign and
// torn parts, and those of another version or model, count as missing and are embedded again.
//
// Layout: magic; the dimension, four bytes; 16 random bytes, the file's birth; the model's name and
// digest, each after its length in two bytes; the CRC-32 (IEEE) of all that. Then rows of the same
// size, in the order of their first 40 bytes: the memory's id, eight bytes; the SHA-256 of the
// text; the scale, a float32; the numbers, a signed byte each; the CRC-32 of the row. The numbers
// times the scale are a vector of length 1. The row's CRC continues that of the header, so that a
// row of another file is invalid. Numbers are little-endian. A row with scale 0 records that the
// model has no vector for the text.
//
// A row is checked on use, so that opening a file does not depend on their number. A row of an
// outdated text is skipped.

// magic changes with the layout and with the embedded part of a memory.
const magic = "reverie vectors 2\n"

const (
	birthSize = 16 // bytes
	idSize    = 8
	keySize   = idSize + 32
	rowExtra  = keySize + 4 + 4 // bytes of a row besides its numbers
)

// key identifies a text of a memory: its id, and the SHA-256 of the text with the model's prefix.
type key [keySize]byte

func (k key) compare(other key) int { return bytes.Compare(k[:], other[:]) }

// text returns the key without the memory.
func (k key) text() textKey { return textKey(k[idSize:]) }

// value is a vector: numbers × scale has the length 1. The scale is 0 if there is no vector.
type value struct {
	scale   float32
	numbers []byte
}

// row is a row of the file.
type row []byte

func (r row) key() key        { return key(r) }
func (r row) id() string      { return hex.EncodeToString(r[:idSize]) }
func (r row) scale() float32  { return math.Float32frombits(binary.LittleEndian.Uint32(r[keySize:])) }
func (r row) numbers() []byte { return r[keySize+4 : len(r)-4] }
func (r row) value() value    { return value{r.scale(), r.numbers()} }

// content is the parsed content of a file.
type content struct {
	birth [birthSize]byte // zero: there is no file
	rows  []byte
	size  int    // of a row
	sum   uint32 // of the header
	whole bool   // nothing is behind the last row
}

func (c content) born() bool { return c.birth != [birthSize]byte{} }

func (c content) len() int {
	if c.size == 0 {
		return 0
	}
	return len(c.rows) / c.size
}

func (c content) row(i int) row { return row(c.rows[i*c.size : (i+1)*c.size : (i+1)*c.size]) }

// sound reports whether a row is intact.
func (c content) sound(r row) bool {
	return crc32.Update(c.sum, crc32.IEEETable, r[:len(r)-4]) == binary.LittleEndian.Uint32(r[len(r)-4:])
}

// all returns the intact rows by their keys. They share memory with the file.
func (c content) all() map[key]value {
	all := make(map[key]value, c.len())
	for i := range c.len() {
		if r := c.row(i); c.sound(r) {
			all[r.key()] = r.value()
		}
	}
	return all
}

// find returns the intact row with a key.
func (c content) find(k key) (row, bool) {
	i := sort.Search(c.len(), func(i int) bool { return bytes.Compare(c.row(i)[:keySize], k[:]) >= 0 })
	if i == c.len() || c.row(i).key() != k || !c.sound(c.row(i)) {
		return nil, false
	}
	return c.row(i), true
}

// capacity returns the maximum number of rows in a file of the space.
func (s Space) capacity() int { return min(maxRows, (maxFile-4*maxName)/(rowExtra+s.Dim)) }

// header returns the beginning of a file, and its checksum.
func (s Space) header(birth [birthSize]byte) (text []byte, sum uint32) {
	b := append([]byte(magic), binary.LittleEndian.AppendUint32(nil, uint32(s.Dim))...)
	b = append(b, birth[:]...)
	for _, name := range []string{s.Name, s.Digest} {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
	}
	sum = crc32.ChecksumIEEE(b)
	return binary.LittleEndian.AppendUint32(b, sum), sum
}

func (s Space) parse(data []byte) content {
	const at = len(magic) + 4
	if len(data) < at+birthSize {
		return content{}
	}
	birth := [birthSize]byte(data[at:])
	head, sum := s.header(birth)
	if !bytes.HasPrefix(data, head) || birth == [birthSize]byte{} {
		return content{}
	}
	data = data[len(head):]
	size := rowExtra + s.Dim
	return content{birth, data, size, sum, len(data)%size == 0}
}

// format returns a file with these rows.
func (s Space) format(birth [birthSize]byte, rows map[key]value) []byte {
	out, sum := s.header(birth)
	out = slices.Grow(out, len(rows)*(rowExtra+s.Dim))
	for _, k := range slices.SortedFunc(maps.Keys(rows), key.compare) {
		from := len(out)
		out = append(out, k[:]...)
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(rows[k].scale))
		out = append(out, rows[k].numbers...)
		out = binary.LittleEndian.AppendUint32(out, crc32.Update(sum, crc32.IEEETable, out[from:]))
	}
	return out
}
