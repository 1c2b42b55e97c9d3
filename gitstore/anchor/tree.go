package anchor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// Bounds of a Tree. Files beyond them are not read, which makes nothing stale.
const (
	maxTreeFiles = 256
	maxTreeRead  = 16 << 20 // bytes
)

// TreeGone describes the anchors of a memory that the commit has and the work tree no longer has,
// one line each. It describes none if the asker stands at another commit than HEAD.
func TreeGone(ctx context.Context, c *Code, m record.Memory) []string {
	if len(m.Anchors) == 0 || c.stands {
		return nil
	}
	if c.tree == nil {
		c.tree = NewTree(c.Repo)
	}
	return c.tree.Gone(Ties(ctx, c.Here(ctx), m))
}

// Seen returns the state of the files that the answers of TreeGone rest on.
func Seen(c *Code) []Sight {
	if c.tree == nil {
		return nil
	}
	return c.tree.Seen()
}

// Ties returns those of a memory's anchors that the code of the commit has, with their paths there.
func Ties(ctx context.Context, c *Commit, m record.Memory) (all []record.Anchor) {
	for _, text := range m.Anchors[:min(maxJudged, len(m.Anchors))] {
		a, err := record.ParseAnchor(text)
		if err != nil {
			continue
		}
		if found := c.judge(ctx, text, a, m.Source.Commit); found.letter == isFresh {
			a.Path = found.path
			all = append(all, a)
		}
	}
	return all
}

// Tree is the files of a work tree, with the changes that are not committed. It reads a file
// once, and only regular files inside the work tree.
type Tree struct {
	top     string
	missing int64 // size of a file that is not there
	root    *os.Root
	files   map[string]treeFile
	read    int
}

type treeFile struct {
	Sight
	text    []byte
	unknown bool // it could not be read within the bounds
}

// Sight is the state in which a file of a work tree was seen.
type Sight struct {
	Path  string `json:"path"`            // from the top, with slashes
	Size  int64  `json:"size"`            // or noFile, leftOut
	Mtime int64  `json:"mtime,omitempty"` // nanoseconds since 1970
}

// Sizes of a file that is not there: it is gone, or git may leave it out of the work tree.
const (
	noFile  = -1
	leftOut = -2
)

// NewTree returns the work tree of a repository. Without one, nothing is missing. Close it.
func NewTree(repo *git.Repo) *Tree {
	t := &Tree{top: repo.WorkTree, files: map[string]treeFile{}}
	if t.top == "" {
		return t
	}
	t.missing = missing(repo)
	t.root, _ = os.OpenRoot(t.top)
	return t
}

// Close ends the use of the work tree.
func (t *Tree) Close() {
	if t.root != nil {
		t.root.Close()
	}
}

// Gone describes the anchors that the work tree has no more, one line each.
func (t *Tree) Gone(anchors []record.Anchor) (out []string) {
	for _, a := range anchors {
		f := t.file(a.Path)
		missing := f.Size < 0
		what := printable(a.Path) + " is gone from the work tree"
		if !missing && !f.unknown {
			holds, _ := a.Holds("", func() ([]byte, error) { return f.text, nil })
			missing = !holds
			what = fmt.Sprintf("%s in the work tree no longer has %q", printable(a.Path), a.Snippet)
		}
		if missing && !f.unknown && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	return out
}

// file reads a file.
func (t *Tree) file(path string) treeFile {
	f, known := t.files[path]
	if known {
		return f
	}
	f = treeFile{Sight: Sight{Path: path}, unknown: true}
	if t.root == nil || len(t.files) >= maxTreeFiles || t.read >= maxTreeRead {
		return f
	}
	f.Sight = see(t.top, path, t.missing)
	switch {
	case f.Size < 0:
		f.unknown = f.Size == leftOut
	case f.Size <= maxAnchored:
		text, whole, err := file.ReadIn(t.root, filepath.FromSlash(path), maxAnchored)
		t.read += len(text)
		f.text, f.unknown = text, err != nil || !whole
	}
	t.files[path] = f
	return f
}

// Seen returns the state of the files that the answers rest on.
func (t *Tree) Seen() (all []Sight) {
	for _, f := range t.files {
		all = append(all, f.Sight)
	}
	slices.SortFunc(all, func(a, b Sight) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// Unchanged reports whether the files of a repository's work tree are as they were seen.
func Unchanged(repo *git.Repo, seen []Sight) bool {
	if len(seen) == 0 {
		return true
	}
	missing := missing(repo)
	return !slices.ContainsFunc(seen, func(s Sight) bool { return see(repo.WorkTree, s.Path, missing) != s })
}

// missing returns the size of a missing file in the work tree of a repository.
func missing(repo *git.Repo) int64 {
	if _, err := os.Lstat(filepath.Join(repo.GitDir, "info", "sparse-checkout")); err == nil {
		return leftOut
	}
	return noFile
}

// see returns the state of a file. An unreadable one counts as empty. A link is not followed, since
// its target may lie elsewhere or nowhere: it counts as too large to read.
func see(top, path string, missing int64) Sight {
	s := Sight{Path: path}
	switch info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(path))); {
	case errors.Is(err, fs.ErrNotExist):
		s.Size = missing
	case err == nil:
		s.Size, s.Mtime = info.Size(), info.ModTime().UnixNano()
		if !info.Mode().IsRegular() {
			s.Size = maxAnchored + 1
		}
	}
	return s
}
