package recall

import (
	"slices"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

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
