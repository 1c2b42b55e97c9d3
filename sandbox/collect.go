package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Collecting are the options of Collect. The zero value accepts files of any size and number, and
// no link.
type Collecting struct {
	MaxFile  int64 // bytes of one file; 0: any
	MaxFiles int   // 0: any number

	// Skip, if not nil, omits a file or a whole folder, for example ignored ones. It gets the path
	// with slashes.
	Skip func(path string, dir bool) bool
	// Gone lists files that existed before and do not now. A HEAD among them counts when git would
	// take its folder for a repository; files of another version control are refused.
	Gone []string
	// Before, if not nil, returns the target of the link that was at a path before the run. Such a
	// link is accepted while it has that target.
	Before func(path string) (target string, ok bool)
}

// File is an accepted file or link.
type File struct {
	Path string      // with slashes, from the top; valid UTF-8 without control characters
	Info fs.FileInfo // of the opened file; of a link itself
	Runs string      // reason that the host may execute or obey it, or ""
}

// Refused is an entry that was not taken.
type Refused struct {
	Path string // as on disk, with any bytes
	Why  string
}

// maxPath bounds a path, in bytes.
const maxPath = 4096

// errTooMuch means that there are more files than Collecting allows.
var errTooMuch = errors.New("there is too much to take")

// Collect finds the files of a folder that may go into a repository. It follows no link, never
// leaves the folder, and opens each file to compare it with the entry that it saw. It refuses files
// that were replaced meanwhile, new links, devices, pipes, sockets and git directories. It also
// refuses deceptive names, files with a name outside of the folder, and files that are too large or
// unreadable. Both lists are in the order of paths.
func Collect(ctx context.Context, dir string, how Collecting) ([]File, []Refused, error) {
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
	for _, f := range c.seen {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if info, err := c.open(f); err != nil {
			c.refused = append(c.refused, Refused{f.Path, reason(err)})
		} else {
			c.files = append(c.files, File{f.Path, info, cmp.Or(c.bare.runs(f.Path), Runs(f.Path))})
		}
	}
	slices.SortFunc(c.refused, func(a, b Refused) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Why, b.Why)) })
	slices.SortFunc(c.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return c.files, c.refused, nil
}

type collection struct {
	Collecting
	root    *os.Root
	seen    []File            // before they are opened
	names   map[[2]uint64]int // of files with several names: how many were met
	bare    bareDirs
	files   []File
	refused []Refused
}

func (c *collection) refuse(path, why string) (bool, error) {
	if c.MaxFiles > 0 && len(c.refused) >= c.MaxFiles {
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
		return c.link(p, info)
	case !mode.IsRegular():
		return c.refuse(p, kind(mode))
	}
	if names(info) > 1 {
		c.names[fileKey(info)]++
	}
	if c.MaxFiles > 0 && len(c.seen) >= c.MaxFiles {
		return false, fmt.Errorf("%w: more than %d files", errTooMuch, c.MaxFiles)
	}
	c.seen = append(c.seen, File{Path: p, Info: info})
	return false, nil
}

// link accepts a link that existed before.
func (c *collection) link(p string, info fs.FileInfo) (bool, error) {
	target, err := c.root.Readlink(p)
	if err != nil {
		return c.refuse(p, reason(err))
	}
	if c.Before != nil {
		if before, ok := c.Before(p); ok && before == target {
			c.files = append(c.files, File{p, info, Runs(p)})
			return false, nil
		}
	}
	return c.refuse(p, "a link that was not there before")
}

var (
	errNamed = errors.New("it has another name, outside of the folder or among what is left out")
	errLarge = errors.New("it is too large")
)

// open opens a file, and returns its facts if it is the one that was seen.
func (c *collection) open(f File) (fs.FileInfo, error) {
	if n := names(f.Info); n > 1 && c.names[fileKey(f.Info)] < n {
		return nil, errNamed
	}
	file, err := c.root.OpenFile(f.Path, os.O_RDONLY|openQuick, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errChanged
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if c.MaxFile > 0 && info.Size() > c.MaxFile {
		return nil, errLarge
	}
	if !os.SameFile(f.Info, info) || !info.Mode().IsRegular() || names(info) > names(f.Info) {
		return nil, errChanged
	}
	return info, nil
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
