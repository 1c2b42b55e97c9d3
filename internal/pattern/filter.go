package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A filter quickly rules out most texts that cannot match an expression: every match contains one
// of its literals. Case is ignored.
type filter struct {
	one  [256]bool           // bytes that are a literal
	two  [1 << 12]bool       // hashes of the first two bytes of a literal
	rest map[uint16][]string // longer literals by these bytes
}

// Bounds of literals: in a filter, in the product of neighbours, and in a class.
const (
	most    = 1024
	product = 128
	largest = 32
)

// newFilter returns nil if it finds no literals of which every match must contain one, or if regexp
// is as quick by itself: an expression begins with a literal, or with the beginning of the text.
func newFilter(expr string) *filter {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	first := re
	for first.Op == syntax.OpConcat || first.Op == syntax.OpCapture {
		first = first.Sub[0]
	}
	all, _ := needed(re)
	quick := first.Op == syntax.OpBeginText || first.Op == syntax.OpLiteral && first.Flags&syntax.FoldCase == 0
	if all = useful(all); len(all) == 0 || quick {
		return nil
	}
	f := &filter{rest: map[uint16][]string{}}
	for _, s := range append(all, "ſ", "\u212a") { // the last two fold to s and k
		if len(s) == 1 {
			f.one[s[0]] = true
			continue
		}
		p := uint16(s[0])<<8 | uint16(s[1])
		f.two[hash(p)] = true
		f.rest[p] = append(f.rest[p], s)
	}
	return f
}

func hash(p uint16) uint16 { return (p ^ p>>5) & (1<<12 - 1) }

// may reports whether the expression may match a text.
func (f *filter) may(text string) bool {
	for i := range len(text) {
		c := low(text[i])
		if f.one[c] {
			return true
		}
		if i+1 == len(text) {
			return false
		}
		p := uint16(c)<<8 | uint16(low(text[i+1]))
		if !f.two[hash(p)] {
			continue
		}
		for _, s := range f.rest[p] {
			if begins(text[i:], s) {
				return true
			}
		}
	}
	return false
}

// begins reports whether a text begins with a literal, which is in lower case.
func begins(text, literal string) bool {
	if len(text) < len(literal) {
		return false
	}
	for i := 2; i < len(literal); i++ {
		if low(text[i]) != literal[i] {
			return false
		}
	}
	return true
}

func low(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// needed returns strings in lower case of which every match contains one, or nil if none are known.
// If exact, each match is one of them, in some case, and nothing else.
func needed(re *syntax.Regexp) (all []string, exact bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpCapture:
		return needed(re.Sub[0])
	case syntax.OpPlus:
		all, _ = needed(re.Sub[0])
		return useful(all), false
	case syntax.OpRepeat:
		if re.Min == 0 {
			return nil, false
		}
		all, exact = needed(re.Sub[0])
		if exact = exact && re.Min == 1 && re.Max == 1; !exact {
			all = useful(all)
		}
		return all, exact
	case syntax.OpQuest:
		if all, exact = needed(re.Sub[0]); exact {
			return append([]string{""}, all...), true
		}
	case syntax.OpAlternate:
		return union(re.Sub)
	case syntax.OpConcat:
		return concat(re.Sub)
	}
	return nil, false
}

// literal returns a literal. If it has letters beyond ASCII in any case, it returns each form of
// three characters in a row.
func literal(re *syntax.Regexp) (all []string, exact bool) {
	if slices.Contains(re.Rune, utf8.RuneError) { // it also matches invalid UTF-8
		return nil, false
	}
	if re.Flags&syntax.FoldCase == 0 || !slices.ContainsFunc(re.Rune, func(r rune) bool { return len(cases(r)) > 1 }) {
		return []string{lower(string(re.Rune))}, true
	}
	const some = 3
	for from := 0; from == 0 || from+some <= len(re.Rune); from++ {
		forms := []string{""}
		for _, r := range re.Rune[from:min(from+some, len(re.Rune))] {
			forms = join(forms, cases(r))
		}
		if all == nil || chance(forms) < chance(all) {
			all = forms
		}
	}
	return all, false
}

// cases returns a letter in each case, and one of ASCII in lower case.
func cases(r rune) (all []string) {
	if r < utf8.RuneSelf {
		return []string{lower(string(r))}
	}
	all = []string{string(r)}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		all = append(all, lower(string(other)))
	}
	return all
}

// class returns the characters of a small class.
func class(ranges []rune) (all []string, exact bool) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(all) == largest || r == utf8.RuneError { // it also matches invalid UTF-8
				return nil, false
			}
			all = append(all, lower(string(r)))
		}
	}
	return all, true
}

func union(subs []*syntax.Regexp) (all []string, exact bool) {
	exact = true
	for _, sub := range subs {
		some, whole := needed(sub)
		exact = exact && whole
		if len(some) == 0 || len(all)+len(some) > most {
			return nil, false
		}
		all = append(all, some...)
	}
	if !exact {
		all = useful(all)
	}
	return all, exact
}

// concat returns the best of the parts of a sequence. It joins neighbours that are exact.
func concat(subs []*syntax.Regexp) (best []string, exact bool) {
	row, exact := []string{""}, true // the product of the last exact parts
	keep := func(all []string) {
		if all = useful(all); len(all) > 0 && (best == nil || chance(all) < chance(best)) {
			best = all
		}
	}
	for _, sub := range subs {
		some, whole := needed(sub)
		if whole && len(row)*len(some) <= product {
			row = join(row, some)
			continue
		}
		keep(row)
		exact = false
		if row = []string{""}; whole {
			row = some
		} else {
			keep(some)
		}
	}
	if exact {
		return row, true
	}
	keep(row)
	return best, false
}

// chance estimates how often a place in a text has one of some strings.
func chance(all []string) (sum float64) {
	for _, s := range all {
		each := 1.0
		for i := range len(s) {
			if at := strings.IndexByte(" etaoinsrhldcumfpgwybv", s[i]); at >= 0 {
				each *= 0.16 / (1 + 0.4*float64(at))
			} else {
				each *= 0.005
			}
		}
		sum += each
	}
	return sum
}

func join(heads, tails []string) []string {
	all := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			all = append(all, h+t)
		}
	}
	return all
}

// useful returns nil if the literals let every text pass.
func useful(all []string) []string {
	if slices.Contains(all, "") {
		return nil
	}
	return all
}

// lower is strings.ToLower for ASCII alone.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return rune(low(byte(r)))
		}
		return r
	}, s)
}
