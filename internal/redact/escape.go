package redact

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded returns what a string literal stands for. Bytes that are not UTF-8 stay as they are.
func decoded(raw string) string { return unescaping(raw, false) }

// unescapedTwice returns what stands for a value whose literal may stand in another, as JSON in a
// transcript does. Only signs and runes lose their backslashes: paths and expressions stay.
func unescapedTwice(v string) string { return unescaping(unescaping(v, true), true) }

func unescaping(raw string, some bool) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n, r := unescape(raw, i)
		if some && r >= 0 && !(n == 2 && isOneOf(raw[i+1], "\\\"'`/")) && !(n > 2 && i+6 <= len(raw) && isHex(raw[i+2:i+6])) {
			n, r = 1, -1
		}
		if r < 0 {
			out = append(out, raw[i])
		} else {
			out = utf8.AppendRune(out, r)
		}
		i += n
	}
	return string(out)
}

// rawOffset returns where, in a string literal, byte at of what it stands for begins.
func rawOffset(raw string, at int) int {
	if strings.IndexByte(raw, '\\') < 0 {
		return at
	}
	i := 0
	for at > 0 && i < len(raw) {
		n, r := unescape(raw, i)
		if r < 0 {
			at--
		} else {
			at -= utf8.RuneLen(r)
		}
		i += n
	}
	return i
}

// unescape returns the length of what stands at raw[i] and the rune it escapes, or 1 and -1 for a
// byte as it is.
func unescape(raw string, i int) (int, rune) {
	if raw[i] != '\\' || i+1 >= len(raw) {
		return 1, -1
	}
	switch c := raw[i+1]; c {
	case 'n':
		return 2, '\n'
	case 't':
		return 2, '\t'
	case 'r':
		return 2, '\r'
	case 'b':
		return 2, '\b'
	case 'f':
		return 2, '\f'
	case 'u':
		r := hex4(raw, i+2)
		if utf16.IsSurrogate(r) {
			if i+12 <= len(raw) && raw[i+6] == '\\' && raw[i+7] == 'u' {
				if both := utf16.DecodeRune(r, hex4(raw, i+8)); both != utf8.RuneError {
					return 12, both
				}
			}
			return 6, utf8.RuneError
		}
		return 6, r
	default:
		return 2, rune(c)
	}
}

func hex4(raw string, i int) rune {
	var r rune
	for _, c := range []byte(raw[i:min(len(raw), i+4)]) {
		switch kind[c] {
		case kDigit:
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|0x20-'a'+10)
		}
	}
	return r
}
