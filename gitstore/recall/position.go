package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// withoutPositions removes positions that tools write after a path: a.go:14, a.go:14:5:,
// a.go#L10-L12 and a.cs(14,5). Similar text stays: 127.0.0.1:5433, example.com:443, redis:7,
// os.Exit(1).
func withoutPositions(text string) string {
	var b strings.Builder
	put, word := 0, 0 // end of the written text, and start of the word
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == ':' || r == '#' || r == '(' {
			if to := i + position(text[i:]); to > i && hasPosition(text[word:i], text[i:to], text[to:]) {
				b.WriteString(text[put:i])
				put, i = to, to
				continue
			}
		}
		if i += n; r != '#' && (unicode.IsSpace(r) || strings.ContainsRune("()[]{}<>\"'`,;|=“”‘’「」『』，。、；：（）", r)) {
			word = i
		}
	}
	if put == 0 {
		return text
	}
	return b.String() + text[put:]
}

// position returns the length of a position in a file at the start of a text, judged by its form,
// or 0.
func position(text string) int {
	at := 0
	digits := func() bool {
		from := at
		for at < len(text) && '0' <= text[at] && text[at] <= '9' {
			at++
		}
		return at > from && at-from <= 7
	}
	is := func(s string) bool {
		if !strings.HasPrefix(text[at:], s) {
			return false
		}
		at += len(s)
		return true
	}
	optional := func(ok bool, before int) bool { // else nothing of it is there
		if !ok {
			at = before
		}
		return ok
	}
	part := func(lead string) bool { before := at; return optional(is(lead) && digits(), before) }
	switch {
	case is("#L"):
		if !digits() {
			return 0
		}
		part("C")
		if !part("-L") {
			part("-")
		}
		part("C")
		return at
	case is("("):
		if !digits() {
			return 0
		}
		if !part(",") && !part(", ") {
			part(":")
		}
		if !is(")") {
			return 0
		}
		return at
	case part(":"):
		part("-")
		if part(":") {
			part("-")
		}
		return at
	}
	return 0
}

// hasPosition reports whether a word names a file, so that the place after it is a position.
func hasPosition(word, place, rest string) bool {
	switch next, n := utf8.DecodeRuneInString(rest); {
	case unicode.IsLetter(next) && next < utf8.RuneSelf, unicode.IsDigit(next), n > 0 && strings.ContainsRune(`_/\@%-`, next):
		return false
	case next == '.' && len(rest) > 1 && (unicode.IsLetter(rune(rest[1])) || unicode.IsDigit(rune(rest[1]))):
		return false
	}
	cut := strings.LastIndexAny(word, `/\`)
	name, folders := word[cut+1:], cut >= 0
	if folders && strings.HasSuffix(word[:cut+1], "://") { // a host
		return false
	}
	if place[0] == '#' {
		return folders && name != "" || strings.Contains(name, ".")
	}
	if place[0] == '(' && !folders && !strings.ContainsAny(place, ",:") && !strings.HasPrefix(rest, ":") {
		// It is a call.
		return false
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return strings.HasSuffix(strings.ToLower(name), "file")
	}
	ext := strings.ToLower(name[dot+1:])
	if ext == "" || len(ext) > 8 || ext[0] < 'a' || 'z' < ext[0] || !folders && hosts.Has(ext) {
		return false
	}
	return !strings.ContainsFunc(ext, func(r rune) bool { return (r < 'a' || 'z' < r) && (r < '0' || '9' < r) })
}

// hosts are the last parts of host names, before a port.
var hosts = pattern.NewWords(`com org net io dev app local localhost internal lan svc cluster home test example`)
