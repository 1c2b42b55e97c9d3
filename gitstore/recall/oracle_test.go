package recall

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// oracle ranks as Rank says it does, over plain maps and without any of its short cuts.
type oracle struct {
	keys    []string
	docs    map[string][]catalog.Token
	groups  map[string]string
	files   map[string][]string // labels
	df      map[string]int
	gramDF  map[string]int
	length  map[string]float64
	grams   map[string]float64
	mean    float64
	gramAvg float64
}

func newOracle(docs []catalog.Doc) *oracle {
	o := &oracle{docs: map[string][]catalog.Token{}, groups: map[string]string{}, files: map[string][]string{}, df: map[string]int{}, gramDF: map[string]int{}, length: map[string]float64{}, grams: map[string]float64{}}
	for _, d := range docs {
		o.keys = append(o.keys, d.Key)
		o.docs[d.Key], o.groups[d.Key], o.files[d.Key] = d.Tokens, d.Group, d.Labels
		seen, seenGram := map[string]bool{}, map[string]bool{}
		for _, t := range d.Tokens {
			seen[t.Term] = true
			o.length[d.Key] += float64(t.Weight)
			if t.Gram {
				for _, g := range terms.Grams(t.Term) {
					seenGram[g] = true
					o.grams[d.Key] += float64(t.Weight)
				}
			}
		}
		for t := range seen {
			o.df[t]++
		}
		for g := range seenGram {
			o.gramDF[g]++
		}
		o.mean += o.length[d.Key]
		o.gramAvg += o.grams[d.Key]
	}
	slices.Sort(o.keys)
	o.mean = max(1, o.mean/float64(len(docs)))
	o.gramAvg = max(1, o.gramAvg/float64(len(docs)))
	return o
}

func (o *oracle) idf(df int) float64 {
	return math.Log(1 + (float64(len(o.keys)-df)+0.5)/(float64(df)+0.5))
}

func (o *oracle) tf(key string, is func(catalog.Token) bool) (tf float64) {
	for _, t := range o.docs[key] {
		if is(t) {
			tf += float64(t.Weight)
		}
	}
	return tf
}

func bm25(tf, length float64) float64 {
	length = max(length, 1e-6)
	return tf * 2.5 / (tf + 1.5*(0.35+0.65*length))
}

type oracleHit struct {
	key   string
	score float64
	parts Parts
}

