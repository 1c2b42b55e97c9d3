package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
)

// StateSub returns a folder of the state folder, creating it if needed. As with StateDir, it
// refuses a symbolic link or another user's folder in its place.
func (r *Repo) StateSub(name string) (string, error) {
	dir, err := r.StateDir()
	if err != nil {
		return "", err
	}
	if name == "." {
		return dir, nil
	}
	if !filepath.IsLocal(name) || filepath.Base(name) != name {
		return "", fmt.Errorf("state folder: %q is no name of a folder in it", name)
	}
	return ownFolder(filepath.Join(dir, name))
}

// ownFolder creates a folder that only we can read, or checks that it is ours.
func ownFolder(dir string) (string, error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("make state folder: %w", err)
		}
		info, err = os.Lstat(dir)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("state folder: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("state folder %s: not a folder but %s; move it away", dir, info.Mode().Type())
	case !ownedByUs(info):
		return "", fmt.Errorf("state folder %s: %w", dir, ErrUnsafe)
	}
	return dir, nil
}

// WriteState atomically writes a file into the state folder, or into a subfolder as "code/name",
// readable only by the owner. It replaces a symbolic link of that name instead of following it.
// With durable, the file is on disk when it returns.
func (r *Repo) WriteState(name string, data []byte, durable bool) error {
	sub, base := filepath.Split(filepath.FromSlash(name))
	dir, err := r.StateSub(filepath.Clean(sub))
	if err != nil {
		return err
	}
	if err := file.Replace(filepath.Join(dir, base), data, 0o600, durable); err != nil {
		return fmt.Errorf("state file %s: %w", name, cause(err))
	}
	return nil
}

// cause returns a system call's error without its paths. A temporary name tells a reader nothing,
// and two long paths push the cause out of a one-line message.
func cause(err error) error {
	var link *os.LinkError
	var path *fs.PathError
	switch {
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &path):
		return path.Err
	}
	return err
}

// ReadState reads a file of the state folder. Anything but a regular file, even a symbolic link,
// counts as missing: WriteState replaces it.
func (r *Repo) ReadState(name string) ([]byte, error) {
	text, err := file.Read(filepath.Join(r.CommonDir, "reverie", filepath.FromSlash(name)), file.MaxState)
	if errors.Is(err, file.ErrNotRegular) {
		err = fmt.Errorf("state file %s: %w", name, os.ErrNotExist)
	}
	return text, err
}

// StateTemp reports whether a name belongs to an unfinished file of WriteState.
func StateTemp(name string) bool {
	rest, ok := strings.CutPrefix(name, file.Temp)
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}
