package term

import (
	"bufio"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// CopyColoured copies lines with their colours, and makes other hidden characters visible. If hang
// is greater than 0, it fits lines to the screen and indents their rest.
func CopyColoured(t *Terminal, from *bufio.Reader, hang int) error {
	for {
		line, err := from.ReadString('\n')
		shown := visibleLine(line)
		if t.Screen && hang > 0 && line != "" {
			shown = t.Fitted(t.Width, hang, "", styledLine(strings.TrimSuffix(line, "\n")))
		}
		if _, werr := io.WriteString(t.Out, shown); werr != nil {
			return werr
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// visibleLine returns a line with its colours and without hidden characters.
func visibleLine(line string) string {
	var b strings.Builder
	eachColour(line, func(sequence, text string) {
		b.WriteString(sequence)
		b.WriteString(Visible(text))
	})
	return b.String()
}

// styledLine returns a line as spans.
func styledLine(line string) []Styled {
	var all []Styled
	style := ""
	eachColour(line, func(sequence, text string) {
		if style += sequence; sequence == "\x1b[m" || sequence == Plain {
			style = ""
		}
		if text != "" {
			all = append(all, Span(style, Visible(text)))
		}
	})
	return all
}

// eachColour cuts a line before each sequence that sets a colour.
func eachColour(line string, fn func(sequence, text string)) {
	sequence := ""
	for {
		at := colour.FindStringIndex(line)
		if at == nil {
			fn(sequence, line)
			return
		}
		fn(sequence, line[:at[0]])
		sequence, line = line[at[0]:at[1]], line[at[1]:]
	}
}

// colour matches a sequence that sets the look of text, and does nothing else.
var colour = pattern.New("\x1b\\[[0-9;]*m")

// VisibleLines is Visible for a text of several lines.
func VisibleLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		text, end := strings.CutSuffix(line, "\n")
		b.WriteString(Visible(text))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
