package record

import (
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Bounds of a line merge. A comparison takes time quadratic in the lines, and the number of
// comparisons is quadratic in the texts. Bounds on counts, unlike bounds on time, give the same
// answer everywhere.
const (
	maxMergeLines = 1000 // of each text
	maxJoined     = 8    // texts
)

// joins caches merged texts, because a file's history repeats the same joins.
type joins map[[3]string]joined

type joined struct {
	text string
	ok   bool
}

// lines is mergeLines with a cache.
func (j *joins) lines(origin, a, b string) (merged string, ok bool) {
	key := [3]string{origin, a, b}
	known, found := (*j)[key]
	if !found {
		known.text, known.ok = mergeLines(origin, a, b)
		(*j)[key] = known
	}
	return known.text, known.ok
}

// hunk is a changed range of lines, from start up to end.
type hunk struct {
	start, end int
	lines      []string
}

// mergeLines merges the changes of two texts with a common origin. As in git, at least one
// unchanged line must separate changes of different sides. Equal changes count as one.
func mergeLines(origin, a, b string) (merged string, ok bool) {
	base := strings.Split(origin, "\n")
	if max(len(base), 1+strings.Count(a, "\n"), 1+strings.Count(b, "\n")) > maxMergeLines {
		return "", false
	}
	x, y := hunks(origin, a), hunks(origin, b)
	var out []string
	at := 0
	take := func(h hunk) {
		out = append(append(out, base[at:h.start]...), h.lines...)
		at = h.end
	}
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].end < y[0].start:
			take(x[0])
			x = x[1:]
		case len(x) == 0 || y[0].end < x[0].start:
			take(y[0])
			y = y[1:]
		case x[0].start == y[0].start && x[0].end == y[0].end && slices.Equal(x[0].lines, y[0].lines):
			take(x[0])
			x, y = x[1:], y[1:]
		default:
			return "", false
		}
	}
	merged = strings.Join(append(out, base[at:]...), "\n")
	statement, _, _ := strings.Cut(merged, "\n")
	return merged, strings.TrimSpace(statement) != "" && len(statement) <= MaxText
}

// hunks returns the changes from one text to another, by lines.
func hunks(from, to string) []hunk {
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // the answer must not depend on the clock
	a, b, lines := d.DiffLinesToRunes(from+"\n", to+"\n")
	var all []hunk
	at := 0
	open := false
	for _, part := range d.DiffMainRunes(a, b, false) {
		n := len([]rune(part.Text))
		if part.Type == diffmatchpatch.DiffEqual {
			at, open = at+n, false
			continue
		}
		if !open {
			all, open = append(all, hunk{start: at, end: at}), true
		}
		h := &all[len(all)-1]
		if part.Type == diffmatchpatch.DiffDelete {
			at += n
			h.end = at
			continue
		}
		for _, r := range part.Text {
			h.lines = append(h.lines, strings.TrimSuffix(lines[r], "\n"))
		}
	}
	return all
}
