// Package cut takes the beginning of a text that is too long. Characters stay whole: a text that is UTF-8 is UTF-8 when it was cut.
package cut

import "unicode/utf8"

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

// Marked is at most n bytes of a text; where something is gone, the last of them are an ellipsis. n is at least the length of that,
// three.
func Marked(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Bytes(text, n-len(mark)) + mark
}
