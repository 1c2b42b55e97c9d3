package cmd

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/prompts"
)

// diffFile is one file of a diff.
type diffFile struct {
	name  string // of a file that is gone, the old one; with control characters: as git writes them
	lines []diffLine
}

// diffLine is one line of a hunk.
type diffLine struct {
	mark     byte // + - or blank
	text     string
	old, new int  // its number, or that of the next line where it is not in that version
	first    bool // of a hunk
}

// parseDiff takes a diff of git's apart, made with the prefixes a/ and b/.
func parseDiff(diff string) []diffFile {
	var all []diffFile
	var f *diffFile
	var old, new, oldLeft, newLeft int
	first := false
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case (oldLeft > 0 || newLeft > 0) && !begins(line): // where a secret of several lines was taken out, there are fewer
			mark := byte(' ')
			if line != "" {
				mark, line = line[0], line[1:]
			}
			if mark == '\\' { // there is no line feed at the end
				continue
			}
			f.lines = append(f.lines, diffLine{mark, line, old, new, first})
			first = false
			if mark != '+' {
				old, oldLeft = old+1, oldLeft-1
			}
			if mark != '-' {
				new, newLeft = new+1, newLeft-1
			}
		case strings.HasPrefix(line, "diff --git "):
			all = append(all, diffFile{})
			f = &all[len(all)-1]
			oldLeft, newLeft = 0, 0
			both := strings.TrimPrefix(line, "diff --git ")
			if half := len(both) / 2; strings.HasPrefix(both[half:], " ") { // it may have no lines; both names are the same, but for their prefix
				f.name = fileNamed(both[half+1:], "b/")
			}
		case f == nil:
		case strings.HasPrefix(line, "+++ "):
			f.name = cmp.Or(fileNamed(strings.TrimSuffix(line[len("+++ "):], "\t"), "b/"), f.name)
		case strings.HasPrefix(line, "--- "):
			f.name = cmp.Or(fileNamed(strings.TrimSuffix(line[len("--- "):], "\t"), "a/"), f.name)
		case strings.HasPrefix(line, "@@ "):
			old, oldLeft, new, newLeft = hunk(line)
			first = true
		}
	}
	return all
}

// begins reports whether a line of a diff is none of a hunk's that is being read, but the first of the next hunk or file.
func begins(line string) bool {
	return strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "@@ -")
}

// fileNamed is the name of a file in the head of a diff, where git quotes some; "" if it has not that prefix. A name with control characters
// stays as git has quoted it: it is shown, and it must not look like lines of its own.
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

// hunk reads @@ -old,count +new,count @@.
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

// diffPart is a part of a diff that fits into a question.
type diffPart struct {
	text  string
	files map[string][]diffLine // what it shows of each
}

// maxDiffLine is how much of one line is shown at a time, in bytes: a longer one is shown in pieces, each on a line.
const maxDiffLine = 500

// pieces are the parts of a line that are shown each on its own. Characters stay whole.
func pieces(text string) (all []string) {
	for len(text) > maxDiffLine {
		at := maxDiffLine
		for at > maxDiffLine-utf8.UTFMax && !utf8.RuneStart(text[at]) {
			at--
		}
		all, text = append(all, text[:at]), text[at:]
	}
	return append(all, text)
}

// named is the file of a part that an answer means, which has read its name as a question shows it.
func (p diffPart) named(file string) string {
	if _, here := p.files[file]; here {
		return file
	}
	for name := range p.files {
		if prompts.Shown(name) == file {
			return name
		}
	}
	return file
}

// goesOn is put before each piece of a line but the first.
const goesOn = "[the same line goes on] "

// partsOf cuts a diff into parts of at most room bytes, which is a few lines at least. Each part says which files and lines it shows.
func partsOf(files []diffFile, room int) []diffPart {
	var all []diffPart
	var b strings.Builder
	shown := map[string][]diffLine{}
	end := func() {
		if b.Len() > 0 {
			all = append(all, diffPart{b.String(), shown})
			b.Reset()
			shown = map[string][]diffLine{}
		}
	}
	for _, f := range files {
		head := "--- a/" + f.name + "\n+++ b/" + f.name + "\n"
		if len(f.lines) == 0 {
			head += "(no lines to show: it is binary or empty, or its mode changed)\n"
		}
		if b.Len()+len(head)+maxDiffLine > room {
			end()
		}
		b.WriteString(head)
		shown[f.name] = nil
		begin := true
		for _, l := range f.lines {
			at := fmt.Sprintf("@@ -%d +%d @@\n", l.old, l.new)
			for i, text := range pieces(l.text) {
				if i > 0 {
					text = goesOn + text
				}
				if b.Len()+len(at)+len(text)+2 > room && !begin {
					end()
					b.WriteString(head)
					begin = true
				}
				if begin || l.first && i == 0 {
					b.WriteString(at)
					begin = false
				}
				b.WriteString(string(l.mark) + text + "\n")
				shown[f.name] = append(shown[f.name], diffLine{l.mark, text, l.old, l.new, l.first})
			}
		}
	}
	end()
	return all
}
