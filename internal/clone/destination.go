package clone

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// Destination is a file to write, named by a person or the repository.
type Destination struct {
	Named  string
	Real   string // the file to write, with every link followed
	There  bool
	Inside bool // in this work tree
}

// FindDestination follows a path to the file that a write would change. It refuses files in any git
// directory, and everything but regular files.
func FindDestination(repo *git.Repo, path string) (Destination, error) {
	d := Destination{Named: path}
	var err error
	if d.Real, err = file.Real(path); errors.Is(err, file.ErrLinkToNothing) {
		return d, exit.New(exit.NeedsPerson, fmt.Errorf("%s: is a link to nothing; nothing was changed", path), "remove it, or name another file")
	} else if err != nil {
		return d, fmt.Errorf("%s: %w", path, file.Bare(err))
	}
	top := ""
	if repo.WorkTree != "" {
		if top, err = filepath.EvalSymlinks(repo.WorkTree); err != nil {
			return d, err
		}
		rel, err := filepath.Rel(top, d.Real)
		d.Inside = err == nil && filepath.IsLocal(rel)
	}
	if !d.Inside {
		top = ""
	}
	if dir := file.GitDir(d.Real, top, repo.CommonDir, repo.GitDir); dir != "" {
		return d, exit.New(exit.NeedsPerson, fmt.Errorf("%s: is %s, in a git directory; nothing was changed", path, d.Real), "name a file of the work tree")
	}
	info, err := os.Lstat(d.Real)
	d.There = err == nil
	if d.There && !info.Mode().IsRegular() {
		return d, exit.New(exit.NeedsPerson, fmt.Errorf("%s: is %s, no plain file; nothing was changed", path, d.Real), "name a file")
	}
	return d, nil
}

// AgentsFile returns the path of the file with the managed block.
func (c *Clone) AgentsFile() string {
	return filepath.Join(c.Repo.WorkTree, filepath.FromSlash(c.Config.Agents))
}

// Refuse returns the error for a file outside the work tree.
func (d Destination) Refuse() error {
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: is %s, no plain file of this work tree; nothing was changed", d.Named, d.Real),
		"to write there all the same, name it and say so: "+d.Real+" --force")
}

// Write atomically replaces the file and keeps its mode.
func (d Destination) Write(data []byte) error { return d.named(file.Rewrite(d.Real, data)) }

// WritePrivate is Write for data that only the owner may read: it sets the mode to 0600.
func (d Destination) WritePrivate(data []byte) error {
	return d.named(file.Exchange(d.Real, data, 0o600, nil))
}

func (d Destination) named(err error) error {
	if err != nil {
		return fmt.Errorf("write %s: %w", d.Named, file.Bare(err))
	}
	return nil
}
