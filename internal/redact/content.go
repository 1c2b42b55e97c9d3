package redact

import "strings"

// imageData reports whether base64 begins like PNG, JPEG, GIF, WebP, a font, gzip or zip.
func imageData(v string) bool {
	for _, magic := range []string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "d09GR", "d09GMg", "H4sI", "UEsDB", "JVBERi0"} {
		if strings.HasPrefix(v, magic) {
			return true
		}
	}
	return false
}

// printable reports whether b has no control characters except those of text and of a terminal's
// colours.
func printable(b []byte) bool {
	for _, c := range b {
		if kind[c] == kControl && c != 0x1b {
			return false
		}
	}
	return true
}
