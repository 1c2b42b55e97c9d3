// Package pattern provides regular expressions and sets of words that are built at first use. The
// program has over two hundred expressions, some with hundreds of words. Compiling them all at
// start takes several times as long as most commands. Patterns and Words are safe for concurrent
// use.
package pattern

import (
	"regexp"
	"strings"
	"sync"
)

// Pattern is a regular expression with the needed methods of regexp.Regexp.
type Pattern struct {
	expr  string
	built sync.Once
	re    *regexp.Regexp
}

// New returns a pattern of an expression. An invalid expression panics at its first use.
func New(expr string) *Pattern { return &Pattern{expr: expr} }

// String returns the expression.
func (p *Pattern) String() string { return p.expr }

func (p *Pattern) get() *regexp.Regexp {
	p.built.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

func (p *Pattern) MatchString(s string) bool              { return p.get().MatchString(s) }
func (p *Pattern) FindString(s string) string             { return p.get().FindString(s) }
func (p *Pattern) FindStringIndex(s string) []int         { return p.get().FindStringIndex(s) }
func (p *Pattern) FindStringSubmatch(s string) []string   { return p.get().FindStringSubmatch(s) }
func (p *Pattern) FindStringSubmatchIndex(s string) []int { return p.get().FindStringSubmatchIndex(s) }
func (p *Pattern) FindAllString(s string, n int) []string { return p.get().FindAllString(s, n) }
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.get().FindAllStringIndex(s, n)
}
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.get().FindAllStringSubmatchIndex(s, n)
}
func (p *Pattern) ReplaceAllString(s, with string) string { return p.get().ReplaceAllString(s, with) }
func (p *Pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.get().ReplaceAllStringFunc(s, f)
}
func (p *Pattern) Match(b []byte) bool            { return p.get().Match(b) }
func (p *Pattern) Split(s string, n int) []string { return p.get().Split(s, n) }

// Words is a set of words.
type Words struct {
	text  string
	built sync.Once
	set   map[string]struct{}
}

// NewWords returns the words of a text, separated by white space.
func NewWords(text string) *Words { return &Words{text: text} }

// Has reports whether a word is one of them.
func (w *Words) Has(word string) bool {
	w.built.Do(func() {
		fields := strings.Fields(w.text)
		w.set = make(map[string]struct{}, len(fields))
		for _, f := range fields {
			w.set[f] = struct{}{}
		}
	})
	_, ok := w.set[word]
	return ok
}
