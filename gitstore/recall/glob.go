package recall

import (
	"path"
	"strings"
)

// The paths of a memory are globs with slashes: * and ? stand for characters of one part of a path, ** for any number
// of parts. One without any of these is a file, or a folder with all that lies below it.

// Root is the fixed part of a glob: its folders before the first part with a wildcard, or all of it; "" where it begins
// with one.
func Root(glob string) string {
	parts := strings.Split(clean(glob), "/")
	for i, part := range parts {
		if wild(part) {
			return strings.Join(parts[:i], "/")
		}
	}
	return strings.Join(parts, "/")
}

// Covers reports whether a glob is about a file or a folder.
func Covers(glob, file string) bool {
	glob, file = clean(glob), clean(file)
	if glob == "" || file == "" {
		return false
	}
	if !wild(glob) {
		return Under(file, glob)
	}
	return covers(strings.Split(glob, "/"), strings.Split(file, "/"))
}

// covers compares part by part. What follows the last ** is tried at each later part until it fits: two nested loops
// at most, whatever is in the glob.
func covers(glob, file []string) bool {
	g, f := 0, 0
	again, from := -1, 0 // behind the last **, and where it was tried
	for f < len(file) {
		if g < len(glob) && glob[g] == "**" {
			g++
			again, from = g, f
			continue
		}
		if g < len(glob) {
			if ok, err := path.Match(glob[g], file[f]); err == nil && ok {
				g, f = g+1, f+1
				continue
			}
		}
		if again < 0 {
			return false
		}
		from++
		g, f = again, from
	}
	for g < len(glob) && glob[g] == "**" {
		g++
	}
	return g == len(glob)
}

// About reports whether a glob has to do with a place, which is a file, a folder or a glob itself: it covers the place,
// or one of both lies in the other's fixed part.
func About(glob, place string) bool {
	if Covers(glob, place) {
		return true
	}
	a, b := Root(glob), Root(place)
	return a != "" && b != "" && (Under(a, b) || Under(b, a))
}

// Under reports whether a path is a folder or lies below it.
func Under(path, folder string) bool {
	return path == folder || len(path) > len(folder) && path[len(folder)] == '/' && path[:len(folder)] == folder
}

func wild(part string) bool { return strings.ContainsAny(part, "*?[") }

// clean is a path without what does not matter at its ends.
func clean(p string) string { return strings.Trim(strings.TrimPrefix(p, "./"), "/") }
