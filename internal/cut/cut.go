// Package cut shortens a text that is too long. Characters stay whole: UTF-8 stays UTF-8.
package cut

import (
	"strings"
	"unicode/utf8"
)

// mark stands for what is gone.
const mark = "…"

// Bytes is at most the first n bytes of a text.
func Bytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Marked is at most n bytes of a text; where something is gone, the last of them are an ellipsis.
// n is at least the length of that, three.
func Marked(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Bytes(text, n-len(mark)) + mark
}

// Tail returns the last n bytes of a text, as UTF-8, behind a mark where something is gone.
func Tail(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return "[" + mark + "]\n" + strings.ToValidUTF8(text[len(text)-n:], "")
}
