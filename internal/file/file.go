// Package file is what more than one package needs of files and that the standard library does not have: locks between
// processes, names that survive a power cut, and writing a file at once or not at all.
package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

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
