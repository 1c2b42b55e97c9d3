package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
)

// destination is a file that a command writes because somebody named it, or the repository did.
type destination struct {
	named  string
	real   string // with every link followed: this is what is written
	there  bool
	inside bool // in this work tree
}

// destination finds out where writing to a path leads. Nothing is written into a git directory, whosever it is, nor to what is
// no regular file.
func (w *workspace) destination(path string) (destination, error) {
	t := destination{named: path}
	var err error
	if t.real, err = file.Real(path); errors.Is(err, file.ErrLinkToNothing) {
		return t, exit.New(exit.NeedsPerson, fmt.Errorf("%s: is a link to nothing; nothing was changed", path), "remove it, or name another file")
	} else if err != nil {
		return t, fmt.Errorf("%s: %w", path, file.Bare(err))
	}
	top := ""
	if w.Repo.WorkTree != "" {
		if top, err = filepath.EvalSymlinks(w.Repo.WorkTree); err != nil {
			return t, err
		}
		rel, err := filepath.Rel(top, t.real)
		t.inside = err == nil && filepath.IsLocal(rel)
	}
	if !t.inside {
		top = ""
	}
	if dir := file.GitDir(t.real, top, w.Repo.CommonDir, w.Repo.GitDir); dir != "" {
		return t, exit.New(exit.NeedsPerson, fmt.Errorf("%s: is %s, in a git directory; nothing was changed", path, t.real), "name a file of the work tree")
	}
	info, err := os.Lstat(t.real)
	t.there = err == nil
	if t.there && !info.Mode().IsRegular() {
		return t, exit.New(exit.NeedsPerson, fmt.Errorf("%s: is %s, no plain file; nothing was changed", path, t.real), "name a file")
	}
	return t, nil
}

// refuse is the error for a file outside of the work tree.
func (t destination) refuse() error {
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: is %s, no plain file of this work tree; nothing was changed", t.named, t.real),
		"to write there all the same, name it and say so: "+t.real+" --force")
}

// agentsFile is the file that holds the managed block.
func (w *workspace) agentsFile() string {
	return filepath.Join(w.Repo.WorkTree, filepath.FromSlash(w.Config.Agents))
}

// write replaces the file at once; its mode stays.
func (t destination) write(data []byte) error { return t.told(file.Rewrite(t.real, data)) }

// writePrivate is write for what nobody else on this machine is to read, whoever may read the file that is there.
func (t destination) writePrivate(data []byte) error {
	return t.told(file.Exchange(t.real, data, 0o600, nil))
}

func (t destination) told(err error) error {
	if err != nil {
		return fmt.Errorf("write %s: %w", t.named, file.Bare(err))
	}
	return nil
}
