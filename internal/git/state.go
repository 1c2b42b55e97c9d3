package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
)

// State is the folder reverie of the common git directory. It holds all our data outside of git's
// objects and refs, and the locks of its writers.
type State struct{ dir string }

// State returns the state folder. It does no I/O.
func (r *Repo) State() State { return stateOf(r.CommonDir) }

// stateOf returns the state folder of the repository with a common git directory.
func stateOf(common string) State { return State{filepath.Join(common, "reverie")} }

// Dir returns the path of the folder. It creates the folder, readable only by the owner, if it is
// missing. It refuses a symbolic link or another user's folder in its place.
func (s State) Dir() (string, error) { return ownFolder(s.dir) }

// Lock takes the lock that all writers of this repository's Reverie share, over all worktrees and
// processes, and returns the function that releases it. The kernel releases it when its holder
// dies. It waits until the deadline of ctx, at most file.LockWait, and then returns a
// *file.LockError. If ctx is cancelled, the error wraps context.Canceled.
func (s State) Lock(ctx context.Context) (unlock func(), err error) { return s.lock(ctx, "lock") }

// LockSync takes the lock for contact with a remote; reading and writing continue meanwhile. Take
// it before Lock, never after. Otherwise it works like Lock.
func (s State) LockSync(ctx context.Context) (unlock func(), err error) {
	return s.lock(ctx, "sync.lock")
}

func (s State) lock(ctx context.Context, name string) (unlock func(), err error) {
	dir, err := s.Dir()
	if err != nil {
		return nil, err
	}
	return file.LockPath(ctx, filepath.Join(dir, name))
}

// Sub returns a folder of the state folder, creating it if needed. As with Dir, it refuses a
// symbolic link or another user's folder in its place.
func (s State) Sub(name string) (string, error) {
	dir, err := s.Dir()
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

// Write atomically writes a file into the state folder, or into a subfolder as "code/name",
// readable only by the owner. It replaces a symbolic link of that name instead of following it.
// With durable, the file is on disk when it returns.
func (s State) Write(name string, data []byte, durable bool) error {
	sub, base := filepath.Split(filepath.FromSlash(name))
	dir, err := s.Sub(filepath.Clean(sub))
	if err != nil {
		return err
	}
	if err := file.Replace(filepath.Join(dir, base), data, 0o600, durable); err != nil {
		return fmt.Errorf("state file %s: %w", name, cause(err))
	}
	return nil
}

// Cache is Write, not durable, for a value that can be computed again. It never creates the state
// folder, because hooks act in a repository that has one.
func (s State) Cache(name string, data []byte) error {
	if _, err := os.Lstat(s.dir); err != nil {
		return err
	}
	return s.Write(name, data, false)
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

// Read reads a file of the state folder. Anything but a regular file, even a symbolic link,
// counts as missing: Write replaces it.
func (s State) Read(name string) ([]byte, error) {
	text, err := file.Read(filepath.Join(s.dir, filepath.FromSlash(name)), file.MaxState)
	if errors.Is(err, file.ErrNotRegular) {
		err = fmt.Errorf("state file %s: %w", name, os.ErrNotExist)
	}
	return text, err
}

// StateTemp reports whether a name belongs to an unfinished file of State.Write.
func StateTemp(name string) bool {
	rest, ok := strings.CutPrefix(name, file.Temp)
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}
