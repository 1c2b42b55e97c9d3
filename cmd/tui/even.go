package tui

import (
	"strings"
	"unicode/utf8"
)

// even is text of which all terminals think that it is as wide: where they do not agree, a line
// ends somewhere else than the screen is drawn for, and pieces of what was there before stay. Emoji
// that are made of several are shown as these, flags as their letters. A terminal that says that it
// knows what one character is (mode 2027) needs none of it.
func even(text string) string {
	if strings.IndexFunc(text, uneven) < 0 {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		next, _ := utf8.DecodeRuneInString(text)
		switch {
		case r >= flagA && r <= flagA+25:
			b.WriteRune('A' + r - flagA)
		case r == joiner && next < 0x2190: // of letters: those of some scripts need it
			b.WriteRune(r)
		case !uneven(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	joiner = '\u200d'
	flagA  = '\U0001f1e6' // the first of 26 letters, two of which are a flag
)

// uneven reports what joins or varies emoji.
func uneven(r rune) bool {
	return r == joiner || r == '\ufe0f' || r == '\u20e3' || r >= '\U0001f3fb' && r <= '\U0001f3ff' || r >= flagA && r <= flagA+25
}
