// Package unseen recognises characters that a reader does not see or mistakes for others. Control
// judges one character by itself; Names and Reveal consider its neighbours.
//
// The rules for files and questions are narrower and documented elsewhere: in gitstore/record for
// the form of a memory, in prompts for a model's input.
package unseen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/clipperhouse/displaywidth"
)

// Control reports whether a character is a control or a format character, or a line end other than
// a line feed. It can move a cursor, hide text, or reverse it. Line feeds, tabs and joiners count
// too.
func Control(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// Visible writes characters that could move a cursor, hide text or reverse it as ^X or <U+XXXX>.
// Tabs and line feeds stay, and joiners between characters that join.
func Visible(s string) string {
	if strings.IndexFunc(s, moves) < 0 {
		return s
	}
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case !moves(r), Joins(runes, i):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteString("^" + string(r+'@'))
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// OneLine returns text as one visible line of at most width cells, with an ellipsis if cut.
func OneLine(s string, width int) string {
	return displaywidth.TruncateString(Visible(strings.Join(strings.Fields(s), " ")), width, "…")
}

// moves reports whether Visible escapes a character.
func moves(r rune) bool {
	switch r {
	case '\n', '\t', '\ufe0f':
		return false
	}
	return Control(r) || r == unicode.ReplacementChar
}

// Always reports whether a character is invisible everywhere or changes how others appear:
// controls, direction marks, characters without width, tags, and the variation selectors that carry
// data. White space does not count.
func Always(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r == '\u200d' || r == '\u200c' || r == '\ufe0f' || r == '\ufe0e': // judged by their neighbours
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef, r >= 0xe0000 && r <= 0xe007f:
		return true
	case r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || r == '\u2800' || r == '\u034f' || r == '\u17b4' || r == '\u17b5':
		return true
	}
	return Control(r) && !arabicSign(r)
}

// arabicSign reports whether a format character is visible.
func arabicSign(r rune) bool {
	return r >= 0x600 && r <= 0x605 || r == 0x6dd || r == 0x70f || r == 0x8e2 || r == 0x890 || r == 0x891 || r == 0x110bd || r == 0x110cd
}

// maxNames bounds the characters of one line that are named.
const maxNames = 5

// Names lists the unseen characters of a line, each once, as in "U+200B U+202E", at most five.
// Joiners are fine where a script or an emoji needs them, but not between letters that never join.
func Names(line string) string {
	var found []string
	runes := []rune(strings.TrimPrefix(line, "\ufeff"))
	for i, r := range runes {
		if len(found) == maxNames || !conceals(runes, i) {
			continue
		}
		if name := fmt.Sprintf("U+%04X", r); !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return strings.Join(found, " ")
}

// Reveal writes every unseen character as <U+200B>.
func Reveal(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= unicode.MaxASCII }) < 0 {
		return s
	}
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		if conceals(runes, i) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// conceals reports whether a character is unseen in its place.
func conceals(runes []rune, i int) bool {
	switch r := runes[i]; r {
	case '\u200d', '\u200c':
		return !Joins(runes, i)
	case '\ufe0f', '\ufe0e':
		return i == 0 || runes[i-1] == r || unicode.IsLetter(runes[i-1]) || unicode.IsSpace(runes[i-1])
	case unicode.ReplacementChar:
		return false
	default:
		return Always(r) && !flag(runes, i)
	}
}

// Joins reports whether a character is a joiner between others that join, as in Persian and emoji.
func Joins(runes []rune, i int) bool {
	return (runes[i] == '\u200c' || runes[i] == '\u200d') && i > 0 && i < len(runes)-1 && !unjoined(runes[i-1]) && !unjoined(runes[i+1])
}

// flag reports whether a character is one of the few tags after a black flag that make it the flag
// of a region.
func flag(runes []rune, i int) bool {
	isTag := func(i int) bool { return i < len(runes) && runes[i] > 0xe0000 && runes[i] <= 0xe007f }
	from, to := i, i
	for from > 0 && i-from < 8 && isTag(from-1) {
		from--
	}
	for to-i < 8 && isTag(to+1) {
		to++
	}
	return isTag(i) && from > 0 && runes[from-1] == '\U0001f3f4' && to-from < 7 && runes[to] == 0xe007f
}

// unjoined reports whether a character never joins with others.
func unjoined(r rune) bool {
	return r < 0x80 || unicode.IsSpace(r) || unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Han)
}
