package tell

import (
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/term"
)

// maxLine bounds a line of a list, in cells. The screen cuts it to its width.
const maxLine = 1000

// Line returns text as one line of a list.
func Line(text string) string { return term.OneLine(text, maxLine) }

// Colour returns the colour of a kind, or that of a memory with caveats.
func Colour(k record.Kind, caveats bool) string {
	if caveats {
		return "\x1b[33m" // yellow
	}
	switch k {
	case record.Constraint, record.Failure:
		return term.Red
	case record.Convention, record.Preference:
		return term.Green
	case record.Decision:
		return "\x1b[36m" // cyan
	case record.Workflow, record.Pattern:
		return "\x1b[34m" // blue
	}
	return term.Dim
}
