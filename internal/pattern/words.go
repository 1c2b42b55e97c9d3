package pattern

import (
	"strings"
	"sync"
)

// Words is a set of words.
type Words struct {
	text string
	once sync.Once
	set  map[string]struct{}
}

// NewWords names the words of a text, which white space parts.
func NewWords(text string) *Words { return &Words{text: text} }

// Has reports whether a word is one of them.
func (w *Words) Has(word string) bool {
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
