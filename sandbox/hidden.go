package sandbox

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// maxHidden bounds the git directories in a workspace.
const maxHidden = 100

// hidden is a git directory of a workspace, or a file that names one. The container has an empty
// one in its place, which cannot be written, moved or removed.
type hidden struct {
	path string // absolute
	dir  bool
}

// gitEntries finds the git entries to hide from a command: git on the host would run its changes.
func gitEntries(workspace string) ([]hidden, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var found []hidden
	err = look(root, func(path string, info fs.FileInfo, why error) (bool, error) {
		if why != nil {
			return false, fmt.Errorf("%w: whether git directories are in %s: %w", ErrBadSpec, path, why)
		}
		if !isGit(filepath.Base(path)) {
			return true, nil
		}
		if len(found) == maxHidden {
			return false, fmt.Errorf("%w: %s holds more than %d git directories", ErrBadSpec, workspace, maxHidden)
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			return false, fmt.Errorf("%w: %s is neither a folder nor a file", ErrBadSpec, path)
		}
		if strings.ContainsAny(path, `,"`) || strings.ContainsFunc(path, unicode.IsControl) {
			return false, fmt.Errorf("%w: the git directory %q has a name that no engine takes", ErrBadSpec, path)
		}
		found = append(found, hidden{filepath.Join(workspace, filepath.FromSlash(path)), info.IsDir()})
		return false, nil
	})
	slices.SortFunc(found, func(a, b hidden) int { return cmp.Compare(a.path, b.path) })
	return found, err
}
