// Package vector keeps what a model makes of memories, and finds those that are alike. Make and Fill embed memories
// into a file of the model's own, Read and Nearest compare with it.
//
// Everything here is derived and may be deleted at any time. Several processes may fill one folder while others read; a
// Store itself is for one goroutine at a time.
package vector

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
)

// A file of vectors is derived from memories and a model, and may be deleted at any time. What in it is foreign, torn,
// of another version or of another model counts as not there, and is embedded again.
//
// Layout: magic; the dimension, four bytes; 16 bytes of chance, the file's birth; the model's name and digest, each
// behind its length in two bytes; the CRC-32 (IEEE) of all that. Then rows of the same size: the SHA-256 of the text;
// the scale, a float32; the numbers, a signed byte each, which times the scale are a vector of length 1; the CRC-32 of
// the row, begun with that of the header, so that a row of another file is none. Numbers are little-endian. A row with
// scale 0 says that the model has no vector for the text.
//
// Writers take the lock beside it, and put a whole file in the place of the old one; readers take no lock. A birth ends
// when the file goes: who has read memories before a purge can then not bring back what is derived from them.

// magic changes with the layout, and with what of a memory is embedded.
const magic = "reverie vectors 1\n"

const (
	maxRows     = 50_000
	maxFile     = 64 << 20            // bytes: fewer vectors, where they are long
	maxName     = 500                 // bytes of a model's name, and of its digest
	maxFiles    = 4                   // spaces that are kept
	maxAge      = 30 * 24 * time.Hour // that the file of a space which nothing was written for is kept
	lockName    = "lock"              // no file of vectors has that name
	birthSize   = 16                  // bytes
	rowOverhead = len(key{}) + 4 + 4  // bytes of a row beside its numbers
	saveWait    = 5 * time.Second     // that what was embedded may take to be kept, when everything else has ended
)

var (
	// ErrDropped is returned when the vectors were dropped since they were opened: nothing may be added to them.
	ErrDropped = errors.New("the vectors were dropped meanwhile")

	errSpace = errors.New("not a space of vectors")
)

// Store is the vectors of texts in one space. They are read once, by Read or Make, and do not see what
// other processes add. A nil *Store has none. They may be used by one goroutine at a time.
type Store struct {
	dir   string
	space Space
	room  int // rows that the file may have
	file  content
}

// content is the content of a file.
type content struct {
	birth [birthSize]byte // zero: there is no file
	rows  map[key]row
	whole bool // every byte of the file was understood
}

func (f content) born() bool { return f.birth != [birthSize]byte{} }

// row is scale and numbers.
type row struct {
	scale   float32
	numbers []byte
}

// Read reads the vectors of a space in a folder. It writes nothing. Where there are none, or the file is not
// whole, there are fewer: it never fails.
func Read(dir string, s Space) *Store {
	v := &Store{dir: dir, space: s, room: s.capacity()}
	v.file = v.read()
	return v
}

// Make is Read where something is to be added: a file is begun where there is none. The folder has to be
// there. To be safe beside a purge it has to be called before the memories are read that Fill is then given.
func Make(ctx context.Context, dir string, s Space) (*Store, error) {
	if !s.valid() {
		return nil, fmt.Errorf("vectors of %q, %d numbers: %w", s.Name, s.Dim, errSpace)
	}
	v := Read(dir, s)
	if v.file.born() {
		return v, nil
	}
	unlock, err := file.LockPath(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	defer unlock()
	if v.file = v.read(); v.file.born() {
		return v, nil
	}
	begun := content{rows: map[key]row{}, whole: true}
	rand.Read(begun.birth[:])
	return v, v.write(begun, nil)
}

// Drop removes the vectors of all spaces in a folder, and has everybody who has opened them add nothing.
func Drop(ctx context.Context, dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return os.Remove(dir) // a link to what is not ours
	}
	if err != nil {
		return fmt.Errorf("drop vectors: %w", err)
	}
	unlock, err := file.LockPath(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return fmt.Errorf("drop vectors: %w", err)
	}
	defer unlock()
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("drop vectors: %w", err)
	}
	return nil
}

// Len is how many texts have a vector.
func (v *Store) Len() (n int) {
	if v == nil {
		return 0
	}
	for _, r := range v.file.rows {
		if r.scale > 0 {
			n++
		}
	}
	return n
}

func (v *Store) path() string { return filepath.Join(v.dir, v.space.file()) }

// capacity is how many rows a file of the space may have.
func (s Space) capacity() int { return min(maxRows, (maxFile-4*maxName)/(rowOverhead+s.Dim)) }

