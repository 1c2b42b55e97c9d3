// Package file adds to os: locks between processes, durable names, and atomic replacement.
package file

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Prefixes of unfinished files: Temp for Replace; Foreign for Exchange and Rewrite, which work in
// folders of other programs.
const (
	Temp    = "new-"
	Foreign = ".reverie-new-"
)

// ErrNotRegular is returned by Open for anything but a regular file: a pipe, a device, a folder,
// or, with NoFollow, a link.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is returned by Read for a file beyond the reader's limit.
var ErrTooLarge = errors.New("the file is too large")

// MaxState bounds a file of the state folder that is read whole, in bytes.
const MaxState = 64 << 20

// Bare returns an error about a file without its leading path, for callers that name the file
// themselves.
func Bare(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}

// Open opens a regular file as os.OpenFile does. It never blocks on another kind of file, such as a
// pipe without a writer. Pass NoFollow for our own files, which may have arrived with the
// repository. Omit it for files that their owner may have made links.
func Open(path string, flag int, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|nonBlock, mode)
	if err != nil {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && (flag&NoFollow != 0 || info.Mode()&fs.ModeSymlink == 0) {
			return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the text of one of our files, of at most max bytes, opened with NoFollow.
func Read(path string, max int64) ([]byte, error) { return read(path, NoFollow, max) }

// ReadLinked is Read for a file that may be a link, such as the user's settings.
func ReadLinked(path string, max int64) ([]byte, error) { return read(path, 0, max) }

// ReadIn returns at most max bytes of a regular file below a folder, and whether that is all of it.
// A link may lead to another file of the folder, but never out of it or into a git directory: the
// link may come from a stranger's commit.
func ReadIn(dir *os.Root, name string, max int64) (text []byte, whole bool, err error) {
	if real, err := filepath.EvalSymlinks(filepath.Join(dir.Name(), name)); err == nil {
		top, err := filepath.EvalSymlinks(dir.Name())
		if err != nil {
			return nil, false, err
		}
		if name, err = filepath.Rel(top, real); err != nil || !filepath.IsLocal(name) || GitDir(real, top) != "" {
			return nil, false, &fs.PathError{Op: "read", Path: real, Err: ErrNotRegular}
		}
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false, errors.Join(err, &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular})
	}
	text, err = io.ReadAll(io.LimitReader(f, max+1))
	if int64(len(text)) > max {
		return text[:max], false, err
	}
	return text, true, err
}

// Same reports whether two paths lead to one file or folder. Paths that differ only in spelling, as
// a//b and a/b do, need not exist.
func Same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

func read(path string, flag int, max int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY|flag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(text)) > max {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return text, err
}

// Map is Read for a file that only Replace writes. It maps the file into memory if the system lets
// a mapped file be replaced. The data is read-only and valid until release is called.
func Map(path string, max int64) (data []byte, release func(), err error) {
	f, err := Open(path, os.O_RDONLY|NoFollow, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > max {
		return nil, nil, &fs.PathError{Op: "map", Path: path, Err: ErrTooLarge}
	}
	return Content(f, info.Size())
}

// mapFrom is the size from which a file is mapped, in bytes: reading a few pages is as quick.
const mapFrom = 64 << 10

// Content returns the data of an open file of known size. It maps a large file into memory if the
// system lets a mapped file be replaced, and reads it otherwise. The data is read-only and valid
// until release is called, even after the file is closed or removed. Truncating a mapped file kills
// a process that reads beyond the new end, unless it catches the fault.
func Content(f *os.File, size int64) (data []byte, release func(), err error) {
	if size > math.MaxInt {
		return nil, nil, &fs.PathError{Op: "map", Path: f.Name(), Err: ErrTooLarge}
	}
	if size >= mapFrom {
		if data, release, err := mapped(f, int(size)); err == nil {
			return data, release, nil
		}
	}
	return whole(f, int(size))
}

// whole is Content by reading the file.
func whole(f *os.File, size int) (data []byte, release func(), err error) {
	data = make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, int64(size)), data)
	return data, func() {}, err
}

// Replace atomically replaces path with a file of the given content. It replaces a symbolic link of
// that name instead of following it. The content reaches the disk before the name does; with
// durable, the name is on disk too when Replace returns.
func Replace(path string, data []byte, mode fs.FileMode, durable bool) error {
	return put(path, Temp, data, mode, durable, nil)
}

// Exchange is a durable Replace in a foreign folder. ready, unless nil, runs just before the
// rename; if it fails, nothing changes.
func Exchange(path string, data []byte, mode fs.FileMode, ready func() error) error {
	return put(path, Foreign, data, mode, true, ready)
}

// Rewrite is an Exchange that keeps a symbolic link and replaces its target. The mode stays; a new
// file has 0644.
func Rewrite(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	return Exchange(path, data, mode, nil)
}

// Unfinished lists the unfinished files in a folder, of an Exchange that was killed or is about to
// rename.
func Unfinished(dir string) []string {
	var found []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), Foreign) && e.Type().IsRegular() {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found
}

// Sweep removes the unfinished files of a folder. The caller ensures that no writer is active
// there.
func Sweep(dir string) {
	for _, path := range Unfinished(dir) {
		os.Remove(path)
	}
}

func put(path, temp string, data []byte, mode fs.FileMode, durable bool, ready func() error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, temp+"*") // 0600, and never an existing file
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && temp == Foreign {
		keepOwner(f, path)
	}
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil && durable {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && ready != nil {
		err = ready()
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	if durable {
		return SyncDir(dir)
	}
	return nil
}

// ByAge lists the wanted files of one of our folders, newest first, each with the folder's path. It
// ignores everything but plain files, and returns nothing if a symbolic link replaces the folder.
func ByAge(dir string, want func(name string) bool) []string {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(dir)
	age := map[string]time.Time{}
	var files []string
	for _, e := range entries {
		if !want(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			path := filepath.Join(dir, e.Name())
			age[path] = info.ModTime()
			files = append(files, path)
		}
	}
	slices.SortFunc(files, func(a, b string) int { return age[b].Compare(age[a]) })
	return files
}

// abandoned is the age from which an unfinished file counts as abandoned.
const abandoned = 24 * time.Hour

// Expire removes the wanted files of one of our folders that are older than a time, and returns
// their number. It also removes other files with a prefix, which a killed process left unfinished.
// Like ByAge it follows no link.
func Expire(dir string, before time.Time, want func(name string) bool, unfinished string) (n int, err error) {
	left := func(name string) bool { return !want(name) && strings.HasPrefix(name, unfinished) }
	var bad []error
	for _, path := range ByAge(dir, func(name string) bool { return want(name) || left(name) }) {
		limit, leftover := before, left(filepath.Base(path))
		if leftover {
			limit = time.Now().Add(-abandoned)
		}
		if info, err := os.Lstat(path); err != nil || !info.ModTime().Before(limit) {
			continue
		}
		switch err := os.Remove(path); {
		case err == nil && !leftover:
			n++
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			bad = append(bad, err)
		}
	}
	return n, errors.Join(bad...)
}
