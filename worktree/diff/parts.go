package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Part is a part of a diff that fits into a question.
type Part struct {
	Text  string
	Files map[string][]Line // the shown lines of each file; each piece of a long line
}

// MaxLine bounds the bytes shown on one line: a longer line is split over several.
const MaxLine = 500

// pieces splits a line into the parts that are shown separately. Characters stay whole.
func pieces(text string) (all []string) {
	for len(text) > MaxLine {
		at := MaxLine
		for at > MaxLine-utf8.UTFMax && !utf8.RuneStart(text[at]) {
			at--
		}
		all, text = append(all, text[:at]), text[at:]
	}
	return append(all, text)
}

// goesOn precedes each piece of a line except the first.
const goesOn = "[the same line goes on] "

// Parts splits a diff into parts of at most room bytes, which is a few lines at least. Each part
// lists its files and lines.
func Parts(files []File, room int) []Part {
	var all []Part
	var b strings.Builder
	shown := map[string][]Line{}
	end := func() {
		if b.Len() > 0 {
			all = append(all, Part{b.String(), shown})
			b.Reset()
			shown = map[string][]Line{}
		}
	}
	for _, f := range files {
		head := "--- a/" + f.Name + "\n+++ b/" + f.Name + "\n"
		if len(f.Lines) == 0 {
			head += "(no lines to show: it is binary or empty, or its mode changed)\n"
		}
		if b.Len()+len(head)+MaxLine > room {
			end()
		}
		b.WriteString(head)
		shown[f.Name] = nil
		begin := true
		for _, l := range f.Lines {
			at := fmt.Sprintf("@@ -%d +%d @@\n", l.Old, l.New)
			for i, text := range pieces(l.Text) {
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
				b.WriteString(string(l.Mark) + text + "\n")
				shown[f.Name] = append(shown[f.Name], Line{l.Mark, text, l.Old, l.New, l.first})
			}
		}
	}
	end()
	return all
}
