package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// maxDepth bounds the nesting of folders.
const maxDepth = 200

// errChanged means that an entry was replaced during a walk.
var errChanged = errors.New("it changed while it was looked at")

// visit receives every entry of a tree: its slash-separated path from the top and its Lstat result.
// If a folder cannot be read, it receives that again, with the reason in why. It returns whether to
// enter a folder; an error ends the walk.
type visit func(path string, info fs.FileInfo, why error) (enter bool, err error)

// look walks a tree that another process may change meanwhile. It follows no link and never leaves
// the folder: it opens each folder from its parent and compares it with the entry that it saw. The
// order is the system's.
func look(root *os.Root, tell visit) error {
	w := walk{tell: tell}
	if err := w.folder(root, "", 0); w.ended == nil {
		return err
	}
	return w.ended
}

// walk is a walk at work.
type walk struct {
	tell  visit
	ended error // by the visit function
}

func (w *walk) visit(path string, info fs.FileInfo, why error) (enter bool) {
	enter, w.ended = w.tell(path, info, why)
	return enter && w.ended == nil
}

// folder visits the entries of a folder. It returns why the folder cannot be read.
func (w *walk) folder(root *os.Root, at string, depth int) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(512)
		for _, name := range names {
			info, err := root.Lstat(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			full := path.Join(at, name)
			if w.visit(full, info, nil) && info.IsDir() {
				if why := w.enter(root, name, info, full, depth); why != nil && w.ended == nil {
					w.visit(full, info, why)
				}
			}
			if w.ended != nil {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (w *walk) enter(root *os.Root, name string, info fs.FileInfo, full string, depth int) error {
	if depth >= maxDepth {
		return errors.New("it lies too deep")
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	if now, err := sub.Stat("."); err != nil || !os.SameFile(info, now) {
		return errChanged
	}
	return w.folder(sub, full, depth+1)
}

// isGit reports whether some file system takes a name for .git. It may be in another case, have
// characters that HFS+ ignores or endings that NTFS drops, or be the short name.
func isGit(name string) bool {
	for part := range strings.SplitSeq(name, `\`) {
		if part = plainName(part); part == ".git" || part == "git~1" {
			return true
		}
	}
	return false
}

// isOther reports whether a name is the folder of another version control.
func isOther(name string) bool {
	name = plainName(name)
	return name == ".hg" || name == ".jj" || name == ".sl"
}

// plainName normalises a name as the most lenient file system would.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":") // a stream of NTFS
	return strings.ToLower(strings.TrimRight(name, " ."))
}

// bareDirs finds folders without .git that git takes for a repository. They have a HEAD, and either
// objects and refs or a commondir.
type bareDirs map[string]int

const (
	bareHead = 1 << iota
	bareObjects
	bareRefs
	bareCommon
)

// see records an entry of a folder.
func (b bareDirs) see(p string, info fs.FileInfo) {
	bit := 0
	switch plainName(path.Base(p)) {
	case "head":
		bit = bareHead
	case "objects":
		bit = bareObjects
	case "refs":
		bit = bareRefs
	case "commondir":
		bit = bareCommon
	}
	if bit != 0 && (!info.IsDir() || bit == bareObjects || bit == bareRefs) {
		b[path.Dir(p)] |= bit
	}
}

// isHead reports whether a path ends in the name of a repository's HEAD.
func isHead(p string) bool { return plainName(path.Base(p)) == "head" }

// runs returns the reason that git obeys a file, or "".
func (b bareDirs) runs(p string) string {
	has := b[path.Dir(p)]
	if has&bareHead != 0 && (has&(bareObjects|bareRefs) == bareObjects|bareRefs || has&bareCommon != 0) {
		return BareRepository
	}
	return ""
}

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
