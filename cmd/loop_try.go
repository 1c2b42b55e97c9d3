package cmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
)

// tryPrefix begins the name of a folder, beside those of the loops, in which a container looks for what a loop would call. It has a lock,
// held as long as somebody looks, and the folder tree, which stays empty. The name of a loop is part of a ref's, so none begins like this.
const tryPrefix = ".try-"

// tryFolder makes such a folder, and returns its empty one and what removes all of it. What starts that were killed have left goes first.
func (w *workspace) tryFolder(ctx context.Context) (tree string, done func(), err error) {
	loops, err := w.repo.StateSub("loops")
	if err == nil {
		err = w.clearTries()
	}
	for err == nil {
		var dir string
		if dir, err = os.MkdirTemp(loops, tryPrefix); err != nil {
			break
		}
		unlock, lockErr := file.LockPath(ctx, tryLock(dir))
		if errors.Is(lockErr, fs.ErrNotExist) {
			continue // another process took it for one that was left, before it had its lock
		}
		if err = lockErr; err != nil {
			break
		}
		done = func() { removeTry(dir, unlock) }
		tree = filepath.Join(dir, "tree")
		if err = os.Mkdir(tree, 0o700); err != nil {
			done()
			break
		}
		return tree, done, nil
	}
	return "", nil, err
}

func tryLock(dir string) string { return filepath.Join(dir, "lock") }

// removeTry removes such a folder while its lock is held, under another name: whoever is about to lock the one that it had finds it gone,
// and not a part of it that would go as well.
func removeTry(dir string, unlock func()) error {
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

// clearTries removes the folders of starts that were killed: nobody holds their locks.
func (w *workspace) clearTries() error {
	loops := w.loopFolder("")
	entries, err := os.ReadDir(loops)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	bad := []error{err}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), tryPrefix) {
			continue
		}
		dir := filepath.Join(loops, e.Name())
		f, err := file.Open(tryLock(dir), os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
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
		bad = append(bad, removeTry(dir, func() { f.Close() }))
	}
	return errors.Join(bad...)
}
