package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// A query word that no document has may be misspelt. Similar words replace it if they have the same
// first letter, which people seldom miss.
//
// The index has stems, and a wrong letter at the end of a word hides its stem: flgas has the stem
// flga. So one mistake is undone in the written word if the result has a stem in the index. If that
// finds nothing for a longer word, its stem is compared with the stems of the index, up to two
// mistakes.
const (
	maxSpellings  = 3
	leastMisspelt = 5  // letters; a shorter word has too many neighbours
	leastTwice    = 8  // letters of a word that may have two mistakes
	mostUndone    = 24 // letters; a longer word has no stem
)

// mistakes returns the number of mistakes that a word of this length may have.
func mistakes(letters int) int {
	switch {
	case letters < leastMisspelt:
		return 0
	case letters < leastTwice:
		return 1
	}
	return 2
}

// spelling is a possible replacement for a misspelt word.
type spelling struct {
	term, word string
	wrong      int // mistakes
	df         int
	places     []uint32 // its id in each segment, from 1; 0 where a segment lacks it
}

// spell adds up to maxSpellings similar terms to a lookup without documents. Each counts less with
// every mistake. The best one decides how rare the word is.
func (r *ranking) spell(a *terms.Analyzer, l *lookup) {
	letters := utf8.RuneCountInString(l.written)
	if mistakes(letters) == 0 {
		return
	}
	var all []spelling
	plain := letters <= mostUndone && strings.IndexFunc(l.written, func(c rune) bool { return c < 'a' || 'z' < c }) < 0
	if plain {
		all = r.undone(a, l.written)
	}
	if len(all) == 0 && (!plain || letters >= leastTwice) {
		all = r.alike(l)
	}
	slices.SortStableFunc(all, func(a, b spelling) int {
		return cmp.Or(cmp.Compare(a.wrong, b.wrong), cmp.Compare(b.df, a.df), cmp.Compare(a.term, b.term))
	})
	for i, x := range all[:min(len(all), maxSpellings)] {
		if i == 0 {
			l.idf = idf(x.df, r.totals.Docs)
		}
		for k, id := range x.places {
			if id > 0 {
				l.ids[k] = append(l.ids[k], variant{id - 1, 1 - float64(x.wrong)/float64(letters), x.word})
			}
		}
	}
}

// undone returns the terms of words that differ from an ASCII word by one mistake.
func (r *ranking) undone(a *terms.Analyzer, word string) (all []spelling) {
	for k, s := range r.segments {
		look := func(prefix string) {
			for id, text := range s.Prefix(prefix) {
				other := undo(a, word, text)
				if other == "" || !s.Latin(id) {
					continue
				}
				if df := s.DF(id); df > 0 {
					all = noted(all, spelling{string(text), other, 1, df, nil}, k, id, len(r.segments))
				}
			}
		}
		look(word[:1])
		if word[0] != word[1] {
			look(word[1:2] + word[:1])
		}
	}
	return all
}

// noted adds a spelling of one segment to all, and joins it with the same term of other segments.
func noted(all []spelling, x spelling, segment int, id uint32, segments int) []spelling {
	n := slices.IndexFunc(all, func(y spelling) bool { return y.term == x.term })
	if n < 0 {
		n = len(all)
		all = append(all, spelling{x.term, x.word, x.wrong, 0, make([]uint32, segments)})
	}
	all[n].df += x.df
	all[n].places[segment] = id + 1
	return all
}

// undo returns the word with a given stem that differs from another by one mistake, or "". A
// mistake before the end of the stem is where the two first differ, so the stem gives the right
// letter.
func undo(a *terms.Analyzer, word string, stem []byte) string {
	c := 0
	for c < len(stem) && c < len(word) && stem[c] == word[c] {
		c++
	}
	is := func(other string) bool { return a.Stem(other) == string(stem) }
	if c < len(stem) {
		// begins reports whether the rest of the stem begins the rest of the word. The stem's last letter
		// may differ, as in query and queri.
		begins := func(word string, from int) bool {
			return from >= len(stem) || strings.HasPrefix(word, string(stem[from:len(stem)-1]))
		}
		right := string(stem[c : c+1])
		if c+1 < len(word) && right == word[c+1:c+2] && begins(word[c+2:], c+2) {
			if other := word[:c] + right + word[c:c+1] + word[c+2:]; is(other) {
				return other
			}
		}
		if c == 0 {
			return "" // only by exchange
		}
		if begins(word[c:], c+1) {
			if other := word[:c] + right + word[c:]; is(other) {
				return other
			}
		}
		if c == len(word) {
			return ""
		}
		if begins(word[c+1:], c) {
			if other := word[:c] + word[c+1:]; is(other) {
				return other
			}
		}
		if begins(word[c+1:], c+1) {
			if other := word[:c] + right + word[c+1:]; is(other) {
				return other
			}
		}
	}
	if len(stem) < shortestStem || c < len(stem)-1 {
		return ""
	}
	return undoEnding(word, string(stem), is)
}

