package worktree

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// near is the number of lines around a finding that belong to its code: changing one changes the
// code.
const near = 1

// hunk is a place where two versions of a file differ: lines from..from+old-1 became to..to+new-1.
// A side without lines gives the line before its place.
type hunk struct{ from, old, to, new int }

// fileDiff describes the change of one file.
type fileDiff struct {
	name  string // now; "" if it is gone
	whole bool   // its lines are unknown, as in a binary file
	hunks []hunk
}

// lineDiff maps old names to the changes of files between two commits. Unchanged files are missing.
type lineDiff map[string]fileDiff

// diffLines asks git for the lines that differ between two commits. It follows renamed files.
func diffLines(ctx context.Context, repo *git.Repo, from, to string) (lineDiff, error) {
	if from == to || from == "" {
		return nil, nil
	}
	out, err := repo.Git(ctx, nil, "-c", "core.quotePath=false", "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix", "-U0", "-M", "--inter-hunk-context=0", from, to, "--")
	if err != nil {
		return nil, err
	}
	return parseLines(string(out))
}

// parseLines reads a diff without context.
func parseLines(text string) (lineDiff, error) {
	d := lineDiff{}
	old, current := "", fileDiff{}
	put := func() {
		if old != "" {
			d[old] = current
		}
		old, current = "", fileDiff{}
	}
	left := 0 // remaining content lines of a hunk
	for line := range strings.SplitSeq(text, "\n") {
		if left > 0 && !strings.HasPrefix(line, `\`) {
			left--
			continue
		}
		switch {
		case strings.HasPrefix(line, "diff --git "):
			put()
		case strings.HasPrefix(line, "rename from "):
			old = unquoted(line[len("rename from "):])
		case strings.HasPrefix(line, "rename to "):
			current.name = unquoted(line[len("rename to "):])
		case strings.HasPrefix(line, "Binary files "):
			a, b, _ := strings.Cut(strings.TrimSuffix(line[len("Binary files "):], " differ"), " and ")
			if old == "" {
				old = unquoted(a)
				current.name = unquoted(b)
			}
			if b == "/dev/null" {
				current.name = ""
			}
			current.whole = true
		case strings.HasPrefix(line, "--- "):
			old = unquoted(strings.TrimSuffix(line[4:], "\t"))
		case strings.HasPrefix(line, "+++ "):
			if current.name = unquoted(strings.TrimSuffix(line[4:], "\t")); current.name == "/dev/null" {
				current.name = ""
			}
		case strings.HasPrefix(line, "@@ -"):
			var h hunk
			fields := strings.Fields(line)
			if len(fields) < 3 || !span(fields[1], "-", &h.from, &h.old) || !span(fields[2], "+", &h.to, &h.new) {
				return nil, fmt.Errorf("read git's diff: %q", line)
			}
			current.hunks = append(current.hunks, h)
			left = h.old + h.new
		}
	}
	put()
	return d, nil
}

// span parses one side of a hunk's head, such as -12,3 or +7.
func span(text, sign string, at, n *int) bool {
	first, count, has := strings.Cut(strings.TrimPrefix(text, sign), ",")
	var err1, err2 error
	*at, err1 = strconv.Atoi(first)
	if *n = 1; has {
		*n, err2 = strconv.Atoi(count)
	}
	return strings.HasPrefix(text, sign) && err1 == nil && err2 == nil
}

// unquoted removes the quotes of a name in git's diff.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}

// move follows a line of a file, and reports whether it, or one near it, has changed. Line 0 means
// the whole file.
func (d lineDiff) move(file string, line int) (newFile string, newLine int, changed bool) {
	f, differs := d[file]
	switch {
	case file == "":
		return file, line, len(d) > 0
	case !differs:
		return file, line, false
	case f.name == "":
		return file, line, true
	case line == 0 || f.whole:
		return f.name, line, f.whole || len(f.hunks) > 0
	}
	newLine = line
	for _, h := range f.hunks {
		first, last := h.from, h.from+h.old-1
		if h.old == 0 { // after h.from
			first, last = h.from+1, h.from
		}
		if first <= line+near && last >= line-near {
			changed = true
		}
		if line < first {
			break
		}
		if line <= last { // it was replaced by the line in its place, if there are as many
			return f.name, max(h.to+min(line-first, h.new-1), 1), true
		}
		newLine += h.new - h.old
	}
	return f.name, newLine, changed
}
