package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Snapshot is one state of a database: its file, overlaid with the pages of the transactions in the
// log.
//
// It is read without locks. Two events invalidate it, and stands checks for both. If the log
// restarts, its header changes before any frame. If a checkpoint copies frames younger than the
// snapshot into the file, it first records its target in the -shm file. Copying the snapshot's own
// frames is harmless: their pages are read from the log.
type Snapshot struct {
	path string
	file *os.File
	was  os.FileInfo // of file, at the beginning
	size int         // of a page
	use  int         // of its bytes that are used

	count  int // no tree has more pages
	visits int // of pages, in one walk

	log    *os.File // the -wal; nil without frames
	head   [logHead]byte
	frames map[uint32]int64 // page → offset of its newest content in log
	last   uint32           // number of the last frame of a finished transaction

	index   *os.File // the -shm; nil if no process keeps one for this log
	pages   map[uint32][]byte
	objects []object
}

// errChanging means that the files changed while they were being opened.
var errChanging = errors.New("changing")

const (
	fileHead  = 100
	logHead   = 32
	frameHead = 24
	maxPages  = 2048 // held at once
	settled   = 50 * time.Millisecond
)

func open(path string) (_ *Snapshot, err error) {
	s := &Snapshot{path: path, pages: map[uint32][]byte{}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.file, err = os.Open(path); err != nil {
		return nil, err
	}
	if s.was, err = s.file.Stat(); err != nil {
		return nil, err
	}
	if !s.was.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, ErrNotDatabase)
	}
	var head [fileHead]byte
	if n, err := s.file.ReadAt(head[:], 0); n < fileHead {
		if err != nil && err != io.EOF {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, ErrNotDatabase)
	}
	s.size = int(binary.BigEndian.Uint16(head[16:]))
	if s.size == 1 {
		s.size = 64 << 10
	}
	s.use = s.size - int(head[20])
	if !bytes.HasPrefix(head[:], []byte("SQLite format 3\x00")) || s.size < 512 || s.size&(s.size-1) != 0 || s.use < 480 ||
		binary.BigEndian.Uint32(head[56:]) > 1 {
		return nil, fmt.Errorf("%s: %w", path, ErrNotDatabase)
	}
	switch head[19] {
	case 1:
		if s.journaled() {
			return nil, errChanging
		}
	case 2:
		if err := s.openLog(); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("%s: read version %d: %w", path, head[19], ErrUnknown)
	}
	s.count = int(s.was.Size())/s.size + len(s.frames) + 1
	if s.index == nil && time.Since(s.was.ModTime()).Abs() < settled {
		return nil, errChanging // a later change could have the same modification time
	}
	return s, nil
}

func (s *Snapshot) close() {
	for _, f := range []*os.File{s.file, s.log, s.index} {
		if f != nil {
			f.Close()
		}
	}
}

// journaled reports an active or interrupted transaction in a database without a log.
func (s *Snapshot) journaled() bool {
	info, err := os.Stat(s.path + "-journal")
	return err == nil && info.Size() > 0
}

// openLog reads the log and finds the newest content of each page in it.
func (s *Snapshot) openLog() error {
	var err error
	if s.log, err = optional(s.path + "-wal"); s.log == nil {
		return err
	}
	if n, _ := s.log.ReadAt(s.head[:], 0); n < logHead {
		s.log.Close()
		s.log = nil
		return nil
	}
	if s.index, err = optional(s.path + "-shm"); err != nil {
		return err
	}
	if s.index != nil && s.stale() {
		s.index.Close()
		s.index = nil
	}
	return s.readLog()
}

