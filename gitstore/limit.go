package gitstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Limits of a whole tree. A folder under many paths counts once for each, because a few objects can
// describe billions of paths. Readers stop at the limits, and a merge beyond them fails.
const (
	MaxEntries = 1 << 18   // files and folders
	MaxPaths   = 64 << 20  // bytes of all their paths
	MaxText    = 512 << 20 // bytes of all files that a merge brings
	MaxFolder  = 16 << 20  // bytes of the object of one folder
)

// maxBlob is the size in bytes beyond which no file is read. It is far more than MaxFile.
const maxBlob = 1 << 20

// maxHistory bounds the pairs of path and content that we examine in a history.
const maxHistory = 1 << 20

// sizes bounds our reads from a repository that strangers may have filled.
var sizes = git.Sizes{Blob: maxBlob, Other: MaxFolder}

// ErrLimit is returned when a tree or a history holds more than a store may.
var ErrLimit = errors.New("more than a store may hold")

// LimitError is a limit and the path at which a tree exceeds it. It wraps ErrLimit.
type LimitError struct {
	Path  string
	Limit string // as "more than 262144 files and folders"
}

func (e *LimitError) Error() string {
	where := "the tree"
	if path := strings.TrimSuffix(e.Path, "/"); path != "" {
		where = fmt.Sprintf("%.80q", path)
	}
	return fmt.Sprintf("refused: %s: %s: %v", where, e.Limit, ErrLimit)
}

func (e *LimitError) Unwrap() error { return ErrLimit }

func tooMany() string { return fmt.Sprintf("more than %d files and folders", MaxEntries) }
func tooLong() string { return fmt.Sprintf("more than %d MiB of paths", MaxPaths>>20) }
func tooBig() string  { return fmt.Sprintf("a folder of more than %d MiB", MaxFolder>>20) }
func tooFull() string { return fmt.Sprintf("more than %d MiB of files", MaxText>>20) }
func tooVaried() string {
	return fmt.Sprintf("more than %d versions of files and folders in history", maxHistory)
}

// weight measures a tree: its entries and the bytes of their paths. Both stop at the largest
// number.
type weight struct{ entries, paths int }

func (w weight) plus(o weight) weight {
	return weight{saturated(w.entries + o.entries), saturated(w.paths + o.paths)}
}

// saturated caps a number at half of the largest, so that the next sum cannot overflow.
func saturated(n int) int { return min(n, math.MaxInt/4) }

// over returns a LimitError if a weight is more than a tree may have.
func (w weight) over(path string) error {
	switch {
	case w.entries > MaxEntries:
		return &LimitError{path, tooMany()}
	case w.paths > MaxPaths:
		return &LimitError{path, tooLong()}
	}
	return nil
}

// add counts the entries of a folder at a path that ends in a slash, or is empty.
func (w *weight) add(entries []entry, prefix string) error {
	own := weight{entries: len(entries), paths: len(entries) * len(prefix)}
	for i := range entries {
		own.paths += len(entries[i].name)
	}
	*w = w.plus(own)
	return w.over(prefix)
}

// suspect is the number of entries after which a reader weighs the tree. An attacker's tree fails
// there; for others the weighing costs less than the reading.
const suspect = MaxEntries / 16

// counter counts the entries that a reader visits below a folder.
type counter struct {
	seen    weight
	root    *node
	prefix  string // of root
	weighed bool
}

// add counts the entries of a folder at a path.
func (c *counter) add(t *Tree, n *node, prefix string) error {
	if err := c.seen.add(n.entries, prefix); err != nil {
		return err
	}
	if c.seen.entries < suspect || c.weighed || c.root.id == "" {
		return nil
	}
	c.weighed = true
	w, err := newScale(t.ctx, t.objects).weigh(c.root.id, c.prefix, strings.Count(c.prefix, "/"))
	if err != nil && !errors.Is(err, ErrLimit) {
		return nil // the reader handles unreadable folders
	}
	if err == nil {
		err = w.over(c.prefix)
	}
	return err
}

// scale weighs trees without visiting every path: each folder once per depth.
type scale struct {
	ctx     context.Context
	objects git.Objects
	known   map[folderAt]weight // paths count from the folder on
}

type folderAt struct {
	id    ID
	depth int // names above it
}

func newScale(ctx context.Context, objects git.Objects) *scale {
	return &scale{ctx, objects, map[folderAt]weight{}}
}

// weigh returns the weight of a folder at a path, or a LimitError that names the deepest folder
// beyond the limit.
func (s *scale) weigh(id ID, prefix string, depth int) (weight, error) {
	w, done := s.known[folderAt{id, depth}]
	if done || depth >= MaxDepth { // deeper entries are passed over by all readers
		return w, nil
	}
	if err := s.ctx.Err(); err != nil {
		return w, err
	}
	entries, err := readFolder(s.ctx, s.objects, id, prefix)
	if err != nil {
		return w, err
	}
	w.add(entries, "")
	if err := w.over(prefix); err != nil {
		return w, err
	}
	for i := range entries {
		e := &entries[i]
		if !e.isTree() || e.bad != "" {
			continue
		}
		below, err := s.weigh(e.id, prefix+e.name+"/", depth+1)
		if err != nil {
			return w, err
		}
		below.paths = saturated(below.paths + min(below.entries, MaxEntries+1)*(len(e.name)+1))
		w = w.plus(below)
		if err := w.over(prefix + e.name); err != nil {
			return w, err
		}
	}
	s.known[folderAt{id, depth}] = w
	return w, nil
}

// grows returns a LimitError if a tree would exceed the limits with more new files and as many new
// folders.
func (s *scale) grows(root ID, files []string) error {
	w, err := s.weigh(root, "", 0)
	if err != nil {
		return err
	}
	for _, path := range files {
		w = w.plus(weight{2, 2 * len(path)})
		if err := w.over(path); err != nil {
			return err
		}
	}
	return nil
}

// readFolder reads the entries of a folder.
func readFolder(ctx context.Context, objects git.Objects, id ID, path string) ([]entry, error) {
	o, err := objects.Read(ctx, string(id))
	if errors.Is(err, ErrTooLarge) {
		return nil, &LimitError{path, tooBig()}
	}
	if err = damaged(err); err != nil {
		return nil, at(path, err)
	}
	if o.Kind != git.Tree {
		return nil, fmt.Errorf("%s: %s is a %s, not a folder: %w", path, id, o.Kind, ErrCorrupt)
	}
	entries, err := parseTree(o.Data, len(id)/2)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w: %w", path, id, ErrCorrupt, err)
	}
	if len(entries) > MaxEntries {
		return nil, &LimitError{path, tooMany()}
	}
	return entries, nil
}

// at adds a path to an error; "" is the root.
func at(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", strings.TrimSuffix(path, "/"), err)
}
