package recall

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// A word of the query that no document has may be misspelt. Those that are nearly spelt so are looked for in its place:
// the closest, with the same first letter, which people seldom miss.
const (
	maxSpellings  = 3
	leastMisspelt = 5 // letters; a shorter word has too many neighbours
	leastTwice    = 8 // letters of a word that may have two mistakes
)

// mistakes is how many a word of so many letters may have.
func mistakes(letters int) int {
	switch {
	case letters < leastMisspelt:
		return 0
	case letters < leastTwice:
		return 1
	}
	return 2
}

// spell gives a lookup that nothing has the terms that are spelt nearly so.
func (r *ranking) spell(l *lookup) {
	var room, other [terms.MaxTerm]rune
	word := appendRunes(room[:0], []byte(l.text))
	most := mistakes(len(word))
	if most == 0 {
		return
	}
	type spelling struct {
		text   string
		wrong  int
		df     int
		places []uint32 // id in each segment, from 1
	}
	var all []spelling
	first := string(word[:1])
	for k, s := range r.segments {
		for id, text := range s.Prefix(first) {
			if n := utf8.RuneCount(text); n > len(word)+most || n < len(word)-most || !s.Latin(id) {
				continue
			}
			d := distance(word, appendRunes(other[:0], text), most)
			if d > most {
				continue
			}
			df := s.DF(id)
			if df == 0 {
				continue
			}
			n := slices.IndexFunc(all, func(x spelling) bool { return x.text == string(text) })
			if n < 0 {
				n = len(all)
				all = append(all, spelling{string(text), d, 0, make([]uint32, len(r.segments))})
			}
			all[n].df += df
			all[n].places[k] = id + 1
		}
	}
	slices.SortFunc(all, func(a, b spelling) int {
		return cmp.Or(cmp.Compare(a.wrong, b.wrong), cmp.Compare(b.df, a.df), cmp.Compare(a.text, b.text))
	})
	for i, x := range all[:min(len(all), maxSpellings)] {
		if i == 0 {
			l.idf = r.idf(x.df)
		}
		for k, id := range x.places {
			if id > 0 {
				l.ids[k] = append(l.ids[k], variant{id - 1, 1 - float64(x.wrong)/float64(len(word))})
			}
		}
	}
}

func appendRunes(out []rune, text []byte) []rune {
	for len(text) > 0 && len(out) < terms.MaxTerm {
		c, n := utf8.DecodeRune(text)
		out, text = append(out, c), text[n:]
	}
	return out
}

// distance is how many letters have to be put in, left out, replaced or exchanged with their neighbours to make a of b (optimal
// string alignment: Boytsov, Indexing Methods for Approximate Dictionary Searching, 2011, section 2.2). More than
// most is not counted to the end. Both have at most MaxTerm letters.
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
