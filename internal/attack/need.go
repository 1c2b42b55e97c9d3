package attack

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A need is a condition that a text must meet to match an expression: it contains word and meets
// every need in all, or it meets one in any. Every text meets the nil need. Few texts match any of
// the expressions, and checking their needs takes a fraction of the time of matching.
type need struct {
	word     string
	all, any []*need
}

// needOf returns the need of an expression.
func needOf(expr string) *need {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic(err) // as regexp.MustCompile would
	}
	return needed(re)
}

func needed(re *syntax.Regexp) *need {
	switch re.Op {
	case syntax.OpLiteral:
		return &need{word: fold(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		n := &need{}
		for i := 0; i < len(re.Sub); i++ {
			of := needed(re.Sub[i])
			if i+1 < len(re.Sub) {
				if joined := beginning(re.Sub[i], re.Sub[i+1]); joined != nil {
					of = joined
					i++
				}
			}
			if of != nil {
				n.all = append(n.all, of)
			}
		}
		return n
	case syntax.OpAlternate:
		n := &need{}
		for _, sub := range re.Sub {
			of := needed(sub)
			if of == nil {
				return nil
			}
			n.any = append(n.any, of)
		}
		return n
	}
	return nil
}

// beginning returns the need of a literal before alternatives that are literals, or nil. The parser
// makes them of irm|iwr, and most texts have an i and an rm somewhere.
func beginning(first, then *syntax.Regexp) *need {
	if first.Op != syntax.OpLiteral || then.Op != syntax.OpAlternate {
		return nil
	}
	n := &need{}
	for _, sub := range then.Sub {
		if sub.Op != syntax.OpLiteral {
			return nil
		}
		n.any = append(n.any, &need{word: fold(string(first.Rune) + string(sub.Rune))})
	}
	return n
}

// met reports whether a folded text meets the need.
func (n *need) met(text string) bool {
	switch {
	case n == nil:
		return true
	case n.any != nil:
		return slices.ContainsFunc(n.any, func(of *need) bool { return of.met(text) })
	}
	return strings.Contains(text, n.word) && !slices.ContainsFunc(n.all, func(of *need) bool { return !of.met(text) })
}

// fold returns a text in which letters are the same if an expression that ignores case takes them
// for the same.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return unicode.ToLower(r)
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		if least < utf8.RuneSelf {
			return unicode.ToLower(least)
		}
		return least
	}, text)
}
