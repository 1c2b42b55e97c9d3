// Package file is what more than one package needs of files and that the standard library does not have: locks between
// processes, names that survive a power cut, and writing a file at once or not at all.
package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotRegular is returned by Open for what is no regular file: a pipe, a device, a folder, or, with NoFollow, a link.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is returned by Read for a file that is longer than the reader takes.
var ErrTooLarge = errors.New("the file is too large")

// Open opens a regular file as os.OpenFile does, and never waits for what else may have its name: opening a pipe waits for
// the other end. A file of ours, which somebody may have put there with the repository, is opened with NoFollow; one that its
// owner may have made a link, without.
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

// Read is the text of a file of ours that has at most max bytes: Open with NoFollow.
func Read(path string, max int64) ([]byte, error) { return read(path, NoFollow, max) }

// ReadLinked is Read where the file may be a link: the settings of a user, who may keep them elsewhere.
func ReadLinked(path string, max int64) ([]byte, error) { return read(path, 0, max) }

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

// Temp begins the names of files that Replace has not finished.
const Temp = "new-"

// Replace puts a file in the place of path with its whole content at once. What a symbolic link of that name points to is
// not written: the link is replaced. The content is on the disk before the name is; with durable, so is the name
// when Replace returns.
func Replace(path string, data []byte, mode fs.FileMode, durable bool) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, Temp+"*") // 0600, and never an existing file
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
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
