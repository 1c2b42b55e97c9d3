package worktree

import (
	"context"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/worktree/diff"
)

// near is the number of lines around a finding that belong to its code: changing one changes the
// code.
const near = 1

// lineDiff maps old names to the changes of files between two commits. Unchanged files are missing;
// added ones share the name "".
type lineDiff map[string]diff.File

// diffLines asks git for the lines that differ between two commits. It follows renamed files.
func diffLines(ctx context.Context, repo *git.Repo, from, to string) (lineDiff, error) {
	if from == to || from == "" {
		return nil, nil
	}
	out, err := repo.Git(ctx, nil, "-c", "core.quotePath=false", "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "-U0", "-M", "--inter-hunk-context=0", from, to, "--")
	if err != nil {
		return nil, err
	}
	d := lineDiff{}
	for _, f := range diff.Parse(string(out)) {
		d[f.Was] = f
	}
	return d, nil
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
	case f.Gone:
		return file, line, true
	case line == 0 || f.Binary:
		return f.Name, line, f.Binary || len(f.Hunks) > 0
	}
	newLine = line
	for _, h := range f.Hunks {
		first, last := h.Old, h.Old+h.OldLines-1
		if h.OldLines == 0 { // after h.Old
			first, last = h.Old+1, h.Old
		}
		if first <= line+near && last >= line-near {
			changed = true
		}
		if line < first {
			break
		}
		if line <= last { // it was replaced by the line in its place, if there are as many
			return f.Name, max(h.New+min(line-first, h.NewLines-1), 1), true
		}
		newLine += h.NewLines - h.OldLines
	}
	return f.Name, newLine, changed
}
