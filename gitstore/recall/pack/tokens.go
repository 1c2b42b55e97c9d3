package pack

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates the tokens of a text, at the upper end of current vocabularies. It counts a
// token for every five letters a-z of a word, or of a part that begins with a capital. Every two
// digits count one, and so does every other ASCII character except single spaces. A Han character
// counts 1¾, Hangul 1½, kana 1¼, Latin, Greek or Cyrillic ¾, any other half its bytes.
//
// The result is at least a quarter of the bytes, the count of some clients. The estimates of lines,
// each with its line feed, add up to at least that of the whole text.
func Tokens(s string) int {
	quarters := 0
	letters, digits := 0, 0
	flush := func() {
		quarters += (letters+4)/5*4 + (digits+1)/2*4
		letters, digits = 0, 0
	}
	var last rune
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			if digits > 0 || r <= 'Z' && 'a' <= last && last <= 'z' {
				flush()
			}
			letters++
		case '0' <= r && r <= '9':
			if letters > 0 {
				flush()
			}
			digits++
		default:
			flush()
			quarters += quartersOf(r, last)
		}
		last = r
	}
	flush()
	return max((quarters+3)/4, (len(s)+3)/4)
}

// quartersOf returns the cost of a character other than an ASCII letter or digit, in quarters of a
// token.
func quartersOf(r, last rune) int {
	switch {
	case r == ' ':
		if last == ' ' {
			return 1
		}
		return 0
	case r < utf8.RuneSelf:
		return 4
	case r < 0x0530: // Latin, Greek, Cyrillic
		return 3
	case unicode.Is(unicode.Han, r):
		return 7
	case unicode.Is(unicode.Hangul, r):
		return 6
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return 5
	}
	return 2 * utf8.RuneLen(r)
}
