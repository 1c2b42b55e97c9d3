package term

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Text is fitted to a terminal by cells: a Chinese character or an emoji takes two, a combining
// mark zero. A grapheme is never cut, and neither is a command, which a person may copy. If the
// output is not a terminal, lines keep their length.

// Styled is a piece of text in one style: one of the style constants, or none.
type Styled struct{ Style, Text string }

// Span is text in a style.
func Span(style, text string) Styled { return Styled{style, text} }

// Bounds of fitted text, in cells.
const (
	MaxMeasure = 100 // longer lines of running text are hard to read
	MinMeasure = 24  // beside an indentation; with less, the indentation shrinks
	NarrowHang = 4   // to this width
	minPart    = 8   // of an overlong word, at the end of a line
)

// OneLine returns text as one visible line of at most width cells.
func OneLine(s string, width int) string { return unseen.OneLine(s, width) }

// Truncate cuts s to width cells, with an ellipsis if cut.
func Truncate(s string, width int) string { return displaywidth.TruncateString(s, width, "…") }

// Pad fills s with spaces to width cells.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-displaywidth.String(s)))
}

// Columns formats rows as lines with their first n cells in columns, two spaces apart.
func Columns(n int, rows [][]string) (lines []string) {
	width := make([]int, n)
	for _, row := range rows {
		for i, cell := range row[:min(len(row), n)] {
			width[i] = max(width[i], displaywidth.String(cell))
		}
	}
	for _, row := range rows {
		for i := range row[:min(len(row)-1, n)] {
			row[i] = Pad(row[i], width[i])
		}
		lines = append(lines, strings.Join(row, "  "))
	}
	return lines
}

// Beside returns text as one line for the screen's room beside used cells, or whole without a
// screen.
func (t *Terminal) Beside(used int, s string) string {
	if !t.Screen {
		return Visible(strings.Join(strings.Fields(s), " "))
	}
	return OneLine(s, max(MinMeasure, t.Width-used))
}

// Brief is Beside for possibly long text that only needs to be recognised.
func (t *Terminal) Brief(used int, s string) string { return OneLine(t.Beside(used, s), 240) }

// Hang returns the indentation of further lines under a column, or a small one on a narrow screen.
func (t *Terminal) Hang(column int) int {
	if t.Screen && t.Width-column < MinMeasure {
		return min(column, NarrowHang)
	}
	return column
}

// Lay writes spans as a line. On a screen it breaks an overlong line between words, and indents
// further lines by hang cells.
func (t *Terminal) Lay(hang int, spans ...Styled) { t.LayIn(t.Width, hang, "", spans) }

// LayIn is Lay for lines of at most width cells, with rest at the beginning of further lines, after
// their indentation.
func (t *Terminal) LayIn(width, hang int, rest string, spans []Styled) {
	_, _ = io.WriteString(t.Out, t.Fitted(width, hang, rest, spans))
}

