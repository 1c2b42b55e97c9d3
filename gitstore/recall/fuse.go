package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// rrf is the k of reciprocal rank fusion: score(d) = Σ 1/(k + rank(d)), ranks from 1 (Cormack, Clarke, Büttcher, SIGIR
// 2009).
const rrf = 60

// Fused is a memory of one list or of two. Its Score is the fused one, and no share of what the lists' own scores say.
type Fused struct {
	Hit
	Lexical  int     // rank from 1 in the lexical list; 0: not in it
	Near     int     // likewise among the nearest
	Kept     bool    // it has no vector, and keeps its place of the lexical list
	Own      float64 // score of the lexical list
	Likeness float64 // of the nearest: the cosine
}

// Fuse merges the answers of Search and Nearest to one query, each the best first, by reciprocal rank. Equal scores keep
// the order of the lexical list, and what is only near comes after that. known are the ids of memories that have a
// vector.
//
// A memory without a vector says nothing about its likeness, so no rank is made up for it: it keeps its place. At
// the rank that the lexical list gave it, it stands in the answer, and those with a vector are fused among themselves
// and fill the places between. So the missing vector moves it neither down nor up; with no vectors at all the answer is
// the lexical list, and with all of them it is the plain fusion. Its Score is that of the one before it.
func Fuse(lexical, near []Hit, known map[string]bool) []Fused {
	var fused, kept []Fused
	at := map[string]int{} // in fused
	for i, h := range lexical {
		f := Fused{Hit: h, Lexical: i + 1, Own: h.Score}
		f.Score = 1 / float64(rrf+f.Lexical)
		if f.Kept = !known[h.Memory.ID]; f.Kept {
			kept = append(kept, f)
			continue
		}
		at[h.Memory.ID] = len(fused)
		fused = append(fused, f)
	}
	for i, h := range near {
		n, both := at[h.Memory.ID]
		if !both {
			n = len(fused)
			fused = append(fused, Fused{Hit: Hit{Memory: h.Memory}})
		}
		f := &fused[n]
		f.Near, f.Likeness = i+1, h.Score
		f.Score += 1 / float64(rrf+f.Near)
	}
	slices.SortStableFunc(fused, func(a, b Fused) int { return cmp.Compare(b.Score, a.Score) })
	out := make([]Fused, 0, len(fused)+len(kept))
	for len(fused)+len(kept) > 0 {
		if len(kept) == 0 || len(fused) > 0 && len(out)+1 < kept[0].Lexical {
			out, fused = append(out, fused[0]), fused[1:]
			continue
		}
		next := kept[0]
		switch {
		case len(out) > 0:
			next.Score = out[len(out)-1].Score
		case len(fused) > 0:
			next.Score = max(next.Score, fused[0].Score)
		}
		out, kept = append(out, next), kept[1:]
	}
	return out
}

// Literal reports whether a query wants its very words, so that likeness of meaning can only mislead: it is quoted, or
// has a part in double quotes, or says nothing but names: identifiers, paths, options, error codes, addresses.
func Literal(query string) bool {
	query = strings.TrimSpace(query)
	for _, pair := range [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}} {
		if _, rest, ok := strings.Cut(query, pair[0]); ok {
			if inner, _, ok := strings.Cut(rest, pair[1]); ok && strings.TrimSpace(inner) != "" {
				return true
			}
		}
	}
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

// isLiteral is isName and what else is meant as it is written, when it is looked for.
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

// sayNothing reports whether a word says nothing beside a name: how do I fix E0308.
func sayNothing(word string) bool {
	for _, t := range allTerms(word) {
		if !stop.Has(t) && !chat.Has(t) && !common.Has(t) {
			return false
		}
	}
	return !isName(word) || common.Has(strings.ToLower(strings.TrimLeft(word, "-")))
}
