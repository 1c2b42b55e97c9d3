package reflect

import "github.com/reverie-memory/reverie/internal/pattern"

// languages holds a pattern for each of some languages, by the languages' codes.
type languages []struct {
	code string
	form *pattern.Pattern
}

// in is nil for a language that has none.
func (l languages) in(code string) *pattern.Pattern {
	for i := range l {
		if l[i].code == code {
			return l[i].form
		}
	}
	return nil
}

// lazy is a pattern that is compiled when it is first used.
func lazy(expr string) *pattern.Pattern { return pattern.New(expr) }

// set is the set of the words of a text.
func set(text string) *pattern.Words { return pattern.NewWords(text) }
