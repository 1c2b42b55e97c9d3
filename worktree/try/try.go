// Package try makes short-lived folders beside those of the loops: empty (Make), or with the files
// of a commit (Checkout). It removes leftovers (Clear). Several processes may make and clear
// folders at once: each user of a folder holds its lock.
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

// prefix begins the name of such a folder. It contains a lock, held during the trial, and the
// folder tree. A loop's name is part of a ref's, so it cannot begin like this.
const prefix = ".try-"

// Make creates such a folder in the repository's state folder. It returns an empty folder in it and
// a function that removes both. It first removes the leftovers of killed processes.
func Make(ctx context.Context, repo *git.Repo) (tree string, done func(), err error) {
	loops, err := repo.State().Sub("loops")
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
			continue // another process took it for a leftover before it had its lock
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

// Checkout is Make for a folder with the files of a commit. A sealed one contains no .git.
func Checkout(ctx context.Context, repo *git.Repo, commit string, sealed bool) (tree string, done func(), err error) {
	tree, remove, err := Make(ctx, repo)
	if err != nil {
		return "", nil, err
	}
	done = func() {
		remove()
		// git forgets a work tree whose folder is gone
		repo.Git(context.WithoutCancel(ctx), nil, "worktree", "remove", "--force", tree)
	}
	_, err = repo.Git(ctx, nil, "worktree", "add", "--quiet", "--detach", tree, commit)
	if err == nil && sealed {
		err = os.Remove(filepath.Join(tree, ".git"))
	}
	if err != nil {
		done()
		return "", nil, err
	}
	return tree, done, nil
}

func lockOf(dir string) string { return filepath.Join(dir, "lock") }

// remove removes such a folder while its lock is held. It removes the lock last, so that a folder
// without a lock is empty. The folder itself stays if another process has already made a new lock
// in it.
func remove(dir string, unlock func()) error {
	tree := filepath.Join(dir, "tree")
	filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() { // a container may have made it unreadable
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	err := os.RemoveAll(tree)
	if err != nil {
		unlock()
		return err
	}
	gone := os.Remove(lockOf(dir))
	unlock()
	if gone != nil { // some systems keep an open file
		os.Remove(lockOf(dir))
	}
	return removeEmpty(dir)
}

// removeEmpty removes such a folder if it exists and is empty.
func removeEmpty(dir string) error {
	err := os.Remove(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Clear removes the trial folders of killed processes, whose locks are free, from the folder of the
// loops. That folder may be missing.
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
		f, err := file.Open(lockOf(dir), os.O_RDWR|file.NoFollow, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			bad = append(bad, removeEmpty(dir)) // the next locker makes another
			continue
		}
		if err != nil {
			bad = append(bad, err)
			continue
		}
		if free, err := file.Lock(f, false); err != nil || !free || !isLock(f, dir) {
			f.Close()
			continue
		}
		bad = append(bad, remove(dir, func() { f.Close() }))
	}
	return errors.Join(bad...)
}

// isLock reports whether a locked file is still the folder's lock.
func isLock(f *os.File, dir string) bool {
	mine, err := f.Stat()
	now, err2 := os.Lstat(lockOf(dir))
	return err == nil && err2 == nil && os.SameFile(mine, now)
}