// Fitted returns the text that LayIn writes.
func (t *Terminal) Fitted(width, hang int, rest string, spans []Styled) string {
	lines := [][]Styled{spans}
	if last := len(spans) - 1; !t.Screen && last >= 0 {
		spans[last].Text = strings.TrimRight(spans[last].Text, " ")
	} else if t.Screen {
		hang = t.Hang(hang)
		lines = flow(spans, width, width-hang-displaywidth.String(rest))
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", hang) + rest)
		}
		for _, s := range line {
			if s.Style != "" && strings.TrimSpace(s.Text) != "" {
				s.Text = t.Paint(s.Style, s.Text)
			}
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Labelled writes "label: text" after an indentation.
func (t *Terminal) Labelled(indent int, colour, label, text string) {
	t.Lay(indent+2, Styled{"", strings.Repeat(" ", indent)}, Styled{colour, Visible(label) + ":"}, Styled{"", " " + Visible(text)})
}

// Row writes a name, padded to width cells, and a value that may exceed a line.
func (t *Terminal) Row(width int, name, value string) {
	t.Lay(width+1, Styled{Dim, Pad(name, width)}, Styled{"", " " + Visible(value)})
}

// Indent writes Markdown with a prefix before every line. On a screen it breaks longer lines
// between words, with list items under their own text; code and tables stay.
func (t *Terminal) Indent(prefix, text string) {
	width := min(t.Width, MaxMeasure+displaywidth.String(prefix))
	fence, inList := "", false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(Visible(line), " ")
		inner := strings.TrimLeft(line, " \t")
		at := len(line) - len(inner)
		mark := listMark(inner)
		as := fence != "" || strings.HasPrefix(inner, "|") || at >= 4 && !inList && mark == 0 || strings.Contains(line[:at], "\t")
		switch {
		case fence != "" && strings.HasPrefix(inner, fence) && strings.Trim(inner, fence[:1]) == "":
			fence = ""
		case fence == "" && (strings.HasPrefix(inner, "```") || strings.HasPrefix(inner, "~~~")):
			fence, as = inner[:len(inner)-len(strings.TrimLeft(inner, inner[:1]))], true
		}
		if inner != "" && fence == "" {
			inList = mark > 0 || inList && at > 0
		}
		if as || !t.Screen || line == "" {
			_, _ = fmt.Fprintln(t.Out, strings.TrimRight(prefix+line, " "))
			continue
		}
		rest := ""
		if strings.HasPrefix(inner, "> ") {
			rest = "> "
		}
		hang := displaywidth.String(prefix) + at + mark
		if strings.TrimSpace(prefix) != "" { // it marks every line
			rest, hang = prefix+strings.Repeat(" ", at+mark)+rest, 0
		}
		t.LayIn(width, hang, rest, []Styled{{"", prefix + line}})
	}
}

// listMark returns the bytes of a list item's mark with the spaces behind it, or 0.
func listMark(line string) int {
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	var end int
	switch {
	case digits > 0 && digits < 4 && len(line) > digits && (line[digits] == '.' || line[digits] == ')'):
		end = digits + 1
	case digits == 0 && line != "" && strings.IndexByte("-*+", line[0]) >= 0:
		end = 1
	default:
		return 0
	}
	if spaces := len(line[end:]) - len(strings.TrimLeft(line[end:], " ")); spaces > 0 {
		return end + spaces
	}
	return 0
}

// glyph is one grapheme: a character as the reader sees it.
type glyph struct {
	style, text string
	width       int
	joined      bool // to the one before it: no line ends between the two
}

func (g glyph) space() bool { return g.text == " " || g.text == "\t" }

// ideographic reports whether lines may break beside a character: Chinese, Japanese, emoji. Korean
// has words.
func (g glyph) ideographic() bool {
	r, _ := utf8.DecodeRuneInString(g.text)
	return g.width == 2 && !unicode.Is(unicode.Hangul, r)
}

// Characters that must not begin a line, and those that must not end one.
const (
	closing = ".,;:!?)]}%\"'’”…‥、。，．！？：；）」』】》〉〕］｝％ー々ゝゞヽヾ・ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
	opening = "([{‘“（「『【《〈〔［｛"
)

// breaks reports whether a line may end between two glyphs without a space.
func breaks(a, b glyph) bool {
	return (a.ideographic() || b.ideographic()) && !strings.Contains(opening, a.text) && !strings.Contains(closing, b.text)
}

// flow breaks spans into lines of at most first cells, and then rest cells. It breaks at spaces,
// which it drops, and beside ideographs. It breaks an overlong word after a slash, or between any
// characters. An overlong command is a longer line.
func flow(spans []Styled, first, rest int) [][]Styled {
	glyphs := glyphsOf(spans)
	var lines [][]Styled
	limit := first
	for at := 0; ; {
		width, end, slash := 0, 0, 0 // where the line may end
		i := at
		for ; i < len(glyphs); i++ {
			g := glyphs[i]
			switch {
			case g.text == "\n", g.joined:
			case g.space() && i > at && !blank(glyphs[at:i]), i > at && !glyphs[i-1].space() && breaks(glyphs[i-1], g):
				end = i
			case i > at && glyphs[i-1].text == "/":
				slash = i
			}
			if width += g.width; g.text == "\n" || width > limit && !g.space() && i > at && (!g.joined || end > 0) {
				break
			}
		}
		switch {
		case i == len(glyphs):
			return append(lines, styledOf(glyphs[at:]))
		case glyphs[i].text == "\n":
			end = i
		case end > 0 && wordWidth(glyphs[end:]) <= rest: // the current word fits into the next line
		case slash > end:
			end = slash
		case end > 0 && i-end < minPart:
		default:
			end = i
		}
		lines = append(lines, styledOf(glyphs[at:end]))
		if glyphs[end].text == "\n" {
			end++
		} else {
			for end < len(glyphs) && glyphs[end].space() {
				end++
			}
		}
		at, limit = end, max(rest, 2)
	}
}

// wordWidth returns the width of the first word, after spaces.
func wordWidth(glyphs []glyph) int {
	width := 0
	for i, g := range glyphs {
		switch {
		case g.space() && width == 0:
			continue
		case g.space() || g.text == "\n" || width > 0 && breaks(glyphs[i-1], g):
			return width
		}
		width += g.width
	}
	return width
}

func blank(glyphs []glyph) bool {
	for _, g := range glyphs {
		if !g.space() {
			return false
		}
	}
	return true
}

// glyphsOf returns the glyphs of all spans together. A glyph across spans has the style of its
// beginning.
func glyphsOf(spans []Styled) []glyph {
	var all strings.Builder
	for _, s := range spans {
		all.WriteString(s.Text)
	}
	var glyphs []glyph
	at, end := -1, 0 // the current span, and its end
	whole := commands(all.String())
	for it, pos := displaywidth.StringGraphemes(all.String()), 0; it.Next(); {
		for pos >= end {
			at++
			end += len(spans[at].Text)
		}
		for len(whole) > 0 && whole[0].end <= pos {
			whole = whole[1:]
		}
		g := glyph{spans[at].Style, it.Value(), it.Width(), len(whole) > 0 && whole[0].begin < pos}
		pos += len(g.text)
		if g.text == "\t" {
			g.width = 1
		}
		glyphs = append(glyphs, g)
	}
	return glyphs
}

// stretch is a part of a text, in bytes.
type stretch struct{ begin, end int }

// commands finds the commands of reverie and git in a text, with the punctuation behind each. A
// command in quotes ends with them. Another ends at a comma, semicolon, parenthesis or two spaces
// outside a shell's quotes.
func commands(text string) (found []stretch) {
	for at := 0; ; {
		i := strings.IndexAny(text[at:], "rg")
		if i < 0 {
			return found
		}
		begin := at + i
		if at = begin + 1; !beginsCommand(text[:begin], text[begin:]) {
			continue
		}
		at = begin + commandEnd(text[begin:], strings.HasSuffix(text[:begin], "'") || strings.HasSuffix(text[:begin], "`"))
		if space := strings.IndexAny(text[at:], " \t\n"); space >= 0 {
			at += space
		} else {
			at = len(text)
		}
		found = append(found, stretch{begin, at})
	}
}

// beginsCommand reports whether a command begins between two parts of a text: in quotes, behind a
// colon, or in a new line.
func beginsCommand(before, text string) bool {
	if !strings.HasPrefix(text, "reverie ") && !strings.HasPrefix(text, "git ") {
		return false
	}
	return before == "" || strings.HasSuffix(before, ": ") || strings.ContainsRune("\n'`", rune(before[len(before)-1]))
}

// commandEnd returns the length of the command at the beginning of a text.
func commandEnd(text string, quoted bool) int {
	in := byte(0) // the open quote
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return i
		case quoted:
			if c == '\'' || c == '`' {
				return i
			}
		case in != 0:
			if c == in {
				in = 0
			}
		case c == '\\':
			i++
		case c == '\'', c == '"':
			in = c
		case strings.HasPrefix(text[i:], " ("), strings.HasPrefix(text[i:], "  "), strings.IndexByte(";,)", c) >= 0:
			return i
		}
	}
	return len(text)
}

// styledOf converts glyphs back to spans, without trailing spaces. A tab becomes a space.
func styledOf(glyphs []glyph) []Styled {
	for len(glyphs) > 0 && glyphs[len(glyphs)-1].space() {
		glyphs = glyphs[:len(glyphs)-1]
	}
	var spans []Styled
	var text strings.Builder
	for i, g := range glyphs {
		if g.text == "\t" {
			g.text = " "
		}
		text.WriteString(g.text)
		if i+1 == len(glyphs) || glyphs[i+1].style != g.style {
			spans = append(spans, Styled{g.style, text.String()})
			text.Reset()
		}
	}
	return spans
}
