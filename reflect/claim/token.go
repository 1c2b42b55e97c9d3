package claim

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is a word, a mark of punctuation, or one character of a script without spaces.
type token struct {
	hash  uint32 // of its normal form
	shape shape
	start int // byte in the sentence
	end   int
}

// A shape distinguishes tokens by form alone.
type shape uint8

const (
	plain   shape = iota // a word
	ing                  // a word in -ing
	past                 // a word in -ed
	plural               // a word in -s
	adverb               // a word in -ly
	capital              // a capitalised word inside the sentence
	shouted              // a word in capitals
	symbol               // an identifier
	code                 // a code span
	path                 // a path or a file name
	address              // a URL
	number
	quoted // a quotation of more than three words
	mark   // punctuation
	han    // one character of Han, Kana
)

// maxTokens bounds the examined tokens of a sentence.
const maxTokens = 160

// tokens splits a sentence. Linear in its length.
func tokens(text string) []token {
	list := make([]token, 0, len(text)/5+4)
	for i := 0; i < len(text) && len(list) < maxTokens; {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			i += size
		case r == '`':
			n := strings.IndexByte(text[i+1:], '`')
			if n < 0 {
				i++
				continue
			}
			list = append(list, token{hashOf("`"), code, i, i + n + 2})
			i += n + 2
		case r == '"' || r == '“' || r == '«' || r == '「':
			n := quotation(text[i:], r)
			if n == 0 {
				list = append(list, token{hashOf("\""), mark, i, i + size})
				n = size
			} else {
				list = append(list, token{hashOf("\"\""), quoted, i, i + n})
			}
			i += n
		case unspaced(r):
			list = append(list, token{hashOf(text[i : i+size]), han, i, i + size})
			i += size
		case wordRune(r) || (r == '/' || r == '.' || r == '@' || r == '-' || r == '~') && i+size < len(text) && wordNext(text[i+size:]):
			n := wordLength(text[i:])
			list = append(list, wordToken(text[i:i+n], i, len(list) > 0))
			i += n
		default:
			list = append(list, token{hashOf(text[i : i+size]), mark, i, i + size})
			i += size
		}
	}
	return list
}

func wordRune(r rune) bool {
	return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)) && !unspaced(r)
}

func wordNext(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return wordRune(r)
}

// unspaced reports whether a script has no spaces between words.
func unspaced(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// wordLength returns the bytes of the word, path or name that begins a text.
func wordLength(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if wordRune(r) {
			n += size
			continue
		}
		if !strings.ContainsRune("'’/.-:@*\\#+~", r) || n+size >= len(s) {
			break
		}
		next, _ := utf8.DecodeRuneInString(s[n+size:])
		if !wordRune(next) && !(n == 0 && next == '-' || next == '/' || next == '*' || r == '/' && next == '.') {
			break
		}
		n += size
	}
	return max(n, 1)
}

// quotation returns the bytes of a quotation of more than three words at the start of a text, or 0.
func quotation(s string, open rune) int {
	last := map[rune]rune{'"': '"', '“': '”', '«': '»', '「': '」', '„': '“'}[open]
	size := utf8.RuneLen(open)
	n := strings.IndexRune(s[size:], last)
	if n < 0 || strings.Count(s[size:size+n], " ") < 3 && !(n > 30 && open == '「') {
		return 0
	}
	return size + n + utf8.RuneLen(last)
}

// wordToken normalises a word: lower case, no apostrophe, digits and names by their shape.
func wordToken(w string, at int, inside bool) token {
	t := token{start: at, end: at + len(w)}
	var upper, lower, digit, inner, dots, slashes, joints int
	for i, r := range w {
		switch {
		case unicode.IsUpper(r):
			upper++
			if i > 0 {
				inner++
			}
		case unicode.IsDigit(r):
			digit++
		case unicode.IsLetter(r):
			lower++
		case r == '/' || r == '\\':
			slashes++
		case r == '.':
			dots++
		case r == '_' || r == ':' || r == '@' || r == '#' || r == '+' || r == '*':
			joints++
		}
	}
	switch {
	case strings.Contains(w, "://") || strings.HasPrefix(w, "www."):
		t.shape = address
	case slashes > 0 && lower+upper > 0 && w != "and/or":
		t.shape = path
	case dots > 0 && lower+upper > 0 && !strings.HasSuffix(w, "."):
		t.shape = path
	case w[0] == '-':
		t.shape = symbol
	case joints > 0 || inner > 0 && lower > 0 || digit > 0 && lower+upper > 1:
		t.shape = symbol
	case digit > 0:
		t.shape = number
	case upper > 1 && lower == 0:
		t.shape = shouted
	default:
		low := strings.ToLower(strings.NewReplacer("'", "", "’", "").Replace(w))
		t.hash = hashOf(low)
		switch {
		case upper > 0 && inside:
			t.shape = capital
		case len(low) > 4 && strings.HasSuffix(low, "ing"):
			t.shape = ing
		case len(low) > 3 && strings.HasSuffix(low, "ed"):
			t.shape = past
		case len(low) > 3 && strings.HasSuffix(low, "ly"):
			t.shape = adverb
		case len(low) > 3 && strings.HasSuffix(low, "s") && !strings.HasSuffix(low, "ss"):
			t.shape = plural
		}
		return t
	}
	t.hash = hashOf(strings.ToLower(w))
	return t
}

// hashOf is FNV-1a.
func hashOf(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// mix joins two hashes.
func mix(a, b uint32) uint32 {
	h := a*0x9e3779b1 ^ b
	h ^= h >> 15
	h *= 0x85ebca77
	h ^= h >> 13
	return h
}