// rank gives the scores of all documents without prior and files, the best first.
func (o *oracle) rank(query string) []oracleHit {
	type asked struct {
		terms.Token
		times, share, weight, idf float64
		spelt                     map[string]float64 // its replacements
	}
	var q []asked
	tokens := new(terms.Analyzer).Query(query)
	for i, t := range tokens {
		if n := slices.IndexFunc(q, func(a asked) bool { return a.Text == t.Text }); n >= 0 {
			q[n].times++
			q[n].share = max(q[n].share, shareOf(tokens, i))
			continue
		}
		a := asked{Token: t, times: 1, share: shareOf(tokens, i), idf: o.idf(o.df[t.Text]), spelt: map[string]float64{t.Text: 1}}
		switch n, all := len(strings.Trim(t.Text, kana)), len(t.Text); {
		case n == 0:
			a.idf *= 0.2
		case n < all:
			a.idf *= 0.7
		}
		for _, tool := range o.tools(tokens, t) {
			a.spelt[tool] = 0.7
		}
		parted := i+1 < len(tokens) && tokens[i+1].Part && tokens[i+1].Word == t.Word && !t.Part
		if o.df[t.Text] == 0 && len(a.spelt) == 1 && t.Gram && !parted {
			o.spell(t, a.spelt, &a.idf)
		}
		q = append(q, a)
	}
	words, single, grams := map[string]float64{}, map[string]float64{}, map[string]float64{}
	chars, gramTimes := map[string]float64{}, map[string]float64{}
	for i := range q {
		a := &q[i]
		a.weight = a.share * 2 * a.times / (1 + a.times)
		for _, key := range o.keys {
			for term, share := range a.spelt {
				if tf := o.tf(key, func(t catalog.Token) bool { return t.Term == term }); tf > 0 {
					words[key] += a.weight * a.idf * share * bm25(tf, o.length[key]/o.mean)
				}
			}
		}
		if terms.Joined(a.Text) {
			for _, c := range strings.Split(a.Text, "") {
				share := 0.2
				if c == a.Text {
					share = 1
				}
				chars[c] = max(chars[c], share)
			}
		}
		if a.Gram {
			for _, g := range terms.Grams(a.Text) {
				gramTimes[g]++
			}
		}
	}
	for c, share := range chars {
		begins := func(t catalog.Token) bool { return strings.HasPrefix(t.Term, c) && (t.Term != c || share < 1) }
		df, pairs := 0, map[string]int{}
		for _, key := range o.keys {
			has := map[string]bool{}
			for _, t := range o.docs[key] {
				if begins(t) {
					has[t.Term] = true
				}
			}
			if len(has) > 0 {
				df++
			}
			for t := range has {
				pairs[t]++
			}
		}
		most := 0
		for _, n := range pairs {
			most += n
		}
		if share < 1 && most > len(o.keys)/2 {
			continue
		}
		if terms.Kana(c) {
			share *= 0.2
		}
		for _, key := range o.keys {
			into := single
			if chars[c] == 1 {
				into = words
			}
			if tf := o.tf(key, begins); tf > 0 {
				into[key] += share * o.idf(df) * bm25(tf, o.length[key]/o.mean)
			}
		}
	}
	for _, key := range o.keys {
		done := map[string]bool{}
		for _, t := range o.docs[key] {
			if !o.gram(t.Term) || done[t.Term] {
				continue
			}
			done[t.Term] = true
			weight := 0.0
			own := terms.Grams(t.Term)
			for _, g := range own {
				if n := gramTimes[g]; n > 0 {
					weight += 2 * n / (1 + n) * o.idf(o.gramDF[g])
				}
			}
			if weight > 0 {
				tf := o.tf(key, func(x catalog.Token) bool { return x.Term == t.Term })
				grams[key] += weight / math.Sqrt(float64(len(own))) * bm25(tf, o.grams[key]/o.gramAvg)
			}
		}
	}
	bestWord, bestGram := 0.0, 0.0
	for _, key := range o.keys {
		bestWord, bestGram = max(bestWord, words[key]+single[key]), max(bestGram, grams[key])
	}
	for key := range grams {
		grams[key] *= 0.25 / bestGram
		if bestWord > 0 {
			grams[key] *= bestWord
		}
	}
	var out []oracleHit
	for i, key := range o.keys {
		p := Parts{Words: words[key], Characters: single[key], Grams: grams[key], Prior: 1, Files: 1}
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(o.keys) && o.groups[key] != "" && o.groups[o.keys[j]] == o.groups[key] {
				p.Beside += 0.2 * (words[o.keys[j]] + single[o.keys[j]] + grams[o.keys[j]])
			}
		}
		last := make([]*catalog.Token, len(q))
		near := make([]float64, len(q))
		passages := map[uint16]float64{}
		counted := map[[2]int]bool{}
		for _, t := range o.docs[key] {
			n := slices.IndexFunc(q, func(a asked) bool { return a.spelt[t.Term] > 0 })
			if n < 0 {
				continue
			}
			if !counted[[2]int{n, int(t.Passage)}] {
				counted[[2]int{n, int(t.Passage)}] = true
				passages[t.Passage] += q[n].weight * q[n].idf
			}
			for _, pair := range [][2]int{{n - 1, n}, {n + 1, n + 1}} {
				if other := pair[0]; other >= 0 && other < len(q) && last[other] != nil {
					near[pair[1]] = max(near[pair[1]], 1/max(1, float64(t.Word)-float64(last[other].Word)))
				}
			}
			last[n] = &t
		}
		for n := 1; n < len(q); n++ {
			if !terms.Joined(q[n].Text) || !terms.Joined(q[n-1].Text) {
				p.Near += 0.5 * near[n] * min(q[n].weight*q[n].idf, q[n-1].weight*q[n-1].idf)
			}
		}
		for _, v := range passages {
			p.Passage = max(p.Passage, 0.4*v)
		}
		if p.score() == 0 { // it is no candidate
			continue
		}
		first := func(key string) float64 { return words[key] + single[key] + grams[key] }
		for _, mate := range o.keys {
			if slices.ContainsFunc(o.files[mate], func(l string) bool { return slices.Contains(o.files[key], l) }) {
				p.SameFile = max(p.SameFile, 0.3*(first(mate)-first(key)))
			}
		}
		out = append(out, oracleHit{key, p.score(), p})
	}
	slices.SortStableFunc(out, func(a, b oracleHit) int { return cmp.Compare(b.score, a.score) })
	return out
}

const kana = "いうえおかがきぎくぐけげこごさしすせそただちっつてでとどなにのはばびへべほまみめもやゆよらりるれろわをん"

// shareOf returns the weight of a pair of katakana or Hangul relative to its neighbours.
func shareOf(tokens []terms.Token, i int) float64 {
	for _, script := range []*unicode.RangeTable{unicode.Katakana, unicode.Hangul} {
		in := func(j int) bool {
			return strings.Trim(tokens[j].Text, "ー") == "" || strings.IndexFunc(tokens[j].Text, func(r rune) bool { return r != 'ー' && !unicode.Is(script, r) }) < 0
		}
		if !in(i) {
			continue
		}
		m := 1.0
		for j := i; j > 0 && in(j-1) && tokens[j-1].Word+1 == tokens[j].Word; j-- {
			m++
		}
		for j := i; j+1 < len(tokens) && in(j+1) && tokens[j+1].Word == tokens[j].Word+1; j++ {
			m++
		}
		return math.Log2(1+m) / m
	}
	return 1
}

