package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/reverie-memory/reverie/internal/file"
)

// State identifies the inputs of a catalog.
type State struct {
	Trees    [2]string // all documents are files of these
	Analysis string    // made the terms
	Key      string    // state whose documents are all indexed, or ""
	Notes    []string  // on Key
	Purged   string    // names the purges whose text is removed from the file
}

// Catalog holds the documents at one State. It does not change, and many goroutines may use it.
type Catalog struct {
	State
	Segments []*Segment

	path    string
	file    *handle // nil: in memory only
	head    [headerSize]byte
	end     int64 // of the data that the header names
	foreign bool  // the file holds something else
	unkept  error
}

// handle is an open file that several catalogs read.
type handle struct {
	*os.File
	info os.FileInfo
	refs atomic.Int32
}

func (h *handle) share() *handle {
	if h != nil {
		h.refs.Add(1)
	}
	return h
}

func (h *handle) close() {
	if h != nil && h.refs.Add(-1) == 0 {
		h.File.Close()
	}
}

// saved is the file's form of the state.
type saved struct {
	State
	Segments []place
}

type place struct {
	At, Size int64
	Dead     []byte // a bit for each removed document
}

// File is the file of a catalog. Data read elsewhere after Open may be stored in it: if a purge
// removes the file in between, nothing is written.
type File struct {
	path   string
	file   *handle // nil: in memory only
	unkept error
}

// Open opens a file, or makes an empty one. It never fails: without a usable path the catalog is in
// memory only.
func Open(path string) *File {
	f := &File{path: path}
	if path == "" {
		return f
	}
	opened, err := open(path)
	if err != nil {
		f.unkept = fmt.Errorf("keep the catalog: %w", err)
		return f
	}
	f.file = opened
	f.file.refs.Store(1)
	return f
}

func open(path string) (*handle, error) {
	dir, err := os.Lstat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if !dir.IsDir() {
		return nil, fmt.Errorf("%s: a link, which leads to files of others", filepath.Dir(path))
	}
	f, err := file.Open(path, os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		g, also := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
		if also != nil {
			return nil, err
		}
		f = g
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &handle{File: f, info: info}, nil
}

// Close releases the file. Catalogs read from it stay open.
func (f *File) Close() { f.file.close() }

// Read returns the catalog that the file holds. A missing, foreign or damaged one is empty.
func (f *File) Read() *Catalog {
	c := &Catalog{path: f.path, file: f.file.share(), end: headerSize, unkept: f.unkept}
	for tries := 3; c.file != nil && tries > 0 && !c.read(); tries-- { // a writer may be at the header
		c.foreign = tries == 1
	}
	return c
}

// read reads the state of the file. It is false if the header does not fit the state.
func (c *Catalog) read() bool {
	c.head = [headerSize]byte{}
	if n, err := c.file.ReadAt(c.head[:], 0); err != nil || string(c.head[:len(magic)]) != magic {
		return n == 0
	}
	at, size := int64(le.Uint64(c.head[16:])), int64(le.Uint32(c.head[24:]))
	info, err := c.file.Stat()
	if err != nil || at < headerSize || at > info.Size() || size > info.Size()-at {
		return false
	}
	state := make([]byte, size)
	if _, err := c.file.ReadAt(state, at); err != nil || sum(c.head, state) != le.Uint32(c.head[28:]) {
		return false
	}
	var s saved
	if json.Unmarshal(state, &s) != nil {
		return false
	}
	var all []*Segment
	for _, p := range s.Segments {
		if p.At < headerSize || p.Size < 0 || p.At > at || p.Size > at-p.At {
			return false
		}
		segment, ok := openSegment(c.file.File, p.At, p.Size, nil)
		if !ok || len(p.Dead) > (segment.docs+7)/8 {
			return false
		}
		for i := range 8 * len(p.Dead) {
			if p.Dead[i/8]>>(i%8)&1 == 1 && i < segment.docs {
				segment.Remove(i)
			}
		}
		all = append(all, segment)
	}
	c.State, c.Segments, c.end = s.State, all, at+size
	return c.Err() == nil
}

func sum(head [headerSize]byte, state []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(head[16:28]), crc32.IEEETable, state)
}

