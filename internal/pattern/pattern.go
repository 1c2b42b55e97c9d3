// Package pattern provides regular expressions and sets of words that are built at first use. The
// program has over two hundred expressions, some with hundreds of words. Compiling them all at
// start takes several times as long as most commands. Patterns and Words are safe for concurrent
// use.
package pattern

import (
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
)

// Pattern is a regular expression with the needed methods of regexp.Regexp. Most texts have none of
// an expression's words: a filter rejects them before the expression is compiled.
type Pattern struct {
	expr          string
	parsed, built sync.Once
	filter        *filter
	re            *regexp.Regexp
}

// New returns a pattern of an expression. An invalid expression panics at its first use.
func New(expr string) *Pattern { return &Pattern{expr: expr} }

func (p *Pattern) get() *regexp.Regexp {
	p.built.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// in returns the expression if it may match a text, and nil if it cannot.
func (p *Pattern) in(text string) *regexp.Regexp {
	p.parsed.Do(func() { p.filter = newFilter(p.expr) })
	if p.filter != nil && !p.filter.may(text) {
		return nil
	}
	return p.get()
}

func (p *Pattern) MatchString(s string) bool {
	re := p.in(s)
	return re != nil && re.MatchString(s)
}

func (p *Pattern) FindString(s string) string {
	if re := p.in(s); re != nil {
		return re.FindString(s)
	}
	return ""
}

func (p *Pattern) FindStringIndex(s string) []int {
	if re := p.in(s); re != nil {
		return re.FindStringIndex(s)
	}
	return nil
}

func (p *Pattern) FindStringSubmatch(s string) []string {
	if re := p.in(s); re != nil {
		return re.FindStringSubmatch(s)
	}
	return nil
}

func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	if re := p.in(s); re != nil {
		return re.FindStringSubmatchIndex(s)
	}
	return nil
}

func (p *Pattern) FindAllString(s string, n int) []string {
	if re := p.in(s); re != nil {
		return re.FindAllString(s, n)
	}
	return nil
}

func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	if re := p.in(s); re != nil {
		return re.FindAllStringIndex(s, n)
	}
	return nil
}

func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	if re := p.in(s); re != nil {
		return re.FindAllStringSubmatchIndex(s, n)
	}
	return nil
}

func (p *Pattern) ReplaceAllString(s, with string) string {
	if re := p.in(s); re != nil {
		return re.ReplaceAllString(s, with)
	}
	return s
}

func (p *Pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	if re := p.in(s); re != nil {
		return re.ReplaceAllStringFunc(s, f)
	}
	return s
}

func (p *Pattern) Match(b []byte) bool            { return p.get().Match(b) }
func (p *Pattern) Split(s string, n int) []string { return p.get().Split(s, n) }

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