// gram reports whether a document has a term whose grams count.
func (o *oracle) gram(term string) bool {
	for _, tokens := range o.docs {
		if slices.ContainsFunc(tokens, func(t catalog.Token) bool { return t.Term == term && t.Gram }) {
			return true
		}
	}
	return false
}

// tools returns the known terms of the tools for the job that a word of a query names.
func (o *oracle) tools(query []terms.Token, word terms.Token) (all []string) {
	var a terms.Analyzer
	names := func(words []string) bool {
		return slices.ContainsFunc(query, func(t terms.Token) bool { return slices.Contains(words, t.Text) })
	}
	stems := func(words []string) (all []string) {
		for _, w := range words {
			all = append(all, a.Stem(w))
		}
		return all
	}
	bound := func(j job) bool { return len(j.languages) > 0 }
	elsewhere := slices.ContainsFunc(allJobs(), func(j job) bool { return bound(j) && (names(j.languages) || names(stems(j.tools))) })
	for _, j := range allJobs() {
		of := slices.Contains(j.words, word.Text) || slices.Contains(j.languages, word.Text) && names(j.words)
		if !of || names(stems(j.tools)) || bound(j) && elsewhere && !names(j.languages) {
			continue
		}
		for _, tool := range stems(j.tools) {
			if o.df[tool] > 0 && tool != word.Text {
				all = append(all, tool)
			}
		}
	}
	return all
}

func (o *oracle) spell(word terms.Token, into map[string]float64, idf *float64) {
	most := func(letters int) int {
		switch {
		case letters >= 8:
			return 2
		case letters >= 5:
			return 1
		}
		return 0
	}
	letters := utf8.RuneCountInString(word.Written)
	if most(letters) == 0 {
		return
	}
	wrong := map[string]int{} // of terms
	plain := strings.Trim(word.Written, "abcdefghijklmnopqrstuvwxyz") == ""
	if plain {
		var a terms.Analyzer
		for other := range beside(word.Written) {
			if t := a.Stem(other); o.df[t] > 0 && o.gram(t) {
				wrong[t] = 1
			}
		}
	}
	if len(wrong) == 0 && (!plain || letters >= 8) {
		for t := range o.df {
			first, _ := utf8.DecodeRuneInString(t)
			for _, form := range []string{word.Text, word.Written} {
				d := slowDistance([]rune(form), []rune(t))
				if before, known := wrong[t]; o.gram(t) && strings.HasPrefix(form, string(first)) && most(utf8.RuneCountInString(form)) >= d && (!known || d < before) {
					wrong[t] = d
				}
			}
		}
	}
	all := slices.SortedFunc(maps.Keys(wrong), func(a, b string) int {
		return cmp.Or(cmp.Compare(wrong[a], wrong[b]), cmp.Compare(o.df[b], o.df[a]), cmp.Compare(a, b))
	})
	for i, t := range all[:min(3, len(all))] {
		if i == 0 {
			*idf = o.idf(o.df[t])
		}
		into[t] = 1 - float64(wrong[t])/float64(letters)
	}
}

// beside returns the variants of a word by one mistake, with the same first letter or the first two
// exchanged.
func beside(word string) map[string]bool {
	all := map[string]bool{}
	for i := range len(word) + 1 {
		for j := i; j <= min(i+2, len(word)); j++ { // word[i:j] becomes something else
			middles := []string{""}
			for c := 'a'; c <= 'z'; c++ {
				middles = append(middles, string(c))
			}
			if j == i+2 {
				middles = append(middles, word[i+1:j]+word[i:i+1])
			}
			for _, m := range middles {
				other := word[:i] + m + word[j:]
				same := other != "" && other[0] == word[0]
				if d := slowDistance([]rune(word), []rune(other)); d == 1 && (same || j == i+2 && i == 0 && len(m) == 2) {
					all[other] = true
				}
			}
		}
	}
	return all
}

// slowDistance is optimal string alignment by its definition.
func slowDistance(a, b []rune) int {
	known := map[[2]int]int{}
	var of func(i, j int) int
	of = func(i, j int) int {
		if i == 0 || j == 0 {
			return i + j
		}
		if d, ok := known[[2]int{i, j}]; ok {
			return d
		}
		d := of(i-1, j-1)
		if a[i-1] != b[j-1] {
			d++
		}
		d = min(d, of(i-1, j)+1, of(i, j-1)+1)
		if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
			d = min(d, of(i-2, j-2)+1)
		}
		known[[2]int{i, j}] = d
		return d
	}
	return of(len(a), len(b))
}
