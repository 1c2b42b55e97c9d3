package terms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// abbreviated is the number of digits in a short hash.
const abbreviated = 7

// flush emits the current word: whole, and its parts if it has several.
func (a *Analyzer) flush() {
	word := a.word
	a.word = a.word[:0]
	for len(word) > 0 && word[len(word)-1] == '_' {
		word = word[:len(word)-1]
	}
	whole := a.lower(word)
	switch {
	case whole == "":
		return
	case slices.Contains(word, '.'):
		a.version(whole)
	case isHash(whole):
		a.emit(whole, false, false)
		if len(whole) > abbreviated {
			a.emit(whole[:abbreviated], false, true)
		}
	case len(a.split(word)) < 2:
		a.plain(whole, false)
	default:
		if !a.stops(whole) {
			a.stemmed(whole, true, false)
		}
		for _, p := range a.parts {
			if len(p) > 1 || unicode.IsDigit(p[0]) {
				a.plain(a.lower(p), true)
			}
		}
	}
	a.at++
}

// plain emits a word of one part.
func (a *Analyzer) plain(word string, part bool) {
	switch {
	case word == "" || a.stops(word):
	case stop.Has(word): // the text has nothing else
		a.emit(word, false, part)
	default:
		a.stemmed(word, classAt(word) == letter, part)
	}
}

// stemmed emits a word's stem.
func (a *Analyzer) stemmed(word string, gram, part bool) {
	a.emit(a.Stem(word), gram, part)
	a.out[len(a.out)-1].Written = word
}

// stops reports whether a word is dropped.
func (a *Analyzer) stops(word string) bool { return !a.all && stop.Has(word) }

// version emits a number with points, and its usual short form: 1.2.3 is 1.2 too.
func (a *Analyzer) version(word string) {
	word = strings.TrimLeft(word, "v")
	a.emit(word, false, false)
	if major, rest, _ := strings.Cut(word, "."); strings.Contains(rest, ".") {
		minor, _, _ := strings.Cut(rest, ".")
		a.emit(major+"."+minor, false, true)
	}
}

// isHash reports whether a word is a hexadecimal hash: at least seven digits, with letters and
// figures alternating more than once.
func isHash(word string) bool {
	if len(word) < abbreviated {
		return false
	}
	borders := 0
	for i := range len(word) {
		c := word[i]
		if (c < '0' || '9' < c) && (c < 'a' || 'f' < c) {
			return false
		}
		if i > 0 && (c <= '9') != (word[i-1] <= '9') {
			borders++
		}
	}
	return borders > 1
}

// split splits an identifier at underscores, between letters and digits, and by camelCase, as in
// HTTPServer.
func (a *Analyzer) split(word []rune) [][]rune {
	a.parts = a.parts[:0]
	from := 0
	cut := func(to int) {
		if to > from {
			a.parts = append(a.parts, word[from:to])
		}
		from = to
	}
	for i, r := range word {
		if r == '_' {
			cut(i)
			from = i + 1
			continue
		}
		if i == from {
			continue
		}
		before := word[i-1]
		switch {
		case unicode.IsMark(r), r == '+', r == '#':
		case unicode.IsDigit(r) != unicode.IsDigit(before),
			unicode.IsUpper(r) && unicode.IsLower(before),
			unicode.IsUpper(r) && unicode.IsUpper(before) && i+1 < len(word) && unicode.IsLower(word[i+1]):
			cut(i)
		}
	}
	cut(len(word))
	return a.parts
}

// maxStem bounds a word with a stem, in bytes; maxStems bounds the cached stems.
const (
	maxStem  = 23
	maxStems = 1 << 16
)

// Stem returns the stem of an English word in lower case. Other words are returned unchanged.
func (a *Analyzer) Stem(word string) string {
	if len(word) < 3 || len(word) > maxStem || strings.IndexFunc(word, func(r rune) bool { return r < 'a' || 'z' < r }) >= 0 {
		return word
	}
	if s, ok := a.stems[word]; ok {
		return s
	}
	if a.stems == nil || len(a.stems) >= maxStems {
		a.stems = map[string]string{}
	}
	s := english.Stem(word, true)
	a.stems[word] = s
	return s
}

// emit adds a token.
func (a *Analyzer) emit(text string, gram, part bool) {
	if len(text) > MaxTerm {
		n := MaxTerm
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	a.out = append(a.out, Token{Text: text, Field: a.field, Word: a.at, Passage: a.passage, Gram: gram, Part: part})
}

// Question words of Chinese, Japanese and Korean add nothing to a search, like stop words. In
// Chinese and Japanese, without spaces, the pairs of their own characters are dropped. In Korean a
// question word begins a word with particles: the whole word is dropped. Only queries drop them; a
// document may be about one.
var (
	asksJoined = pattern.NewWords(`怎 怎么 怎麼 怎样 怎樣 怎么样 怎麼樣 如何 什么 什麼 甚么 甚麼 什么样 什麼樣 为什么 為什麼 为何 為何 何时 何处 何處 哪 哪里 哪裡 哪裏 哪儿 哪兒 哪个 哪個 哪些
		哪一个 哪一個 谁 誰 多少 是否 吗 嗎 呢 请问 請問
		どうやって どうやったら どうすれば どうして どのように どのような どんな どこ どちら どれくらい どれ なぜ だれ 何故`)
	// asksKorean begin words that continue with particles.
	asksKorean = pattern.NewWords(`어떻 어떤 어디 어느 언제 얼마 무엇 무슨 누가 누구`)
	asksAlone  = pattern.NewWords(`왜 뭐 뭘 몇`)
)

// longestQuestion is the length in characters of the longest word in asksJoined.
const longestQuestion = 6

// question returns the question word that a text begins with, or ""; begins says whether a run of
// joined script begins there.
func question(text string, begins bool) string {
	if r, _ := utf8.DecodeRuneInString(text); isHangul(r) {
		word := text[:len(text)-len(strings.TrimLeftFunc(text, isHangul))]
		if begins && (asksAlone.Has(word) || len(word) >= 2*hangulSize && asksKorean.Has(word[:2*hangulSize])) {
			return word
		}
		return ""
	}
	longest := ""
	for n, chars := 0, 0; chars < longestQuestion && n < len(text); chars++ {
		_, size := utf8.DecodeRuneInString(text[n:])
		if n += size; asksJoined.Has(text[:n]) {
			longest = text[:n]
		}
	}
	return longest
}

// hangulSize is the length of a Hangul syllable in bytes.
const hangulSize = 3

func isHangul(r rune) bool { return 0xAC00 <= r && r <= 0xD7A3 }