// optional opens a file that may be missing.
func optional(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// Offsets in the -shm of the fields that we read; the library owns the rest.
const (
	indexSalts     = 32  // of its log, eight bytes
	indexAttempted = 128 // the last frame that a checkpoint of this log intended to copy
	indexHead      = 136
)

// stale reports whether the -shm is about an earlier log, and thus unused since.
func (s *Snapshot) stale() bool {
	var b [indexHead]byte
	n, _ := s.index.ReadAt(b[:], 0)
	return n < indexHead || !bytes.Equal(b[indexSalts:indexSalts+8], s.head[16:24])
}

func (s *Snapshot) readLog() error {
	magic := binary.BigEndian.Uint32(s.head[:])
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	size := int(binary.BigEndian.Uint32(s.head[8:]))
	sum := checksum{order: order}
	sum.add(s.head[:24])
	if magic&^1 != 0x377f0682 || size != s.size || !sum.is(s.head[24:]) {
		return nil // the library takes such a log for empty, too
	}
	if v := binary.BigEndian.Uint32(s.head[4:]); v != 3007000 {
		return fmt.Errorf("%s-wal: version %d: %w", s.path, v, ErrUnknown)
	}
	s.frames = map[uint32]int64{}
	open := map[uint32]int64{} // of an unfinished transaction
	frame := make([]byte, frameHead+s.size)
	r := io.NewSectionReader(s.log, logHead, 1<<62)
	for n := uint32(1); ; n++ {
		if _, err := io.ReadFull(r, frame); err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("read %s-wal: %w", s.path, err)
		}
		if !bytes.Equal(frame[8:16], s.head[16:24]) {
			return nil // left from an earlier log
		}
		sum.add(frame[:8])
		sum.add(frame[frameHead:])
		if !sum.is(frame[16:]) {
			return nil
		}
		open[binary.BigEndian.Uint32(frame)] = logHead + int64(n-1)*int64(len(frame)) + frameHead
		if binary.BigEndian.Uint32(frame[4:]) > 0 {
			for page, at := range open {
				s.frames[page] = at
			}
			clear(open)
			s.last = n
		}
	}
}

// checksum is the running checksum of a log.
type checksum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (c *checksum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		c.a += c.order.Uint32(data) + c.b
		c.b += c.order.Uint32(data[4:]) + c.a
	}
}

func (c *checksum) is(data []byte) bool {
	return binary.BigEndian.Uint32(data) == c.a && binary.BigEndian.Uint32(data[4:]) == c.b
}

// stands reports whether everything read so far belongs to one state.
func (s *Snapshot) stands() bool {
	if s.log == nil {
		info, err := os.Stat(s.path + "-wal")
		return (err != nil || info.Size() == 0) && !s.journaled() && s.untouched()
	}
	var head [logHead]byte
	if n, _ := s.log.ReadAt(head[:], 0); n < logHead || head != s.head || !same(s.log, s.path+"-wal") {
		return false
	}
	if s.index == nil {
		return s.untouched()
	}
	var b [indexHead]byte
	if n, _ := s.index.ReadAt(b[:], 0); n < indexHead || !same(s.index, s.path+"-shm") {
		return false
	}
	return bytes.Equal(b[indexSalts:indexSalts+8], s.head[16:24]) && binary.NativeEndian.Uint32(b[indexAttempted:]) <= s.last
}

// untouched reports whether the file is unchanged.
func (s *Snapshot) untouched() bool {
	info, err := os.Stat(s.path)
	return err == nil && os.SameFile(info, s.was) && info.Size() == s.was.Size() && info.ModTime().Equal(s.was.ModTime())
}

// same reports whether an open file is still the one at path.
func same(f *os.File, path string) bool {
	a, err := f.Stat()
	b, err2 := os.Stat(path)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// page returns the content of a page, which the caller must not change.
func (s *Snapshot) page(n uint32) ([]byte, error) {
	if p := s.pages[n]; p != nil {
		return p, nil
	}
	if n == 0 {
		return nil, s.damaged("page 0 is named")
	}
	p := make([]byte, s.size)
	from, at := s.file, int64(n-1)*int64(s.size)
	if in, ok := s.frames[n]; ok {
		from, at = s.log, in
	}
	if got, err := from.ReadAt(p, at); got < len(p) {
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read %s: %w", s.path, err)
		}
		return nil, s.damaged("page %d is not there", n)
	}
	if len(s.pages) >= maxPages {
		clear(s.pages)
	}
	s.pages[n] = p
	return p, nil
}

func (s *Snapshot) damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", s.path, ErrDamaged, fmt.Sprintf(format, args...))
}
