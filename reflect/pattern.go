package reflect

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression compiled when it is first used. There are over a
// hundred of them, some with hundreds of words: compiling all took 24 ms, more than the
// commands that never reflect have for everything.
type pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func lazy(expr string) *pattern { return &pattern{expr: expr} }

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

func (p *pattern) MatchString(s string) bool              { return p.get().MatchString(s) }
func (p *pattern) FindString(s string) string             { return p.get().FindString(s) }
func (p *pattern) FindStringIndex(s string) []int         { return p.get().FindStringIndex(s) }
func (p *pattern) FindStringSubmatch(s string) []string   { return p.get().FindStringSubmatch(s) }
func (p *pattern) FindStringSubmatchIndex(s string) []int { return p.get().FindStringSubmatchIndex(s) }
func (p *pattern) FindAllString(s string, n int) []string { return p.get().FindAllString(s, n) }
func (p *pattern) Split(s string, n int) []string         { return p.get().Split(s, n) }
func (p *pattern) ReplaceAllString(s, with string) string { return p.get().ReplaceAllString(s, with) }
func (p *pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.get().FindAllStringSubmatchIndex(s, n)
}
func (p *pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.get().ReplaceAllStringFunc(s, f)
}
