package inbox

import (
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Run is a sequence of words in the difference of two texts.
type Run struct {
	Text        string
	Gone, Fresh bool // only the first text has it, or only the second
}

// Words compares two texts word by word. White space does not count.
func Words(before, after string) (runs []Run) {
	lines := func(s string) string {
		var b strings.Builder
		for _, word := range strings.Fields(s) {
			b.WriteString(word + "\n")
		}
		return b.String()
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // the answer must not depend on the clock
	a, b, words := d.DiffLinesToRunes(lines(before), lines(after))
	for _, part := range d.DiffMainRunes(a, b, false) {
		var text []string
		for _, r := range part.Text {
			text = append(text, strings.TrimSuffix(words[r], "\n"))
		}
		runs = append(runs, Run{strings.Join(text, " "), part.Type == diffmatchpatch.DiffDelete, part.Type == diffmatchpatch.DiffInsert})
	}
	return runs
}

// marked writes runs as one text, with [-gone-] and {+fresh+} words.
func marked(runs []Run) string {
	var out []string
	for _, r := range runs {
		switch {
		case r.Gone:
			r.Text = "[-" + r.Text + "-]"
		case r.Fresh:
			r.Text = "{+" + r.Text + "+}"
		}
		out = append(out, r.Text)
	}
	return strings.Join(out, " ")
}
