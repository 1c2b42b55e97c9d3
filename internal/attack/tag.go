package attack

import (
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// shownRune matches a character as unseen.Reveal writes it.
var shownRune = pattern.New(`^<U\+[0-9A-F]{4,6}>`)

// tagged matches the start of a tag after its "<".
var tagged = pattern.New(`(?i)^\s*(?:/|!|\?|reverie)`)

// clientTag matches the name of a tag such as system-reminder or hook_context: no type has such a
// name.
var clientTag = pattern.New(`^[A-Za-z0-9]+[-_]`)

// Untag writes the "<" of a possible tag as "&lt;". It keeps that of a type with parameters, such
// as List<String>, which follows a letter and opens no element.
func Untag(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == '<' && isTag(s, i) {
			b.WriteString("&lt;")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isTag(s string, at int) bool {
	rest := s[at+1:]
	switch {
	case shownRune.MatchString(s[at:]):
		return false
	case tagged.MatchString(rest):
		return true
	case rest == "" || !isLetter(rest[0]):
		return false
	case clientTag.MatchString(rest):
		return true
	}
	return at == 0 || !isLetter(s[at-1]) && (s[at-1] < '0' || s[at-1] > '9') && s[at-1] != '_'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
