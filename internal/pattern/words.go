package pattern

import (
	"strings"
	"sync"
	"sync/atomic"
)

// space holds the separators of words.
const space = " \t\n\r"

// Words is a set of words.
type Words struct {
	text  string
	asked atomic.Int32
	once  sync.Once
	set   map[string]struct{}
}

// fewWords is the number of words up to which searching the text beats building a set.
const fewWords = 64

// NewWords returns the words of a text, separated by white space.
func NewWords(text string) *Words { return &Words{text: text} }

// Has reports whether a word is one of them.
func (w *Words) Has(word string) bool {
	if w.asked.Load() < fewWords && w.asked.Add(1) <= fewWords {
		return hasWord(w.text, word)
	}
	w.once.Do(func() {
		fields := strings.Fields(w.text)
		w.set = make(map[string]struct{}, len(fields))
		for _, f := range fields {
			w.set[f] = struct{}{}
		}
	})
	_, ok := w.set[word]
	return ok
}

// hasWord reports whether a text has a word between white space.
func hasWord(text, word string) bool {
	if word == "" || strings.ContainsAny(word, space) {
		return false
	}
	ends := func(i int) bool { return i < 0 || i == len(text) || strings.IndexByte(space, text[i]) >= 0 }
	for from := 0; ; from++ {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		if from += i; ends(from-1) && ends(from+len(word)) {
			return true
		}
	}
}