// Err returns ErrCorrupt if damaged data was read. Check it after the last answer, which is invalid
// with an error. A Change of such a catalog begins from nothing.
func (c *Catalog) Err() error {
	for _, s := range c.Segments {
		if err := s.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Unkept returns the reason that a catalog is in memory only. It is nil if another writer was
// faster: the next reader has that one's result.
func (c *Catalog) Unkept() error { return c.unkept }

// InMemory returns the catalog without its file: no Change of it is written. Close both.
func (c *Catalog) InMemory() *Catalog {
	y := c.with(c.State)
	y.Segments, y.path = c.shared(), ""
	return y
}

func (c *Catalog) with(to State) *Catalog {
	return &Catalog{State: to, path: c.path, file: c.file.share(), head: c.head, end: c.end, foreign: c.foreign, unkept: c.unkept}
}

func (c *Catalog) shared() (all []*Segment) {
	for _, s := range c.Segments {
		all = append(all, s.share())
	}
	return all
}

// Close releases the file. Only texts returned before stay valid.
func (c *Catalog) Close() {
	c.file.close()
	c.file, c.Segments = nil, nil
}

// keep appends what the file lacks. If whole is true, or too much of the file is dead, it replaces
// it.
func (c *Catalog) keep(whole bool) (*Catalog, error) {
	w, err := file.Open(c.path, os.O_RDWR|file.NoFollow, 0)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer w.Close() // gives the lock back
	if locked, err := file.Lock(w, false); err != nil || !locked {
		return c, err
	}
	var head [headerSize]byte
	if n, err := w.ReadAt(head[:], 0); err != nil && !(err == io.EOF && n < headerSize) {
		return c, err
	}
	if info, err := w.Stat(); err != nil || !os.SameFile(info, c.file.info) || head != c.head {
		return c, err
	}
	live, end := int64(0), c.end
	for _, s := range c.Segments {
		live += s.size
		if s.at == 0 {
			end += s.size
		}
	}
	if whole || c.foreign || end > live+live/2+1<<18 {
		return c.replace()
	}
	if err := c.write(w, c.end); err != nil {
		w.Truncate(c.end)
		c.path = ""
		return c, err
	}
	return c, nil
}

// write writes the missing segments at an offset, then the state, and last the header.
func (c *Catalog) write(w *os.File, at int64) error {
	var out bytes.Buffer
	s := saved{State: c.State}
	for _, x := range c.Segments {
		if x.at == 0 {
			x.at = at + int64(out.Len())
			out.Write(x.made)
		}
		p := place{At: x.at, Size: x.size}
		if x.gone > 0 {
			p.Dead = make([]byte, (x.docs+7)/8)
			for i := range x.docs {
				if !x.Live(i) {
					p.Dead[i/8] |= 1 << (i % 8)
				}
			}
		}
		s.Segments = append(s.Segments, p)
	}
	state, err := json.Marshal(s)
	if err != nil {
		return err
	}
	copy(c.head[:], magic)
	le.PutUint64(c.head[16:], uint64(at)+uint64(out.Len()))
	le.PutUint32(c.head[24:], uint32(len(state)))
	le.PutUint32(c.head[28:], sum(c.head, state))
	out.Write(state)
	if _, err = w.WriteAt(out.Bytes(), at); err == nil {
		_, err = w.WriteAt(c.head[:], 0)
	}
	c.end = at + int64(out.Len())
	return err
}

// replace writes the catalog to a new file, and opens that. The caller holds the lock of the old
// one.
func (c *Catalog) replace() (*Catalog, error) {
	next := &Catalog{State: c.State, path: c.path}
	for _, s := range c.Segments {
		data, ok := s.whole()
		if !ok {
			return c, ErrCorrupt
		}
		other, _ := openSegment(nil, 0, 0, data)
		other.dead, other.gone, other.lost, other.totals = s.dead, s.gone, s.lost, s.totals
		next.Segments = append(next.Segments, other)
	}
	temp, err := os.CreateTemp(filepath.Dir(c.path), filepath.Base(c.path)+"-*")
	if err != nil {
		return c, err
	}
	defer os.Remove(temp.Name())
	err = next.write(temp, headerSize)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), c.path)
	}
	if err != nil {
		return c, err
	}
	f := Open(c.path)
	defer f.Close()
	if y := f.Read(); y.head == next.head {
		c.Close()
		return y, nil
	}
	c.path = "" // another was faster
	return c, nil
}

// Drop removes a catalog. Processes that have it open no longer write to it.
func Drop(path string) error {
	for {
		f, err := file.Open(path, os.O_RDWR|file.NoFollow, 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if errors.Is(err, file.ErrNotRegular) { // a link; a foreign folder stays
			return os.Remove(path)
		}
		if err != nil {
			return err
		}
		if _, err = file.Lock(f, true); err != nil {
			f.Close()
			return err
		}
		mine, err := f.Stat()
		now, err2 := os.Lstat(path)
		if same := err == nil && err2 == nil && os.SameFile(mine, now); !same { // it was replaced
			f.Close()
			continue
		}
		if err = os.Remove(path); err != nil { // another process has it open, on Windows
			err = f.Truncate(0)
		}
		f.Close()
		return err
	}
}

// Again returns the catalog as its file has it now. Close both.
func (c *Catalog) Again() *Catalog {
	f := File{c.path, c.file, c.unkept}
	return f.Read()
}

// Share returns the same catalog for another owner. Close both.
func (c *Catalog) Share() *Catalog {
	y := c.with(c.State)
	y.Segments = c.shared()
	return y
}

// Kept reports whether a Change will be written to a file, as far as is known.
func (c *Catalog) Kept() bool { return c.path != "" && c.file != nil }
