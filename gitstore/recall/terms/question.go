package terms

import (
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/pattern"
)

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
