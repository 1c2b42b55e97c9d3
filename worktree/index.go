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
	place  *Place
	gitDir string
	ended  bool // it was installed, or given up
}

// takeIndex copies the index of the work tree.
func (p *Place) takeIndex(gitDir string) (*ownIndex, error) {
	if p.theirs {
		if err := p.lockIndex(gitDir); err != nil {
			return nil, err
		}
	}
	index := &ownIndex{path: filepath.Join(gitDir, "index.reverie-loop"), place: p, gitDir: gitDir}
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
	return i.place.unlockIndex(i.gitDir)
}

// giveUp removes the copy, unless install has used it. A nil receiver is valid.
func (i *ownIndex) giveUp() {
	if i == nil || i.ended {
		return
	}
	i.ended = true
	i.clear()
	i.place.unlockIndex(i.gitDir) // else the next settle does
}

// indexLock is git's lock of an index. git writes the new index into its own lock; ours names its
// owner.
const indexLock = "index.lock"

// lockMark returns the content of the loop's lock. Only the holder of the loop's lease takes one,
// so the holder may also remove it.
func (p *Place) lockMark() string { return "reverie loop " + p.name + "\n" }

// lockIndex takes git's lock of the index.
func (p *Place) lockIndex(gitDir string) error {
	name := filepath.Join(gitDir, indexLock)
	lock, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there: a git is at work in the work tree, or was killed", name)
	}
	if err != nil {
		return err
	}
	_, err = lock.WriteString(p.lockMark())
	if err = errors.Join(err, lock.Close()); err != nil {
		os.Remove(name)
	}
	return err
}

// unlockIndex removes git's lock of the index if the loop owns it.
func (p *Place) unlockIndex(gitDir string) error {
	if !p.theirs {
		return nil
	}
	name, mark := filepath.Join(gitDir, indexLock), p.lockMark()
	if text, err := file.Read(name, int64(len(mark))); err != nil || string(text) != mark {
		return nil // missing, or another owner's
	}
	return os.Remove(name)
}
