package past

import (
	"os"
	"path/filepath"
	"strings"
)

// trees are the work trees of a repository, and knows which directories are in them.
type trees struct {
	roots map[string]bool // as given, and with links resolved
	known map[string]bool // answers given before
}

func newTrees(dirs []string) *trees {
	t := &trees{roots: map[string]bool{}, known: map[string]bool{}}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		t.roots[filepath.Clean(dir)] = true
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			t.roots[real] = true
		}
	}
	return t
}

// hold says that dir is a work tree or lies in one, by its name or by that with links resolved, and
// that no other repository lies between. A directory that is gone is judged by its name.
func (t *trees) hold(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	dir = filepath.Clean(dir)
	answer, ok := t.known[dir]
	if !ok {
		answer = t.climb(dir)
		if !answer {
			if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
				answer = t.climb(real)
			}
		}
		t.known[dir] = answer
	}
	return answer
}

func (t *trees) climb(dir string) bool {
	if !t.below(dir) {
		return false
	}
	for {
		if t.roots[dir] {
			return true
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return false // of another repository
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// below says the same by names alone.
func (t *trees) below(dir string) bool {
	for root := range t.roots {
		if dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
