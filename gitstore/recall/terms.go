package recall

import (
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/pattern"
	"golang.org/x/text/unicode/norm"
)

// Terms splits text into the terms that are compared: words in lower case without closing
// plural s, identifiers whole and in parts (camelCase, snake_case, paths), pairs of neighbours
// in runs of Han, kana and Hangul, one character where it stands alone. Words that say
// nothing are left out, unless there is nothing else.
func Terms(text string) []string {
	var all, kept []string
	eachTerm(text, func(term []byte) {
		all = append(all, string(term))
		if !stop.Has(string(term)) {
			kept = append(kept, string(term))
		}
	})
	if len(kept) == 0 {
		return all
	}
	return kept
}

// eachTerm calls fn for every term, stop words too. fn must not keep its argument.
func eachTerm(text string, fn func([]byte)) {
	text = norm.NFKC.String(text)
	var part, whole []byte // of the word at hand: its last part, and all of it
	parts := 0
	flushPart := func() {
		if len(part) > 0 {
			fn(stem(part))
			whole = append(whole, part...)
			part = part[:0]
			parts++
		}
	}
	flush := func() {
		flushPart()
		if parts > 1 {
			fn(whole)
		}
		whole, parts = whole[:0], 0
	}
	var before rune // the last character of a run of Han, kana or Hangul
	alone := false
	var pair [2 * utf8.UTFMax]byte
	endRun := func() {
		if alone {
			fn(pair[:utf8.EncodeRune(pair[:], before)])
		}
		before, alone = 0, false
	}
	var last rune
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z' && before == 0 && ('a' <= last && last <= 'z' || len(part) == 0): // most of all text
			part = append(part, byte(r))
		case r < utf8.RuneSelf && !wordByte(r), r >= utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r):
			endRun()
			if r == '_' || r == '-' || r == '.' || r == '/' {
				flushPart()
			} else {
				flush()
			}
		case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			if before != 0 {
				n := utf8.EncodeRune(pair[:], before)
				n += utf8.EncodeRune(pair[n:], r)
				fn(pair[:n])
				alone = false
			} else {
				alone = true
			}
			before = r
		default:
			endRun()
			if unicode.IsUpper(r) && unicode.IsLower(last) || unicode.IsDigit(r) != unicode.IsDigit(last) && len(part) > 0 {
				flushPart()
			}
			part = utf8.AppendRune(part, unicode.ToLower(r))
		}
		last = r
	}
	flush()
	endRun()
}

func wordByte(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// stem takes the plural off an English word: no more than that is safe without a dictionary.
func stem(w []byte) []byte {
	if n := len(w); n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i' {
		return w[:n-1]
	}
	return w
}

var stop = pattern.NewWords(`a an the and or of to in on for with is are was be it its this that do doe did how what which where when who why we
	i you my our your can should would at by from as if`)
