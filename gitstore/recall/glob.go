package recall

import (
	"path"
	"strings"
)

// The paths of a memory are globs with slashes: * and ? match within one part of a path, ** any
// number of parts. A path without these is a file, or a folder with everything below it.

// Root returns the fixed part of a glob: its folders before the first wildcard, or all of it. It is
// "" if the glob begins with a wildcard.
func Root(glob string) string {
	parts := strings.Split(clean(glob), "/")
	for i, part := range parts {
		if wild(part) {
			return strings.Join(parts[:i], "/")
		}
	}
	return strings.Join(parts, "/")
}

// Covers reports whether a glob matches a file or a folder.
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

// covers compares part by part. It tries the rest after the last ** at each later part, so it needs
// at most two nested loops for any glob.
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

// About reports whether a glob concerns a place, which is a file, a folder or a glob itself. It
// does if some path can match both; a folder includes everything below it. A glob that begins with
// a wildcard would concern every folder, so only a file or a glob finds it.
func About(glob, place string) bool {
	glob, place = clean(glob), clean(place)
	switch {
	case glob == "" || place == "":
		return false
	case Covers(glob, place):
		return true
	case Root(glob) == "" && !wild(place):
		return false
	}
	return meet(partsOf(glob), partsOf(place))
}

// partsOf returns the parts of a glob; a file or folder gets ** at the end.
func partsOf(glob string) []string {
	parts := strings.Split(glob, "/")
	if !wild(glob) {
		parts = append(parts, "**")
	}
	return parts
}

// meet reports whether two globs match a common path. It costs the product of their lengths.
func meet(a, b []string) bool {
	for len(a) > 0 && len(b) > 0 && !wild(a[0]) && !wild(b[0]) {
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
	return align(len(a), len(b),
		func(i int) bool { return a[i] == "**" }, func(j int) bool { return b[j] == "**" },
		func(i, j int) bool { return meetPart(a[i], b[j]) })
}

// meetPart reports whether two parts match a common name. If both have wildcards, a class of
// characters matches any.
func meetPart(a, b string) bool {
	switch {
	case !wild(a):
		ok, err := path.Match(b, a)
		return ok && err == nil
	case !wild(b):
		ok, err := path.Match(a, b)
		return ok && err == nil
	}
	x, okx := charsOf(a)
	y, oky := charsOf(b)
	return okx && oky && align(len(x), len(y),
		func(i int) bool { return x[i] == '*' }, func(j int) bool { return y[j] == '*' },
		func(i, j int) bool { return x[i] == '?' || y[j] == '?' || x[i] == y[j] })
}

// charsOf returns the characters of a part, with ? for a class. It is false for an unterminated
// class.
func charsOf(part string) (out []rune, ok bool) {
	class := false
	for _, r := range part {
		switch {
		case class:
			class = r != ']'
		case r == '[':
			class = true
			out = append(out, '?')
		default:
			out = append(out, r)
		}
	}
	return out, !class
}

// align reports whether two patterns of n and m elements match a common sequence. A many element
// matches any number of others; two plain elements must fit each other.
func align(n, m int, manyA, manyB func(int) bool, fit func(i, j int) bool) bool {
	next := make([]bool, m+1) // for i+1, whether the rests from i+1 and j have one in common
	row := make([]bool, m+1)
	for i := n; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			switch {
			case i == n && j == m:
				row[j] = true
			case i < n && manyA(i):
				row[j] = next[j] || j < m && row[j+1]
			case j < m && manyB(j):
				row[j] = row[j+1] || i < n && next[j]
			default:
				row[j] = i < n && j < m && next[j+1] && fit(i, j)
			}
		}
		row, next = next, row
	}
	return next[0]
}

// Under reports whether a path is a folder or below it.
func Under(path, folder string) bool {
	return path == folder || len(path) > len(folder) && path[len(folder)] == '/' && path[:len(folder)] == folder
}

func wild(part string) bool { return strings.ContainsAny(part, "*?[") }

// clean trims a leading ./ and outer slashes from a path.
func clean(p string) string { return strings.Trim(strings.TrimPrefix(p, "./"), "/") }