// undoEnding is undo for a mistake after the stem.
func undoEnding(word, stem string, is func(string) bool) string {
	short, last := stem[:len(stem)-1], stem[len(stem)-1:]
	for _, begin := range [3][2]string{{stem, ""}, {stem, last}, {short, ""}} {
		// The pairs cover flags and flagged and, for queri and move, query and moving.
		if begin[0] == short && last != "i" && last != "e" {
			continue
		}
		ending, ok := strings.CutPrefix(word, begin[0])
		if !ok || len(ending) > longestEnding+2 {
			continue
		}
		for other := range strings.FieldsSeq(endings) {
			if other = begin[1] + strings.TrimPrefix(other, "-"); len(other) > len(ending)+1 || len(other) < len(ending)-1 {
				continue
			}
			if distance([]rune(ending), []rune(other), 1) == 1 && is(begin[0]+other) {
				return begin[0] + other
			}
		}
	}
	return ""
}

// endings are the parts of English words that a stem lacks; - is the empty one.
const (
	endings = `- d e r s y al ed en er es ic ly or als ant ate ent ers ful ial ied ier ies ing ion ise ism ist ity ive ize ors able
		ably ally ance ancy ants ated ater ates ator edly ence ency ents ible ings ions ised ized izer izes less ment ness tion
		ality ating ation ators ement ently icate ility iness ingly ising ities ively izing ments ations ements icated icates
		ability ibility icating ication isation ization`
	longestEnding = 7
	shortestStem  = 3
)

// alike returns the terms that differ from a word or its stem by no more letters than mistakes
// allows. It compares every term with the same first letter.
func (r *ranking) alike(l *lookup) (all []spelling) {
	var rooms [3][terms.MaxTerm]rune
	forms := [][]rune{appendRunes(rooms[0][:0], []byte(l.text))}
	if l.written != l.text {
		forms = append(forms, appendRunes(rooms[1][:0], []byte(l.written)))
	}
	first := string(forms[0][:1])
	for k, s := range r.segments {
		for id, text := range s.Prefix(first) {
			wrong := -1
			n := utf8.RuneCount(text)
			for _, word := range forms {
				most := mistakes(len(word))
				if most == 0 || n > len(word)+most || n < len(word)-most {
					continue
				}
				if d := distance(word, appendRunes(rooms[2][:0], text), most); d <= most && (wrong < 0 || d < wrong) {
					wrong = d
				}
			}
			if wrong < 0 || !s.Latin(id) {
				continue
			}
			df := s.DF(id)
			if df == 0 {
				continue
			}
			all = noted(all, spelling{string(text), string(text), wrong, df, nil}, k, id, len(r.segments))
		}
	}
	return all
}

func appendRunes(out []rune, text []byte) []rune {
	for len(text) > 0 && len(out) < terms.MaxTerm {
		c, n := utf8.DecodeRune(text)
		out, text = append(out, c), text[n:]
	}
	return out
}

// distance returns the number of letters to insert, delete, replace or exchange with a neighbour to
// turn a into b (optimal string alignment: Boytsov, Indexing Methods for Approximate Dictionary
// Searching, 2011, section 2.2). It stops counting beyond most. Both have at most MaxTerm letters.
func distance(a, b []rune, most int) int {
	var rows [3][terms.MaxTerm + 1]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row := &rows[(i+1)%3], &rows[(i+2)%3], &rows[i%3]
		row[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			d := above[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			best = min(best, d)
		}
		if best > most {
			return best
		}
	}
	return rows[len(a)%3][len(b)]
}
