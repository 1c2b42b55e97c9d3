package main

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/bench/recall/judge"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// simulated are models that range from useless to very good. They need no weights and give the same
// results everywhere. A fusion must neither suffer from the former nor waste the latter.
//
//	random   each text has a random direction
//	words    the sum of a random direction for each word, by its rarity: worse than a search by words
//	context  random indexing (Kanerva, Kristofersson, Holst, CogSci 2000): a word is the memories that it occurs in
//	noisy    knows the wanted memories, with much noise; each memory has its own direction
//	topics   likewise, but memories with the same words are similar
var simulated = []judge.Model{
	model("random", func([]record.Memory, map[string][]int) embedding {
		return func(text string, _ int) []float32 { return direction("random", text) }
	}),
	model("words", func(all []record.Memory, _ map[string][]int) embedding { return newWords(all).hashed }),
	model("context", func(all []record.Memory, _ map[string][]int) embedding { return newWords(all).context }),
	model("noisy", func(all []record.Memory, labelled map[string][]int) embedding {
		return knowing(newWords(all), labelled, func(of int) []float32 { return direction("noisy", all[of].ID) })
	}),
	model("topics", func(all []record.Memory, labelled map[string][]int) embedding {
		w := newWords(all)
		return knowing(w, labelled, func(of int) []float32 {
			return sum(direction("topics", all[of].ID), w.context(textOf(all[of]), of), 0.8, 0.6)
		})
	}),
}

// embedding returns the vector of a text: of a memory, by its number, or of a query, -1.
type embedding func(text string, of int) []float32

// model puts a simulated model into the form that the project's own code calls.
func model(name string, open func([]record.Memory, map[string][]int) embedding) judge.Model {
	return judge.Model{Name: name, Dim: dimension, Open: func(memories []record.Memory, labelled map[string][]int) vector.Embed {
		vectorOf := open(memories, labelled)
		at := map[string]int{}
		for i, m := range memories {
			at[textOf(m)] = i
		}
		return func(ctx context.Context, texts []string) (out [][]float32, err error) {
			for _, text := range texts {
				of, known := at[short(text)]
				if !known {
					of = -1
				}
				out = append(out, vectorOf(text, of))
			}
			return out, ctx.Err()
		}
	}}
}

// textOf returns the text of a memory to embed, shortened so far that a later cut does not matter.
func textOf(m record.Memory) string {
	if m.Body == "" {
		return short(m.Text)
	}
	return short(m.Text + "\n\n" + m.Body)
}

func short(text string) string { return text[:min(len(text), 1400)] }

// dimension is the dimension of the models.
const dimension = 256

// signal is the share of a right answer in the vector of a query, beside noise of length 1. The
// cosine with the right memory is about 0.26, and that of the best of 10,000 wrong ones 0.24.
const signal = 0.27

// knowing returns a model that knows which memories a query wants. An unlabelled query wants the
// memory with the longest piece of it.
func knowing(w *words, labelled map[string][]int, memory func(of int) []float32) embedding {
	return func(text string, of int) []float32 {
		if of >= 0 {
			return memory(of)
		}
		wanted, known := labelled[text]
		if !known {
			wanted = w.most(text)
		}
		v := direction("noise", text)
		for _, of := range wanted {
			v = add(v, memory(of), signal)
		}
		return unit(v)
	}
}

// words indexes the words of a store's memories.
type words struct {
	in       map[string][]int // the memories that contain a word; each once
	contexts map[string][]float32
	solid    []string // texts without blanks
	n        int
}

func newWords(all []record.Memory) *words {
	w := &words{in: map[string][]int{}, contexts: map[string][]float32{}, n: len(all)}
	for i, m := range all {
		w.solid = append(w.solid, solid(m.Text+m.Body))
		in := wordsOf(m.Text + "\n" + m.Body)
		own, weight := direction("memory", m.ID), float32(1/math.Sqrt(float64(len(in)+1)))
		for _, t := range in {
			if l := w.in[t]; len(l) == 0 || l[len(l)-1] != i {
				w.in[t] = append(l, i)
			}
			if w.contexts[t] == nil {
				w.contexts[t] = make([]float32, dimension)
			}
			add(w.contexts[t], own, weight)
		}
	}
	for _, v := range w.contexts {
		unit(v)
	}
	return w
}

func (w *words) idf(t string) float32 {
	return float32(math.Log(1 + float64(w.n)/float64(len(w.in[t])+1)))
}

func (w *words) hashed(text string, _ int) []float32 {
	v := make([]float32, dimension)
	for _, t := range wordsOf(text) {
		add(v, direction("word", t), w.idf(t))
	}
	return unit(v)
}

func (w *words) context(text string, _ int) []float32 {
	v := make([]float32, dimension)
	for _, t := range wordsOf(text) {
		if c := w.contexts[t]; c != nil {
			add(v, c, w.idf(t)*w.idf(t))
		}
	}
	return unit(v)
}

// most returns the memory with the longest piece of a text, ignoring blanks, among those with most
// of its words.
func (w *words) most(text string) []int {
	has := map[int]float32{}
	for _, t := range wordsOf(text) {
		for _, of := range w.in[t] {
			has[of] += w.idf(t)
		}
	}
	likely := slices.SortedFunc(maps.Keys(has), func(a, b int) int {
		return cmp.Or(cmp.Compare(has[b], has[a]), cmp.Compare(a, b))
	})
	best, longest := []int(nil), 0
	for _, of := range likely[:min(len(likely), 100)] {
		if n := common(solid(text), w.solid[of]); n > longest {
			best, longest = []int{of}, n
		}
	}
	return best
}

// solid returns a text without blanks.
func solid(text string) string { return strings.Join(strings.Fields(text), "") }

// common returns the length of the longest common substring, in bytes.
func common(a, b string) (longest int) {
	row := make([]int, len(b)+1) // per byte of b: the length of the common suffix
	for i := range len(a) {
		before := 0
		for j := range len(b) {
			before, row[j+1] = row[j+1], before+1
			if a[i] != b[j] {
				row[j+1] = 0
			}
			longest = max(longest, row[j+1])
		}
	}
	return longest
}

// wordsOf returns the words of a text in lower case, and each pair of neighbouring characters of
// scripts without blanks.
func wordsOf(text string) (out []string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		letters := []rune(word)
		if !unicode.In(letters[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || len(letters) < 3 {
			out = append(out, word)
			continue
		}
		for i := range len(letters) - 1 {
			out = append(out, string(letters[i:i+2]))
		}
	}
	return out
}

// direction returns a pseudo-random vector of length 1, always the same for the same names.
func direction(of, name string) []float32 {
	h := fnv.New64a()
	h.Write([]byte(of + "\x00" + name))
	chance := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, dimension)
	for i := range v {
		v[i] = float32(chance.NormFloat64())
	}
	return unit(v)
}

// add adds a share of b to a.
func add(a, b []float32, share float32) []float32 {
	for i := range a {
		a[i] += share * b[i]
	}
	return a
}

func sum(a, b []float32, x, y float32) []float32 {
	return unit(add(add(make([]float32, len(a)), a, x), b, y))
}

// unit scales a vector to length 1, unless it is zero.
func unit(v []float32) []float32 {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square > 0 {
		for i := range v {
			v[i] *= float32(1 / math.Sqrt(square))
		}
	}
	return v
}
