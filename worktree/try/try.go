// Package try makes folders in which something is tried before a loop begins, beside those of the loops, and removes what is left of them (Make,
// Clear). Processes may do both at a time: whoever tries holds the folder's lock.
package try

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// prefix begins the name of such a folder. It has a lock, held as long as somebody tries, and the folder tree. The name of a loop is part of a
// ref's, so none begins like this.
const prefix = ".try-"

// Make makes such a folder in the repository's state folder, and returns an empty one in it and what removes all of it. What others have left that
// were killed goes first.
func Make(ctx context.Context, repo *git.Repo) (tree string, done func(), err error) {
	loops, err := repo.StateSub("loops")
	if err == nil {
		err = Clear(loops)
	}
	for err == nil {
		var dir string
		if dir, err = os.MkdirTemp(loops, prefix); err != nil {
			break
		}
		unlock, lockErr := file.LockPath(ctx, lockOf(dir))
		if errors.Is(lockErr, fs.ErrNotExist) {
			continue // another process took it for one that was left, before it had its lock
		}
		if err = lockErr; err != nil {
			break
		}
		done = func() { remove(dir, unlock) }
		tree = filepath.Join(dir, "tree")
		if err = os.Mkdir(tree, 0o700); err != nil {
			done()
			break
		}
		return tree, done, nil
	}
	return "", nil, err
}

func lockOf(dir string) string { return filepath.Join(dir, "lock") }

// remove removes such a folder while its lock is held, under another name: whoever is about to lock the one that it had finds it gone,
// and not a part of it that would go as well.
func remove(dir string, unlock func()) error {
	gone := dir + "-gone"
	if err := os.Rename(dir, gone); err == nil {
		dir = gone
	}
	err := os.RemoveAll(dir)
	unlock()
	if err != nil { // some systems keep a file that is open
		err = os.RemoveAll(dir)
	}
	return err
}

// Clear removes such folders of processes that were killed from the folder of the loops, which need not be there: nobody holds their locks.
func Clear(loops string) error {
	entries, err := os.ReadDir(loops)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	bad := []error{err}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		dir := filepath.Join(loops, e.Name())
		f, err := file.Open(lockOf(dir), os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			bad = append(bad, err)
			continue
		}
		if free, err := file.Lock(f, false); err != nil || !free {
			f.Close()
			continue
		}
		bad = append(bad, remove(dir, func() { f.Close() }))
	}
	return errors.Join(bad...)
}
