package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
)

var (
	// ErrNoRef is returned when a ref definitely does not exist, neither as a file nor in packed-refs.
	ErrNoRef = errors.New("ref does not exist")
	// ErrBrokenRef is returned when a ref exists but holds no object id.
	ErrBrokenRef = errors.New("broken ref")
	// ErrLost is returned when a ref was not moved because it no longer had the expected value.
	ErrLost = errors.New("another writer moved the ref first")
	// ErrRefConflict is returned when one ref's name would be a folder of another's.
	ErrRefConflict = errors.New("another ref is in the way")
	// ErrRefLocked is returned when another git holds the lock of a ref for too long.
	ErrRefLocked = errors.New("ref is locked")
)

// refFiles are the refs that are plain files, with packed-refs and their reflogs. Only a refLock
// changes them.
type refFiles struct {
	dir    string // the common git directory
	format Format
}

// read reads once: the file, packed-refs, and the file again, because git may move the value
// from one to the other meanwhile.
func (f refFiles) read(name string) (string, error) {
	for look := range 2 {
		text, err := os.ReadFile(f.path(name))
		switch {
		case err == nil:
			return f.value(text)
		case !absent(err):
			return "", err
		case look > 0:
			return "", ErrNoRef
		}
		packed, err := f.packed()
		if err != nil {
			return "", err
		}
		if id := packed.find(name); id != "" {
			return f.value([]byte(id))
		}
	}
	panic("unreachable")
}

func (f refFiles) value(text []byte) (string, error) {
	id := strings.TrimSuffix(string(text), "\n")
	switch {
	case f.format.IsID(id):
		return id, nil
	case strings.HasPrefix(id, "ref:"):
		return "", fmt.Errorf("%w: it is a symbolic ref", ErrBrokenRef)
	case id == "":
		return "", fmt.Errorf("%w: it is empty", ErrBrokenRef)
	}
	return "", fmt.Errorf("%w: it holds %d bytes that are no object id", ErrBrokenRef, len(text))
}

// absent reports whether an error means that no file of this name exists: nothing, a folder in its
// place, or a file in place of one of its folders.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isDirectoryError(err)
}

func (f refFiles) path(name string) string {
	return filepath.Join(f.dir, filepath.FromSlash(name))
}

// packedRefs holds the text of the file packed-refs, whose lines are an id, a space and a name.
type packedRefs []byte

func (f refFiles) packed() (packedRefs, error) {
	text, err := os.ReadFile(filepath.Join(f.dir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return text, nil
}

// find returns the id of a name in the file, or "". It costs one pass over the bytes.
func (p packedRefs) find(name string) string {
	rest := []byte(p)
	for {
		i := bytes.Index(rest, []byte(" "+name+"\n"))
		if i < 0 {
			return ""
		}
		if start := bytes.LastIndexByte(rest[:i], '\n') + 1; rest[start] != '#' {
			return string(rest[start:i])
		}
		rest = rest[i+1:]
	}
}

// below returns a name in the file that has this one as its folder, or "".
func (p packedRefs) below(name string) string {
	_, rest, found := bytes.Cut(p, []byte(" "+name+"/"))
	if !found {
		return ""
	}
	rest, _, _ = bytes.Cut(rest, []byte("\n"))
	return name + "/" + string(rest)
}

// sync makes a ref's new name durable, and the names of the folders made for it. If a git has
// packed the ref meanwhile, it has removed the folder, and sync syncs packed-refs instead.
func (f refFiles) sync(path string, freshDir bool) error {
	for dir := filepath.Dir(path); len(dir) > len(f.dir); dir = filepath.Dir(dir) {
		err := file.SyncDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			packed, err := os.OpenFile(filepath.Join(f.dir, "packed-refs"), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			return errors.Join(packed.Sync(), packed.Close(), file.SyncDir(f.dir))
		}
		if err != nil || !freshDir {
			return err
		}
	}
	return nil
}

// makeDir creates the folder of a ref. A ref in the place of one of its folders is a conflict.
func (f refFiles) makeDir(name string, share sharing) error {
	err := share.makeDirs(filepath.Dir(f.path(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if taken := f.conflict(name); taken != nil {
			return taken
		}
	}
	return err
}

// conflict returns an error wrapping ErrRefConflict if an existing ref blocks a new one.
func (f refFiles) conflict(name string) error {
	packed, err := f.packed()
	if err != nil {
		return err
	}
	taken := func(by string) error {
		return fmt.Errorf("%w: %s", ErrRefConflict, by)
	}
	for dir := parent(name); strings.Count(dir, "/") > 1; dir = parent(dir) {
		if info, err := os.Lstat(f.path(dir)); err == nil && !info.IsDir() || packed.find(dir) != "" {
			return taken(dir)
		}
	}
	if by := packed.below(name); by != "" {
		return taken(by)
	}
	if by := fileBelow(f.path(name)); by != "" {
		return taken(name + "/" + by)
	}
	return nil
}

// fileBelow returns the path of a file inside a folder, relative to it, or "".
func fileBelow(dir string) string {
	var found string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != dir {
			found, _ = filepath.Rel(dir, path)
			return fs.SkipAll
		}
		return nil
	})
	return filepath.ToSlash(found)
}

func parent(name string) string { return name[:strings.LastIndexByte(name, '/')] }
