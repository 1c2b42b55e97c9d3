package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class is the effect of a character on the word before it.
type class uint8

const (
	other  class = iota // ends it
	letter              // of a script with spaces, or a mark on one
	digit
	joined // of a script looked up by pairs
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			return letter
		case '0' <= r && r <= '9':
			return digit
		}
		return other
	case Unspaced(r):
		return joined
	case unicode.IsLetter(r), unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

// Unspaced reports whether a character belongs to a script without spaces between words, or to
// Hangul, where particles join the word. The sound mark of kana belongs to no script.
func Unspaced(r rune) bool {
	switch {
	case r < 0xE00:
		return false
	case r == 'ー', 0x4E00 <= r && r <= 0x9FFF, 0x3041 <= r && r <= 0x3096, 0x30A1 <= r && r <= 0x30FA, 0xAC00 <= r && r <= 0xD7A3:
		return true
	case r == 0xFFFD, !unicode.IsLetter(r) && !unicode.IsMark(r):
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Joined reports whether a term is of a script that is looked up by pairs of characters. In a query
// each character counts too, except the last of a run. A document has it if one of its terms begins
// with it.
func Joined(term string) bool {
	return classAt(term) == joined
}

// Kana reports whether a term consists of hiragana only.
func Kana(term string) bool {
	for _, r := range term {
		if r < 0x3041 || 0x3096 < r {
			return false
		}
	}
	return term != ""
}

// classAt returns the class of the first character.
func classAt(text string) class {
	if text == "" {
		return other
	}
	r, _ := utf8.DecodeRuneInString(text)
	return classOf(r)
}

// run is a stretch of a joined script.
type run struct {
	last  string // character; "" outside of a run
	alone bool   // it is the first
}

// scan splits a text in NFKC into words.
func (a *Analyzer) scan(text string) {
	a.word = a.word[:0]
	var in run
	end := func() {
		if len(a.word) > 0 {
			a.flush()
		}
		if in.last != "" {
			if in.alone {
				a.emit(in.last, false, false)
			}
			a.at++
			in = run{}
		}
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		this, rest := text[i:i+size], text[i+size:]
		i += size
		switch classOf(r) {
		case letter, digit:
			if in.last != "" {
				end()
			}
			a.word = append(a.word, r)
		case joined:
			if len(a.word) > 0 {
				a.flush()
			}
			if in.last != "" {
				a.emit(in.last+this, false, false)
				a.at++
			}
			in = run{this, in.last == ""}
			if a.asked && !a.all {
				if word := question(text[i-size:], in.alone); word != "" { // its own pairs are left out
					i += len(word) - size
					_, size := utf8.DecodeLastRuneInString(word)
					in = run{word[len(word)-size:], false}
					a.at += uint32(utf8.RuneCountInString(word) - 1)
				}
			}
		default:
			if n := a.goesOn(r, rest); n > 0 {
				i += n - 1
				continue
			}
			end()
			a.endPassage(r, classAt(rest))
		}
	}
	end()
}

// goesOn returns the number of bytes by which the current word continues at a character that is no
// letter. The number includes that character; 0 ends the word.
func (a *Analyzer) goesOn(r rune, rest string) int {
	if len(a.word) == 0 {
		return 0
	}
	switch r {
	case '_':
		a.word = append(a.word, r)
		return 1
	case '.': // 1.2.3
		if classAt(rest) == digit && number(a.word) {
			a.word = append(a.word, r)
			return 1
		}
	case '\'', '’': // the parser's, don't
		if n := tail(rest); n > 0 {
			if rest[0] == 't' {
				a.word = append(a.word, 't')
			}
			return n + 1
		}
	case '+', '#': // C++, F#
		n := 0
		for n < len(rest) && rune(rest[n]) == r {
			n++
		}
		if len(a.word) == 1 && n < 2 && classAt(rest[n:]) == other {
			for range n + 1 {
				a.word = append(a.word, r)
			}
			return n + 1
		}
	}
	return 0
}

// sentence is the minimum number of words in a passage before the end of a sentence ends it. The
// end of a line always does.
const sentence = 12

func (a *Analyzer) endPassage(r rune, after class) {
	words := a.at - a.begun
	switch r {
	case '\n':
		if words == 0 {
			return
		}
	case '.', '!', '?', ';':
		if after != other || words < sentence {
			return
		}
	case '。', '！', '？':
		if words < sentence {
			return
		}
	default:
		return
	}
	a.passage, a.begun = next(a.passage), a.at
}

// number reports whether a word may begin a number or a version: 1, 1.2, v1.
func number(word []rune) bool {
	if word[0] == 'v' || word[0] == 'V' {
		word = word[1:]
	}
	for _, r := range word {
		if r != '.' && (r < '0' || '9' < r) {
			return false
		}
	}
	return len(word) > 0
}

// tail returns the length of an English ending after the apostrophe, such as s and ll. It is 0 if
// the rest is a word of its own.
func tail(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return classOf(r) != letter })
	if n < 0 {
		n = len(text)
	}
	switch text[:n] {
	case "s", "t", "d", "m", "ll", "re", "ve", "S", "T", "D", "M", "LL", "RE", "VE":
		return n
	}
	return 0
}

// fold strips the marks of a Latin, Greek or Cyrillic letter, takes the Turkish ı for an i, and
// gives letters of Arabic and Persian one form. It returns other characters unchanged.
func fold(r rune) rune {
	switch r {
	case 'ı':
		return 'i'
	case 'ي', 'ى':
		return 'ی'
	case 'ك':
		return 'ک'
	}
	if r < 0xC0 || r >= 0x530 && r < 0x1E00 || r > 0x1FFF {
		return r
	}
	var b [utf8.UTFMax]byte
	n := utf8.EncodeRune(b[:], r)
	if d := norm.NFD.Properties(b[:n]).Decomposition(); d != nil {
		r, _ = utf8.DecodeRune(d)
	}
	return r
}

// lower returns a word in lower case without its marks and underscores. It is good until the next.
func (a *Analyzer) lower(word []rune) string {
	a.small = a.small[:0]
	for _, r := range word {
		if r < utf8.RuneSelf {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			if r != '_' {
				a.small = append(a.small, byte(r))
			}
			continue
		}
		if r = fold(unicode.ToLower(r)); r >= 0x300 && r < 0x370 { // a mark on its own
			continue
		}
		if r == 'ß' { // in capitals it is written SS
			a.small = append(a.small, "ss"...)
			continue
		}
		a.small = utf8.AppendRune(a.small, r)
	}
	return string(a.small)
}
