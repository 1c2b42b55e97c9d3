// Package diff reads a loop's change. Between returns git's diff, including readable files that git
// takes for binary. Parse splits it into files and lines, and Parts into parts that fit into a
// question.
package diff

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File is one file of a diff.
type File struct {
	Name  string // for a deleted file the old one; with control characters: quoted as by git
	Lines []Line // empty for a binary or empty file, or a mere change of mode

	Was    string // the name before; "" for a new file, or a mere change of mode
	Gone   bool   // it was deleted
	Binary bool   // so its lines are unknown
	Hunks  []Hunk // without redaction
}

// Hunk is a place where two versions of a file differ: lines Old…Old+OldLines-1 became
// New…New+NewLines-1, with those around them that the diff shows. A side without lines gives the
// line before its place.
type Hunk struct{ Old, OldLines, New, NewLines int }

// Line is one line of a hunk.
type Line struct {
	Mark     byte // + - or blank
	Text     string
	Old, New int  // its number, or the next line's if that version lacks it
	first    bool // of a hunk
}

// Parse parses a git diff with the prefixes a/ and b/. It skips other lines and never fails: after
// redaction, a hunk may have fewer lines than its head says.
func Parse(diff string) []File {
	var all []File
	var f *File
	var old, new, oldLeft, newLeft int
	first := false
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case (oldLeft > 0 || newLeft > 0) && !begins(line): // after redaction of a multi-line secret there are fewer
			mark := byte(' ')
			if line != "" {
				mark, line = line[0], line[1:]
			}
			if mark == '\\' { // there is no line feed at the end
				continue
			}
			f.Lines = append(f.Lines, Line{mark, line, old, new, first})
			first = false
			if mark != '+' {
				old, oldLeft = old+1, oldLeft-1
			}
			if mark != '-' {
				new, newLeft = new+1, newLeft-1
			}
		case strings.HasPrefix(line, "diff --git "):
			all = append(all, File{})
			f = &all[len(all)-1]
			oldLeft, newLeft = 0, 0
			both := strings.TrimPrefix(line, "diff --git ")
			// it may have no lines; both names are equal except for their prefix
			if half := len(both) / 2; strings.HasPrefix(both[half:], " ") {
				f.Name = fileNamed(both[half+1:], "b/")
			}
		case f == nil:
		case strings.HasPrefix(line, "rename from "):
			f.Was = fileNamed(line[len("rename from "):], "")
		case strings.HasPrefix(line, "rename to "):
			f.Name = fileNamed(line[len("rename to "):], "")
		case strings.HasPrefix(line, "Binary files "):
			f.Binary, f.Gone = true, strings.HasSuffix(line, " and /dev/null differ")
			if !strings.HasPrefix(line, "Binary files /dev/null and ") {
				f.Was = cmp.Or(f.Was, f.Name)
			}
		case strings.HasPrefix(line, "+++ "):
			name := fileNamed(strings.TrimSuffix(line[len("+++ "):], "\t"), "b/")
			f.Name, f.Gone = cmp.Or(name, f.Name), name == ""
		case strings.HasPrefix(line, "--- "):
			f.Was = fileNamed(strings.TrimSuffix(line[len("--- "):], "\t"), "a/")
			f.Name = cmp.Or(f.Was, f.Name)
		case strings.HasPrefix(line, "@@ "):
			old, oldLeft, new, newLeft = hunk(line)
			f.Hunks = append(f.Hunks, Hunk{old, oldLeft, new, newLeft})
			first = true
		}
	}
	return all
}

// begins reports whether a line does not belong to the current hunk but starts the next hunk or
// file.
func begins(line string) bool {
	return strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "@@ -")
}

// fileNamed returns the name of a file in the head of a diff, or "" without that prefix. git quotes
// some names. A name with control characters stays quoted, so that it never looks like lines of its
// own.
func fileNamed(text, prefix string) string {
	if name, err := strconv.Unquote(text); err == nil {
		if text = text[1 : len(text)-1]; !strings.ContainsFunc(name, unicode.IsControl) {
			text = name
		}
	}
	name, found := strings.CutPrefix(text, prefix)
	if !found {
		return ""
	}
	return name
}

// hunk parses @@ -old,count +new,count @@.
func hunk(line string) (old, oldCount, new, newCount int) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return
	}
	side := func(text string) (at, n int) {
		from, count, counted := strings.Cut(text[1:], ",")
		at, _ = strconv.Atoi(from)
		if n = 1; counted {
			n, _ = strconv.Atoi(count)
		}
		return at, n
	}
	old, oldCount = side(fields[1])
	new, newCount = side(fields[2])
	return
}

// scriptHead bounds the bytes of a file that are checked for text.
const scriptHead = 1 << 10

// isScript reports whether a content is readable as text, even if git disagrees: it names its
// interpreter, is UTF-16, or has seven of eight bytes in characters at its beginning or in total.
// NUL does not count, because shells skip it.
func isScript(text []byte) bool {
	if slices.ContainsFunc([]string{"#!", "\xff\xfe", "\xfe\xff"}, func(head string) bool { return bytes.HasPrefix(text, []byte(head)) }) {
		return true
	}
	return isText(text[:min(len(text), scriptHead)]) || isText(text)
}

func isText(text []byte) bool {
	bytes, odd := 0, 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case r == 0:
			continue
		case r == utf8.RuneError && n == 1, r < ' ' && !strings.ContainsRune("\t\n\r\f", r), r == 0x7f:
			odd++
		}
		bytes += n
	}
	return bytes > 0 && odd*8 < bytes
}
