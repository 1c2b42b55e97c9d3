package recall

import (
	"cmp"
	"math"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// lookup is a distinct term of the query.
type lookup struct {
	text    string
	written string  // before it was stemmed
	share   float64 // weight relative to the other terms of its word: see overlap
	weight  float64 // how often it is asked for, saturated, times share
	idf     float64
	ids     [][]variant // in each segment
	gram    bool
	joined  bool
	df      int // documents that have it
}

// variant is a term that answers for a query term: itself, a similar spelling, or a tool.
type variant struct {
	id    uint32
	share float64 // of its weight
	spelt string  // as a word; "" for the term itself
}

// asking is a word of the query with its lookups: several for an identifier and its parts.
type asking struct{ from, to int } // in query

// look takes the query apart and looks its terms up. It reports whether there is anything to look
// for.
func (r *ranking) look(text string) bool {
	var a terms.Analyzer
	tokens := a.Query(text)
	places := make(map[string]int, min(len(tokens), maxTerms))
	times := make([]float64, 0, len(tokens))
	shares := overlap(tokens)
	for i := 0; i < len(tokens); {
		from := len(r.query)
		word := tokens[i].Word
		for ; i < len(tokens) && tokens[i].Word == word; i++ {
			t := tokens[i]
			if n, ok := places[t.Text]; ok {
				times[n]++
				r.query[n].share = max(r.query[n].share, shares[i])
			} else if len(r.query) < maxTerms {
				places[t.Text] = len(r.query)
				r.query = append(r.query, lookup{text: t.Text, written: t.Written, gram: t.Gram, joined: terms.Joined(t.Text), share: shares[i]})
				times = append(times, 1)
			}
		}
		if to := len(r.query); to > from {
			r.asked = append(r.asked, asking{from, to})
		}
	}
	for i := range r.query {
		l := &r.query[i]
		l.weight = saturated(times[i]) * l.share
		l.ids = make([][]variant, len(r.segments))
		for k, s := range r.segments {
			if id, ok := s.Term(l.text); ok {
				if n := s.DF(id); n > 0 {
					l.df += n
					l.ids[k] = []variant{{id: id, share: 1}}
				}
			}
		}
		l.idf = idf(l.df, r.totals.Docs) * hiragana(l.text)
	}
	if len(r.query) > maxLookups {
		r.shorten()
	}
	stems, written := make([]string, len(r.query)), make([]string, len(r.query))
	for i, l := range r.query {
		stems[i], written[i] = l.text, l.written
	}
	for i, tools := range toolsFor(stems, written) {
		l := &r.query[i]
		answered := l.df > 0
		for _, tool := range tools {
			answered = l.replace(r.segments, a.Stem(tool), tool) || answered
		}
		if !answered && l.gram && !hasParts(r.asked, i) {
			r.spell(&a, l)
		}
	}
	return len(r.query) > 0
}

// replace lets a tool answer for a lookup. It reports whether a document has the tool.
func (l *lookup) replace(segments []*Segment, stem, tool string) (found bool) {
	for k, s := range segments {
		id, ok := s.Term(stem)
		if ok && s.DF(id) > 0 && !slices.ContainsFunc(l.ids[k], func(v variant) bool { return v.id == id }) {
			l.ids[k], found = append(l.ids[k], variant{id, toolShare, tool}), true
		}
	}
	return found
}

// shorten keeps the most informative words, in order: the rarest of those that a document has.
func (r *ranking) shorten() {
	tells := func(w asking) (most float64) {
		for _, l := range r.query[w.from:w.to] {
			if l.df > 0 {
				most = max(most, l.idf)
			}
		}
		return most
	}
	best := slices.Clone(r.asked)
	slices.SortStableFunc(best, func(a, b asking) int { return cmp.Compare(tells(b), tells(a)) })
	n := 0
	kept := slices.DeleteFunc(best, func(w asking) bool {
		if n+w.to-w.from > maxLookups {
			r.unasked += r.query[w.from].idf
			return true
		}
		n += w.to - w.from
		return false
	})
	slices.SortFunc(kept, func(a, b asking) int { return cmp.Compare(a.from, b.from) })
	var query []lookup
	for i, w := range kept {
		kept[i] = asking{len(query), len(query) + w.to - w.from}
		query = append(query, r.query[w.from:w.to]...)
	}
	r.query, r.asked = query, kept
}

// hasParts reports whether a term is an identifier whose parts are looked up too.
func hasParts(asked []asking, i int) bool {
	return slices.ContainsFunc(asked, func(w asking) bool { return w.from == i && w.to > i+1 })
}

// covered returns the share of the query's information in the terms that a document has. A word
// without documents counts as much as the rarest one, because its absence suggests a different
// subject.
func (r *ranking) covered(has func(i int) float64) float64 {
	all, found := r.unasked, 0.0
	for _, w := range r.asked {
		whole, most := has(w.from)*r.query[w.from].idf, r.query[w.from].idf
		if w.to > w.from+1 {
			sum, parts := 0.0, 0.0
			for i := w.from + 1; i < w.to; i++ {
				sum += has(i) * r.query[i].idf
				parts += r.query[i].idf
			}
			whole = max(whole, most*sum/parts)
		}
		all += most
		found += whole
	}
	if all == 0 {
		return 0
	}
	return min(1, found/all)
}

// A word of a script without spaces is several overlapping pairs: メッセージ is four, and a memory with
// one of them usually has the others. Counted as four words it would outweigh the kanji of the
// query. A run of katakana is a word, and so is one of Hangul with its particle. Their m pairs
// count log2(1+m) together, because a longer word is more informative, but not in proportion. A run
// of Han may be a sentence of different words, so it counts in full.

// overlap returns the weight of each token of a query relative to its own word, 0 to 1.
func overlap(tokens []terms.Token) []float64 {
	out := make([]float64, len(tokens))
	for from := 0; from < len(tokens); {
		to, in := from+1, wordScript(tokens[from].Text)
		for in != noWord && to < len(tokens) && tokens[to].Word == tokens[to-1].Word+1 && wordScript(tokens[to].Text) == in {
			to++
		}
		m := float64(to - from)
		for ; from < to; from++ {
			out[from] = math.Log2(1+m) / m
		}
	}
	return out
}

// script is a script whose runs are words, although they are looked up by pairs.
type script uint8

const (
	noWord script = iota
	katakana
	hangul
)

// wordScript returns the script of a term that has no other.
func wordScript(term string) script {
	in := noWord
	for i, r := range term {
		of := noWord
		switch {
		case r == 'ー', 0x30A1 <= r && r <= 0x30FA:
			of = katakana
		case 0xAC00 <= r && r <= 0xD7A3:
			of = hangul
		}
		if of == noWord || i > 0 && of != in {
			return noWord
		}
		in = of
	}
	return in
}
