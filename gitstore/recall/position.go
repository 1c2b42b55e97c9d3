package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
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

// allow fills allowed by the required and the excluded phrases. It reports whether any document is
// left.
func (r *ranking) allow() bool {
	var a terms.Analyzer
	limit := func(phrase string, with bool) {
		tokens := slices.DeleteFunc(a.Query(phrase), func(t terms.Token) bool { return t.Part })
		if len(tokens) == 0 {
			return
		}
		if r.allowed == nil {
			r.allowed = make([]uint64, (r.docs+63)/64)
			for i := range r.allowed {
				r.allowed[i] = ^uint64(0)
			}
		}
		has := make([]uint64, len(r.allowed))
		for k := range r.segments {
			r.phrase(k, tokens, func(at int) { has[at/64] |= 1 << (at % 64) })
		}
		for i := range has {
			if with {
				r.allowed[i] &= has[i]
			} else {
				r.allowed[i] &^= has[i]
			}
		}
	}
	for _, p := range r.request.Phrases {
		limit(p, true)
	}
	for _, p := range r.request.Not {
		limit(p, false)
	}
	return r.allowed == nil || slices.ContainsFunc(r.allowed, func(bits uint64) bool { return bits != 0 })
}

// Without narrows keep to documents without the given words and phrases, for Newest. nil means all
// documents, in the argument and the result.
func (x *Index) Without(not []string, keep func(Ref) bool) func(Ref) bool {
	r := ranking{Index: x, request: &Request{Not: not, Keep: keep}}
	for _, s := range x.segments {
		r.base = append(r.base, r.docs)
		r.docs += s.Len()
	}
	if r.allow(); r.allowed == nil {
		return keep
	}
	return func(at Ref) bool { return r.may(r.base[at.Segment] + at.Doc) }
}

// phrase calls fn for each document of a segment with some tokens at the same distances from each
// other.
func (r *ranking) phrase(k int, tokens []terms.Token, fn func(at int)) {
	s := r.segments[k]
	has := make([]uint16, s.Len()) // how many of the tokens before this one a document has
	ids := make([][]uint32, len(tokens))
	for i, t := range tokens {
		if id, ok := s.Term(t.Text); ok {
			ids[i] = append(ids[i], id)
		}
		if _, n := utf8.DecodeRuneInString(t.Text); terms.Joined(t.Text) && n == len(t.Text) {
			ids[i] = ids[i][:0]
			for id := range s.Prefix(t.Text) {
				ids[i] = append(ids[i], id)
			}
		}
		for _, id := range ids[i] {
			for c := s.Postings(id); c.Next(); {
				if has[c.Doc] == uint16(i) {
					has[c.Doc]++
				}
			}
		}
	}
	var room []catalog.Position
	for doc, n := range has {
		if int(n) < len(tokens) {
			continue
		}
		if len(tokens) > 1 {
			room = s.Forward(doc, room[:0])
			if !sideBySide(room, tokens, ids) {
				continue
			}
		}
		fn(r.base[k] + doc)
	}
}

func sideBySide(all []catalog.Position, tokens []terms.Token, ids [][]uint32) bool {
	is := func(p catalog.Position, i int) bool { return slices.Contains(ids[i], p.Term) }
	for from, p := range all {
		if !is(p, 0) {
			continue
		}
		found := 1
		for _, q := range all[from+1:] {
			if found == len(tokens) || q.Word-p.Word > tokens[found].Word-tokens[0].Word {
				break
			}
			if q.Word-p.Word == tokens[found].Word-tokens[0].Word && is(q, found) {
				found++
			}
		}
		if found == len(tokens) {
			return true
		}
	}
	return false
}
