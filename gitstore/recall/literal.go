package recall

import (
	"strings"
	"unicode"
)

// literal reports whether a text demands its exact words. It is quoted, or consists of names:
// identifiers, paths, options, error codes, addresses.
func literal(query string) bool {
	query = strings.TrimSpace(query)
	if n := len(query); n > 2 && (query[0] == '\'' || query[0] == '`') && query[n-1] == query[0] {
		return true
	}
	names := 0
	for _, word := range strings.FieldsFunc(query, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("`'“”‘’,;[]{}<>|，。！？、；：（）「」", r)
	}) {
		word = strings.Trim(strings.TrimSuffix(word, "()"), ".:!?*…=&()")
		switch {
		case word == "" || sayNothing(word):
		case isLiteral(word):
			names++
		default:
			return false
		}
	}
	return names > 0
}

// isLiteral extends isName to other words that a search takes literally.
func isLiteral(word string) bool {
	if isName(word) && !common.Has(strings.ToLower(strings.TrimLeft(word, "-"))) {
		return true
	}
	ascii := strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 }) < 0
	inner := strings.Trim(word, "._-:/\\$#@")
	switch {
	case !ascii || inner == "":
		return false
	case strings.ContainsAny(inner, `_\`), strings.Contains(inner, "://"), strings.HasPrefix(word, "-"), strings.HasPrefix(word, "$"):
		return true
	case strings.Contains(inner, "."): // os.Exit, www.example.com; not e.g
		return len(inner) > 4
	case strings.HasPrefix(word, "/"), strings.HasSuffix(word, "/"), strings.HasPrefix(word, "."):
		return len(inner) > 1
	}
	return len(inner) >= 3 && strings.Trim(inner, "0123456789.:xabcdefABCDEF") == "" && strings.ContainsAny(inner, "0123456789")
}

// sayNothing reports whether a word is meaningless next to a name: how do I fix E0308.
func sayNothing(word string) bool {
	for _, part := range telling(word) {
		if part.weight != commonWeight {
			return false
		}
	}
	return !isName(word) || common.Has(strings.ToLower(strings.TrimLeft(word, "-")))
}