// header is the beginning of a file, and its checksum.
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

// read is what of the file can be believed.
func (v *Store) read() content {
	if info, err := os.Lstat(v.dir); err != nil || !info.IsDir() || !v.space.valid() {
		return content{}
	}
	data, err := file.Read(v.path(), maxFile)
	if err != nil {
		return content{}
	}
	return v.space.parse(data)
}

func (s Space) parse(data []byte) content {
	var f content
	const at = len(magic) + 4
	if len(data) < at+birthSize {
		return f
	}
	birth := [birthSize]byte(data[at:])
	head, sum := s.header(birth)
	if !bytes.HasPrefix(data, head) || birth == [birthSize]byte{} {
		return f
	}
	f.birth, data = birth, data[len(head):]
	size := rowOverhead + s.Dim
	f.rows, f.whole = make(map[key]row, len(data)/size), len(data)%size == 0
	for len(data) >= size {
		one := data[:size:size]
		data = data[size:]
		body, tail := one[:size-4], one[size-4:]
		r := row{math.Float32frombits(binary.LittleEndian.Uint32(body[len(key{}):])), body[len(key{})+4:]}
		if crc32.Update(sum, crc32.IEEETable, body) != binary.LittleEndian.Uint32(tail) {
			f.whole = false
			continue
		}
		f.rows[key(body)] = r
	}
	return f
}

// write puts a file in the place of the old one, with rows in the order of keys, and takes it for what v has. The caller
// holds the lock.
func (v *Store) write(f content, keys []key) error {
	out, sum := v.space.header(f.birth)
	out = slices.Grow(out, len(keys)*(rowOverhead+v.space.Dim))
	for _, k := range keys {
		r := f.rows[k]
		from := len(out)
		out = append(out, k[:]...)
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(r.scale))
		out = append(out, r.numbers...)
		out = binary.LittleEndian.AppendUint32(out, crc32.Update(sum, crc32.IEEETable, out[from:]))
	}
	if err := file.Replace(v.path(), out, 0o600, false); err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	v.file = f
	v.sweep()
	return nil
}

// save adds rows to the file. Of the others those stay that are wanted, and those that another process has added since
// v was read; all of them in the order of wanted, as far as there is room.
func (v *Store) save(ctx context.Context, wanted []key, fresh map[key]row) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWait)
	defer cancel()
	unlock, err := file.LockPath(ctx, filepath.Join(v.dir, lockName))
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	defer unlock()
	now := v.read()
	if !now.born() || now.birth != v.file.birth {
		return ErrDropped
	}
	next := content{birth: now.birth, rows: map[key]row{}, whole: true}
	var keys []key
	add := func(k key, from ...map[key]row) {
		for _, rows := range from {
			if r, ok := rows[k]; ok && len(keys) < v.room {
				keys = append(keys, k)
				next.rows[k] = r
				return
			}
		}
	}
	for _, k := range wanted {
		add(k, fresh, now.rows, v.file.rows)
	}
	var others []key
	for k := range now.rows {
		if _, had := v.file.rows[k]; !had && !next.has(k) {
			others = append(others, k)
		}
	}
	slices.SortFunc(others, func(a, b key) int { return bytes.Compare(a[:], b[:]) })
	for _, k := range others {
		add(k, now.rows)
	}
	if now.whole && len(next.rows) == len(now.rows) && !slices.ContainsFunc(keys, func(k key) bool { return !now.has(k) }) {
		v.file = now
		return nil
	}
	return v.write(next, keys)
}

func (f content) has(k key) bool {
	_, ok := f.rows[k]
	return ok
}

// sweep removes what no writer finished, and the files of other spaces that were not written for long, or are too many.
// The caller holds the lock.
func (v *Store) sweep() {
	type old struct {
		path string
		time time.Time
	}
	var spaces []old
	entries, _ := os.ReadDir(v.dir)
	for _, e := range entries {
		path := filepath.Join(v.dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil || e.Name() == lockName || e.Name() == v.space.file() || !info.Mode().IsRegular():
		case strings.HasPrefix(e.Name(), file.Temp):
			os.Remove(path)
		default:
			spaces = append(spaces, old{path, info.ModTime()})
		}
	}
	slices.SortFunc(spaces, func(a, b old) int { return b.time.Compare(a.time) })
	for i, s := range spaces {
		if i >= maxFiles-1 || time.Since(s.time) > maxAge {
			os.Remove(s.path)
		}
	}
}
