// Package vector stores a model's vectors of memories and finds similar memories. Make and Fill
// embed memories into a file for the model; Read and Nearest compare with it.
//
// All files are derived and may be deleted at any time. Several processes may fill one folder while
// others read. A Store is for one goroutine at a time.
package vector

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
)

// Writers take the lock of the folder and replace the whole file; readers take no lock. A birth
// ends with its file, so a process that read memories before a purge cannot bring their vectors
// back.

const (
	maxRows   = 100_000
	maxFile   = 128 << 20           // bytes: fewer vectors, where they are long
	maxName   = 500                 // bytes of a model's name, and of its digest
	maxSpaces = 4                   // files in the folder
	maxAge    = 30 * 24 * time.Hour // lifetime of the file of a space without writes
	lockName  = "lock"              // no file of vectors has that name
	saveWait  = 5 * time.Second     // time to store finished work after cancellation
)

var (
	// ErrDropped is returned when the vectors were dropped since they were opened: nothing may be
	// added to them.
	ErrDropped = errors.New("the vectors were dropped meanwhile")

	errSpace = errors.New("not a space of vectors")
)

// Store holds the vectors of memories in one space. Read or Make loads them once; later writes of
// other processes are invisible. A nil *Store is empty. It may be used by one goroutine at a time.
type Store struct {
	dir     string
	space   Space
	room    int // rows that the file may have
	content content
	close   func() // gives the file back; may be nil
}

// Read opens the vectors of a space in a folder for comparison. It writes nothing and never fails:
// missing or damaged vectors are left out. Call Close.
func Read(dir string, s Space) *Store {
	v := &Store{dir: dir, space: s, room: s.capacity()}
	if data, release, err := v.open(); err == nil {
		v.content, v.close = s.parse(data), release
	}
	return v
}

// Make is Read for writers: it begins a missing file. The folder must exist. To be safe from a
// concurrent purge, call it before reading the memories for Fill.
func Make(ctx context.Context, dir string, s Space) (*Store, error) {
	if !s.valid() {
		return nil, fmt.Errorf("vectors of %q, %d numbers: %w", s.Name, s.Dim, errSpace)
	}
	v := &Store{dir: dir, space: s, room: s.capacity()}
	if v.content = v.read(); v.content.born() {
		return v, nil
	}
	unlock, err := file.LockPath(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	defer unlock()
	if v.content = v.read(); v.content.born() {
		return v, nil
	}
	var birth [birthSize]byte
	rand.Read(birth[:])
	return v, v.write(birth, nil)
}

// Close releases the file. The store is empty then.
func (v *Store) Close() {
	if v == nil {
		return
	}
	v.content = content{}
	if v.close != nil {
		v.close()
		v.close = nil
	}
}

// Drop removes the vectors of all spaces in a folder, and has everybody who has opened them add
// nothing.
func Drop(ctx context.Context, dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return os.Remove(dir) // a foreign link
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

// Empty reports whether there are no vectors at all.
func (v *Store) Empty() bool { return v.Rows() == 0 }

// Rows returns the number of embedded texts, unchecked.
func (v *Store) Rows() int {
	if v == nil {
		return 0
	}
	return v.content.len()
}

// Len returns the number of texts with a vector. It checks every row.
func (v *Store) Len() (n int) {
	if v == nil {
		return 0
	}
	for i := range v.content.len() {
		if r := v.content.row(i); r.scale() > 0 && v.content.sound(r) {
			n++
		}
	}
	return n
}

func (v *Store) path() string { return filepath.Join(v.dir, v.space.file()) }

// open maps the file if it is a valid one.
func (v *Store) open() (data []byte, release func(), err error) {
	if info, err := os.Lstat(v.dir); err != nil || !info.IsDir() || !v.space.valid() {
		return nil, nil, fs.ErrNotExist
	}
	return file.Map(v.path(), maxFile)
}

// read returns a copy of the valid part of the file.
func (v *Store) read() content {
	data, release, err := v.open()
	if err != nil {
		return content{}
	}
	defer release()
	return v.space.parse(slices.Clone(data))
}

// write replaces the file and makes it the content of v. The caller holds the lock.
func (v *Store) write(birth [birthSize]byte, rows map[key]value) error {
	out := v.space.format(birth, rows)
	if err := file.Replace(v.path(), out, 0o600, false); err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	v.Close()
	v.content = v.space.parse(out)
	v.sweep()
	return nil
}

// save adds rows to the file. It keeps the wanted old rows and those that another process added
// since v was read. Rows in the order of wanted come first, as far as there is room.
func (v *Store) save(ctx context.Context, wanted []key, had, fresh map[key]value) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWait)
	defer cancel()
	unlock, err := file.LockPath(ctx, filepath.Join(v.dir, lockName))
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	defer unlock()
	disk := v.read()
	if !disk.born() || disk.birth != v.content.birth {
		return ErrDropped
	}
	now := disk.all()
	next := map[key]value{}
	add := func(k key, from ...map[key]value) {
		for _, rows := range from {
			if r, ok := rows[k]; ok && len(next) < v.room {
				next[k] = r
				return
			}
		}
	}
	for _, k := range wanted {
		add(k, fresh, now, had)
	}
	for _, k := range slices.SortedFunc(maps.Keys(now), key.compare) {
		if _, old := had[k]; !old {
			add(k, now)
		}
	}
	if disk.whole && len(now) == disk.len() && sameKeys(next, now) {
		v.Close()
		v.content = disk
		return nil
	}
	return v.write(disk.birth, next)
}

func sameKeys(a, b map[key]value) bool {
	for k := range a {
		if _, ok := b[k]; !ok {
			return false
		}
	}
	return len(a) == len(b)
}

// sweep removes unfinished files and those of other spaces that are old or too many. The caller
// holds the lock.
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
		case strings.HasSuffix(e.Name(), worthFile):
		default:
			spaces = append(spaces, old{path, info.ModTime()})
		}
	}
	slices.SortFunc(spaces, func(a, b old) int { return b.time.Compare(a.time) })
	for i, s := range spaces {
		if i >= maxSpaces-1 || time.Since(s.time) > maxAge {
			os.Remove(s.path)
			os.Remove(s.path + worthFile)
		}
	}
}
