package diff

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// scriptHead bounds the bytes of a file that are checked for text.
const scriptHead = 1 << 10

// isScript reports whether a content is readable as text, even if git disagrees: it names its
// interpreter, is UTF-16, or has seven of eight bytes in characters at its beginning or in total.
// NUL does not count, because shells skip it.
func isScript(text []byte) bool {
	if slices.ContainsFunc([]string{"#!", "\xff\xfe", "\xfe\xff"}, func(head string) bool { return bytes.HasPrefix(text, []byte(head)) }) {
		return true
	}
	return isText(text[:min(len(text), scriptHead)]) || isText(text)
}

func isText(text []byte) bool {
	bytes, odd := 0, 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case r == 0:
			continue
		case r == utf8.RuneError && n == 1, r < ' ' && !strings.ContainsRune("\t\n\r\f", r), r == 0x7f:
			odd++
		}
		bytes += n
	}
	return bytes > 0 && odd*8 < bytes
}
