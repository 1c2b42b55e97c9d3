package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Collecting are the options of Collect. The zero value accepts everything up to the defaults, and
// no link.
type Collecting struct {
	MaxFile  int64 // bytes of one file; 0: 5 MB
	MaxFiles int   // 0: 200,000
	MaxTotal int64 // bytes of all files; 0: 1 GiB

	// Skip, if not nil, omits a file or a whole folder, for example ignored ones. It gets the path
	// with slashes.
	Skip func(path string, dir bool) bool
	// Gone lists files that existed before and do not now. A HEAD among them counts when git would
	// take its folder for a repository; files of another version control are refused.
	Gone []string
	// Before, if not nil, returns the target of the link that was at a path before the run. Such a
	// link is accepted while it has that target.
	Before func(path string) (target string, ok bool)
	// Take, if not nil, receives each accepted file in the order of paths, with its content, which is
	// then not kept. Its error ends Collect.
	Take func(f File, content io.Reader) error
}

// File is an accepted file.
type File struct {
	Path    string // with slashes, from the top; valid UTF-8 without control characters
	Exec    bool   // its owner may run it
	Link    string // target of a link, as in Before; "" for a file
	Size    int64  // of the content that was read
	Runs    string // reason that the host may execute or obey it, or ""
	Content []byte // if there is no Take
}

// Refused is an entry that was not taken.
type Refused struct {
	Path string // as on disk, with any bytes
	Why  string
}

const (
	defaultMaxFile  = 5 << 20
	defaultMaxFiles = 200_000
	defaultMaxTotal = 1 << 30
	maxPath         = 4096 // bytes
)

// errTooMuch means that there are more files or bytes than Collecting allows.
var errTooMuch = errors.New("there is too much to take")

// candidate is a file before it is read.
type candidate struct {
	path string
	info fs.FileInfo
}

// Collect takes the files of a folder that may go into a repository: regular files, by content. It
// follows no link, never leaves the folder, and reads exactly the file that it checked. It refuses
// files that were replaced or changed meanwhile, new links, devices, pipes, sockets and git
// directories. It also refuses deceptive names, files with a name outside of the folder, and files
// that are too large. Both lists are in the order of paths.
func Collect(ctx context.Context, dir string, how Collecting) ([]File, []Refused, error) {
	how.MaxFile, how.MaxFiles, how.MaxTotal = cmp.Or(how.MaxFile, defaultMaxFile), cmp.Or(how.MaxFiles, defaultMaxFiles), cmp.Or(how.MaxTotal, defaultMaxTotal)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("collect: %w", err)
	}
	defer root.Close()
	c := collection{Collecting: how, root: root, names: map[[2]uint64]int{}, bare: bareDirs{}}
	for _, p := range how.Gone {
		if isHead(p) {
			c.bare[path.Dir(p)] |= bareHead
		}
	}
	if err := look(root, func(p string, info fs.FileInfo, why error) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return c.see(p, info, why)
	}); err != nil {
		return nil, nil, fmt.Errorf("collect: %w", err)
	}
	for _, p := range how.Gone {
		if why := c.bare.runs(p); why != "" && isHead(p) {
			c.refused = append(c.refused, Refused{p, why})
		} else if Runs(p) == OtherRepository {
			c.refused = append(c.refused, Refused{p, OtherRepository})
		}
	}
	slices.SortFunc(c.seen, func(a, b candidate) int { return cmp.Compare(a.path, b.path) })
	for _, f := range c.seen {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := c.take(f); err != nil {
			return nil, nil, fmt.Errorf("collect: %w", err)
		}
	}
	slices.SortFunc(c.refused, func(a, b Refused) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Why, b.Why)) })
	slices.SortFunc(c.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return c.files, c.refused, nil
}

type collection struct {
	Collecting
	root    *os.Root
	seen    []candidate
	names   map[[2]uint64]int // of files with several names: how many were met
	bare    bareDirs
	total   int64
	files   []File
	refused []Refused
}

func (c *collection) refuse(path, why string) (bool, error) {
	if len(c.refused) >= c.MaxFiles {
		return false, fmt.Errorf("%w: more than %d paths are refused", errTooMuch, c.MaxFiles)
	}
	c.refused = append(c.refused, Refused{path, why})
	return false, nil
}

