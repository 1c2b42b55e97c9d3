package pack

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// First returns the first sentence of a text, or "" if the text is one sentence or the end is
// uncertain. The end is never inside code in backticks, brackets or quotation marks.
//
// A sentence ends with 。！？ or similar, or with a full stop, exclamation or question mark before
// white space and no small letter. Abbreviations, initials and list numbers end no sentence.
func First(text string) string {
	text = strings.TrimSpace(text)
	depth := 0      // of brackets
	code := 0       // backticks that opened the code at hand
	quoted := false // between two "
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == '`' {
			run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
			switch code {
			case 0:
				code = run
			case run:
				code = 0
			}
			i += run
			continue
		}
		i += n
		switch {
		case code > 0:
		case r == '"':
			quoted = !quoted
		case strings.ContainsRune("([{（［「『【《“", r):
			depth++
		case strings.ContainsRune(")]}）］」』】》”", r):
			depth = max(0, depth-1)
		case depth > 0 || quoted:
		case strings.ContainsRune("。！？．｡।؟", r), r == '.' || r == '!' || r == '?':
			end := len(text) - len(strings.TrimLeft(text[i:], ".!?。！？"))
			rest := text[end:]
			if strings.TrimSpace(rest) == "" {
				return ""
			}
			if r >= utf8.RuneSelf && r != '؟' && r != '।' || follows(rest) && (r != '.' || !abbreviates(text[:i-1])) {
				return text[:end]
			}
		}
	}
	return ""
}

// follows reports whether a sentence may begin behind another that ended with an ASCII mark: after
// white space, and not with a small letter.
func follows(rest string) bool {
	trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if len(trimmed) == len(rest) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(trimmed)
	return !unicode.IsLower(r)
}

// abbreviates reports whether a full stop behind a text only shortens its last word.
func abbreviates(text string) bool {
	at := strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(\"'“„«/", r) })
	last := text[at+1:]
	if at < 0 && strings.Trim(last, "0123456789") == "" {
		return true // 1. First
	}
	switch strings.ToLower(last) {
	case "", "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "al", "approx", "resp", "incl", "excl", "no", "nr", "fig", "sec", "ver", "vol", "p", "pp",
		"st", "mr", "mrs", "ms", "dr", "prof", "inc", "ltd", "co", "corp", "dept", "est", "max", "min", "misc", "z.b", "d.h", "u.a", "bzw", "usw", "ca", "ggf", "evtl", "p.ej", "ej", "c.-à-d":
		return true
	}
	return utf8.RuneCountInString(last) == 1 && unicode.IsUpper([]rune(last)[0])
}
