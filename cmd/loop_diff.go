package cmd

import (
	"fmt"
	"strconv"
	"strings"
)

// diffFile is one file of a diff.
type diffFile struct {
	name  string // as the diff has it; of a file that is gone, the old one
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
		case oldLeft > 0 || newLeft > 0:
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
			if a, b, found := strings.Cut(strings.TrimPrefix(line, "diff --git a/"), " b/"); found && a == b {
				f.name = a // it may have no lines
			}
		case f == nil:
		case strings.HasPrefix(line, "+++ b/"), strings.HasPrefix(line, "--- a/"):
			f.name = strings.TrimSuffix(line[len("+++ b/"):], "\t")
		case strings.HasPrefix(line, "@@ "):
			old, oldLeft, new, newLeft = hunk(line)
			first = true
		}
	}
	return all
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

// maxDiffLine is how much of one line is shown, in bytes.
const maxDiffLine = 500

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
			text := l.text
			if len(text) > maxDiffLine {
				text = cutOff(text, maxDiffLine) + " […]"
			}
			at := fmt.Sprintf("@@ -%d +%d @@\n", l.old, l.new)
			if b.Len()+len(at)+len(text)+2 > room && !begin {
				end()
				b.WriteString(head)
				begin = true
			}
			if begin || l.first {
				b.WriteString(at)
				begin = false
			}
			b.WriteString(string(l.mark) + text + "\n")
			shown[f.name] = append(shown[f.name], diffLine{l.mark, text, l.old, l.new, l.first})
		}
	}
	end()
	return all
}