// see decides about an entry by its name and kind.
func (c *collection) see(p string, info fs.FileInfo, why error) (enter bool, err error) {
	switch {
	case why != nil:
		if errors.Is(why, fs.ErrNotExist) {
			why = errChanged
		}
		return c.refuse(p, reason(why))
	case isGit(path.Base(p)):
		return c.refuse(p, "a git directory, or what some file system takes for one")
	}
	if bad := badName(p); bad != "" {
		return c.refuse(p, bad)
	}
	c.bare.see(p, info) // skipped files count, too
	if c.Skip != nil && c.Skip(p, info.IsDir()) {
		return false, nil
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return true, nil
	case mode&fs.ModeSymlink != 0:
		return c.link(p)
	case !mode.IsRegular():
		return c.refuse(p, kind(mode))
	}
	if names(info) > 1 {
		c.names[fileKey(info)]++
	}
	if len(c.seen) >= c.MaxFiles {
		return false, fmt.Errorf("%w: more than %d files", errTooMuch, c.MaxFiles)
	}
	c.seen = append(c.seen, candidate{p, info})
	return false, nil
}

// link accepts a link that existed before.
func (c *collection) link(p string) (bool, error) {
	target, err := c.root.Readlink(p)
	if err != nil {
		return c.refuse(p, reason(err))
	}
	if c.Before != nil {
		if before, ok := c.Before(p); ok && before == target {
			c.files = append(c.files, File{Path: p, Link: target, Runs: Runs(p)})
			return false, nil
		}
	}
	return c.refuse(p, "a link that was not there before")
}

// take reads and accepts a file.
func (c *collection) take(f candidate) error {
	if n := names(f.info); n > 1 && c.names[fileKey(f.info)] < n {
		_, err := c.refuse(f.path, "it has another name, outside of the folder or among what is left out")
		return err
	}
	content, info, err := c.read(f)
	if err != nil {
		_, err := c.refuse(f.path, reason(err))
		return err
	}
	if c.total += int64(len(content)); c.total > c.MaxTotal {
		return fmt.Errorf("%w: more than %d bytes", errTooMuch, c.MaxTotal)
	}
	file := File{Path: f.path, Exec: info.Mode()&0o100 != 0, Size: int64(len(content)), Runs: cmp.Or(c.bare.runs(f.path), Runs(f.path))}
	if c.Take != nil {
		c.files = append(c.files, file)
		return c.Take(file, bytes.NewReader(content))
	}
	file.Content = content
	c.files = append(c.files, file)
	return nil
}

var errLarge = errors.New("it is too large")

// read reads the file that was checked.
func (c *collection) read(f candidate) ([]byte, fs.FileInfo, error) {
	if f.info.Size() > c.MaxFile {
		return nil, nil, errLarge
	}
	file, err := c.root.OpenFile(f.path, os.O_RDONLY|openQuick, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errChanged
		}
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !os.SameFile(f.info, info) || !info.Mode().IsRegular() || names(info) > names(f.info) {
		return nil, nil, errChanged
	}
	content, err := io.ReadAll(io.LimitReader(file, c.MaxFile+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(content)) > c.MaxFile {
		return nil, nil, errLarge
	}
	after, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if int64(len(content)) != after.Size() || !after.ModTime().Equal(info.ModTime()) {
		return nil, nil, errChanged
	}
	return content, after, nil
}

// reason returns an error without paths that the caller knows.
func reason(err error) string {
	if of := new(fs.PathError); errors.As(err, &of) {
		err = of.Err
	}
	return err.Error()
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "neither a file nor a folder"
}

// badName returns the fault of a path, or "". Its folders were checked before.
func badName(p string) string {
	name := path.Base(p)
	switch {
	case !utf8.ValidString(name):
		return "its name is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "a control character is in its name"
	case strings.ContainsFunc(name, deceives):
		return "a character that hides or turns text round is in its name"
	case len(p) > maxPath:
		return "its path is too long"
	}
	return ""
}

// deceives reports whether a character makes a name look like another one. Joiners of letters and
// emoji are harmless.
func deceives(r rune) bool {
	return r != '\u200c' && r != '\u200d' && (unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError)
}
