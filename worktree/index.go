package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/file"
)

// ownIndex is a copy of a work tree's index, which later replaces the original or is dropped. In a
// person's work tree we hold git's index lock meanwhile, so that the person's git cannot change it.
type ownIndex struct {
	path   string // of the copy; missing if the work tree has no index
	gitDir string
	lock   indexLock
	ended  bool // it was installed, or given up
}

// takeIndex copies the index of the work tree.
func (p *Place) takeIndex(gitDir string) (*ownIndex, error) {
	index := &ownIndex{path: filepath.Join(gitDir, "index.reverie-loop"), gitDir: gitDir}
	if p.theirs {
		index.lock = p.indexLock(gitDir)
		if err := index.lock.take(); err != nil {
			return nil, err
		}
	}
	if err := index.copy(); err != nil {
		index.giveUp()
		return nil, err
	}
	return index, nil
}

func (i *ownIndex) copy() error {
	if err := i.clear(); err != nil {
		return err
	}
	name := filepath.Join(i.gitDir, "index")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(i.path, data, 0o644); err != nil {
		return err
	}
	// git distrusts files changed in the second in which an index was written
	return os.Chtimes(i.path, info.ModTime(), info.ModTime())
}

// clear removes the copy, and the lock left by a killed git that wrote it.
func (i *ownIndex) clear() error {
	for _, name := range []string{i.path + ".lock", i.path} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// install makes the copy the index of the work tree. giveUp then has no effect.
func (i *ownIndex) install() error {
	if err := os.Rename(i.path, filepath.Join(i.gitDir, "index")); err != nil {
		return err
	}
	i.ended = true
	return i.lock.drop()
}

// giveUp removes the copy, unless install has used it. A nil receiver is valid.
func (i *ownIndex) giveUp() {
	if i == nil || i.ended {
		return
	}
	i.ended = true
	i.clear()
	i.lock.drop() // else the next settle does
}

// indexLock is git's lock of an index. git writes the new index into its own lock; ours names its
// owner. The zero value is no lock.
type indexLock struct{ path, mark string }

// indexLock returns the loop's lock. Only the holder of the loop's lease takes one, so the holder
// may also drop it.
func (p *Place) indexLock(gitDir string) indexLock {
	return indexLock{filepath.Join(gitDir, "index.lock"), "reverie loop " + p.name + "\n"}
}

// take creates the lock.
func (l indexLock) take() error {
	lock, err := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there: a git is at work in the work tree, or was killed", l.path)
	}
	if err != nil {
		return err
	}
	_, err = lock.WriteString(l.mark)
	if err = errors.Join(err, lock.Close()); err != nil {
		os.Remove(l.path)
	}
	return err
}

// drop removes the lock if the loop owns it.
func (l indexLock) drop() error {
	if text, err := file.Read(l.path, int64(len(l.mark))); l.path == "" || err != nil || string(text) != l.mark {
		return nil // missing, or another owner's
	}
	return os.Remove(l.path)
}
