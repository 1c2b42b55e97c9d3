// Package cut shortens texts that are too long, and never splits a character of UTF-8.
package cut

import (
	"strings"
	"unicode/utf8"
)

// mark replaces the removed text.
const mark = "…"

// Bytes returns at most the first n bytes of a text.
func Bytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Marked returns at most n bytes of a text, with an ellipsis at the end if it was cut. n is at
// least 3, the length of the ellipsis.
func Marked(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Bytes(text, n-len(mark)) + mark
}

// Tail returns the last n bytes of a text, as UTF-8, after a mark if it was cut.
func Tail(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return "[" + mark + "]\n" + strings.ToValidUTF8(text[len(text)-n:], "")
}
