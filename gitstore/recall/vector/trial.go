package vector

import (
	"cmp"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// trialDepth is the number of results of each search.
const trialDepth = 50

// mixtures are the kinds of queries: own adjacent pieces of one memory and other pieces of other
// ones. With many words of one memory any vectors find it. Few words, and words of others, make a
// query about as hard as a person's.
var mixtures = [2]struct{ own, other int }{{3, 0}, {4, 4}}

// perMixture is the number of queries of each mixture.
const perMixture = 96

// Try makes queries from memories with vectors, embeds them, and runs both searches for each.
// lexical returns the ids of at most n memories, the best first. Equal memories give equal queries.
// The success of each search at finding a memory by its own words shows how far to trust it.
func (v *Store) Try(ctx context.Context, embed Embed, memories []record.Memory, lexical func(query string, n int) []string) ([]recall.Trial, error) {
	trials, queries := v.trials(memories)
	if len(trials) == 0 {
		return nil, nil
	}
	var vectors []value
	for some := range slices.Chunk(queries, batch) {
		texts := make([]string, len(some))
		for i, q := range some {
			texts[i] = v.space.Query(q)
		}
		got, err := v.space.embed(ctx, embed, texts)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, got...)
	}
	at := make(map[string]int, len(memories))
	for i, m := range memories {
		at[m.ID] = i
	}
	find := func(id string) (m record.Memory, ok bool) {
		i, ok := at[id]
		if ok {
			m = memories[i]
		}
		return m, ok
	}
	for i := range trials {
		trials[i].Lexical = lexical(queries[i], trialDepth)
		for _, n := range v.nearest(vectors[i], trialDepth, find) {
			trials[i].Near = append(trials[i].Near, n.Memory.ID)
		}
	}
	return trials, ctx.Err()
}

// trials returns the possible trials for memories, without answers, and their queries.
func (v *Store) trials(memories []record.Memory) (trials []recall.Trial, queries []string) {
	type source struct {
		chance uint64
		id     string
		pieces []string
	}
	var sources []source
	for _, m := range memories {
		h := fnv.New64a()
		h.Write([]byte(m.ID))
		sources = append(sources, source{chance: h.Sum64(), id: m.ID})
	}
	// In the order of a hash, so that a memory more changes few of the queries.
	at := make(map[string]record.Memory, len(memories))
	for _, m := range memories {
		at[m.ID] = m
	}
	slices.SortFunc(sources, func(a, b source) int {
		return cmp.Or(cmp.Compare(a.chance, b.chance), cmp.Compare(a.id, b.id))
	})
	var usable []source
	for _, s := range sources {
		m := at[s.id]
		if s.pieces = pieces(m.Text + " " + m.Body); len(s.pieces) >= 4 && v.Has(m) {
			usable = append(usable, s)
		}
		if len(usable) == len(mixtures)*perMixture {
			break
		}
	}
	for n, mix := range mixtures {
		for i := range min(perMixture, len(usable)) {
			one := usable[(n*perMixture+i)%len(usable)]
			chance := rand.New(rand.NewPCG(one.chance, uint64(n)))
			parts := [][]string{run(chance, one.pieces, mix.own), nil}
			for k := range mix.other {
				other := usable[(n*perMixture+i+1+k)%len(usable)]
				parts[1] = append(parts[1], run(chance, other.pieces, 1)...)
			}
			if chance.IntN(2) == 1 {
				slices.Reverse(parts)
			}
			trials = append(trials, recall.Trial{Want: one.id})
			queries = append(queries, strings.Join(slices.Concat(parts...), " "))
		}
	}
	return trials, queries
}

// run returns n adjacent pieces.
func run(chance *rand.Rand, pieces []string, n int) []string {
	n = min(n, len(pieces))
	from := chance.IntN(len(pieces) - n + 1)
	return pieces[from : from+n]
}

// pieces returns the words of a text, or four characters each in text without blanks.
func pieces(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("，。！？、；：（）「」", r)
	})
	const longest = 12 // characters of a word, on average
	if len(words) == 0 || utf8.RuneCountInString(text)/len(words) < longest && !unspaced(text) {
		return words
	}
	var out []string
	for _, word := range words {
		for letters := range slices.Chunk([]rune(word), 4) {
			out = append(out, string(letters))
		}
	}
	return out
}

// unspaced reports whether half of a text's letters are of a script without blanks between words.
func unspaced(text string) bool {
	letters, of := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
				of++
			}
		}
	}
	return 2*of > letters
}
