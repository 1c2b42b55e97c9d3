package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// ErrLinkToNothing is returned by Real for a path on which a link leads to nothing.
var ErrLinkToNothing = errors.New("a link to nothing")

// Real returns the place that a write to path would reach: path with every link followed, including
// those of its folders. The file and folders above it may be missing.
func Real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := path; ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if _, err := os.Lstat(at); err == nil {
			return "", &fs.PathError{Op: "follow", Path: at, Err: ErrLinkToNothing}
		}
		rest = filepath.Join(filepath.Base(at), rest)
		if at = filepath.Dir(at); at == filepath.Dir(at) {
			return "", err
		}
	}
}

// Literal returns a pattern of filepath.Glob that matches only the path itself.
func Literal(path string) string {
	if os.PathSeparator == '\\' {
		return path // Windows has no escape for it
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// GitName reports whether some file system equates a name with .git: by case, by characters that
// HFS+ ignores, by endings that NTFS drops, or by its short name.
func GitName(name string) bool {
	name = strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.ToLower(strings.TrimRight(name, " ."))
	return name == ".git" || name == "git~1"
}

// GitDir returns the git directory that contains a path, or the file .git itself, or "". The path
// must come from Real. Folders from top upwards do not count, because a work tree may be inside a
// git directory. known lists further git directories.
func GitDir(path, top string, known ...string) string {
	for at := path; at != top; at = filepath.Dir(at) {
		if GitName(filepath.Base(at)) || gitDirectory(at) {
			return at
		}
		for _, dir := range known {
			if dir != "" && Same(at, dir) {
				return at
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return ""
}

// gitDirectory reports whether a folder looks like the git directory of a repository, a submodule
// or a work tree.
func gitDirectory(dir string) bool {
	is := func(name string) bool { _, err := os.Lstat(filepath.Join(dir, name)); return err == nil }
	return is("HEAD") && (is("objects") && is("refs") || is("commondir"))
}
