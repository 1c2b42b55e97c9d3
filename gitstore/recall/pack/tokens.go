package pack

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens a text takes, at the upper end of what the vocabularies in use
// make of it: a token for every five letters a-z of a word or of a part of one that a capital
// begins, for every two digits, and for every other ASCII character but single spaces; 1¾ for a Han
// character, 1½ for one of Hangul, 1¼ for one of kana, ¾ for one of Latin, Greek or Cyrillic, half
// its bytes for any other. It is never less than a quarter of the bytes, which is how some clients
// count. The estimates of lines, each with its line feed, add up to no less than that of their
// text.
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

// quartersOf is what a character takes that is no letter or digit of ASCII, in quarters of a token.
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
