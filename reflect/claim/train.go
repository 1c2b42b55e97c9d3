package claim

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Message is a labelled message of the training text.
type Message struct {
	Voice string
	Lang  string
	Text  string
	Keep  []Label
}

// A Label marks words of a message as worth keeping.
type Label struct {
	Span string
	Kind Kind
}

// Limits of the table of weights, in entries.
const (
	maxKeep   = 32000
	maxManner = 5500
)

// example is a sentence of the training text.
type example struct {
	voice    string
	lang     string
	text     string
	plain    bool // its message holds no words of others
	s        *Sentence
	label    *Label // nil: nothing to keep
	from, to int    // of the label, in the sentence
	all      []uint32
	said     int
}

// examples splits the training text. It skips a sentence that only continues a claim.
func examples(messages []Message) []*example {
	var out []*example
	for _, m := range messages {
		plain := Hearsay(m.Text) == ""
		type stretch struct {
			from, to int
			label    *Label
			taken    bool
		}
		var spans []stretch
		for i := range m.Keep {
			if at := strings.Index(m.Text, m.Keep[i].Span); at >= 0 {
				spans = append(spans, stretch{from: at, to: at + len(m.Keep[i].Span), label: &m.Keep[i]})
			}
		}
	sentences:
		for _, s := range Split(m.Text) {
			e := &example{voice: m.Voice, lang: m.Lang, text: s.text, plain: plain, s: s}
			for i := range spans {
				sp := &spans[i]
				both := min(sp.to, s.End) - max(sp.from, s.Start)
				if both*2 < min(sp.to-sp.from, s.End-s.Start) || both <= 0 {
					continue
				}
				if sp.taken {
					continue sentences
				}
				sp.taken = true
				if e.label == nil {
					e.label, e.from, e.to = sp.label, max(0, sp.from-s.Start), min(s.End, sp.to)-s.Start
				}
			}
			out = append(out, e)
		}
	}
	return out
}

// tally counts how often each voice uses a word or a sequence of words, by its hash.
type tally map[uint32]map[string]int

func (t tally) add(hash uint32, voice string) {
	if t[hash] == nil {
		t[hash] = map[string]int{}
	}
	t[hash][voice]++
}

func (t tally) addAll(tokens []token, voice string) {
	if len(tokens) > 0 && len(tokens) <= maxPreface {
		t.add(sequence(tokens), voice)
	}
}

// keep returns what is worth keeping by its uses.
func (t tally) keep(worth func(by map[string]int) bool) map[uint32][]byte {
	keep := map[uint32][]byte{}
	for hash, by := range t {
		if worth(by) {
			keep[hash] = nil
		}
	}
	return keep
}

// learnVocabulary finds words that several voices of a language use repeatedly, and the words
// around claims.
func learnVocabulary(list []*example) vocabulary {
	uses, voices := map[string]tally{}, map[string]map[string]bool{} // by language
	before, after := tally{}, tally{}
	for _, e := range list {
		if uses[e.lang] == nil {
			uses[e.lang], voices[e.lang] = tally{}, map[string]bool{}
		}
		voices[e.lang][e.voice] = true
		for _, t := range e.s.tokens {
			if t.shape <= capital || t.shape == han {
				uses[e.lang].add(t.hash, e.voice)
			}
		}
		if e.label == nil {
			continue
		}
		if first := slices.IndexFunc(e.s.tokens, func(t token) bool { return t.start >= e.from }); first > 0 {
			before.addAll(e.s.tokens[:first], e.voice)
		}
		if last := slices.IndexFunc(e.s.tokens, func(t token) bool { return t.start >= e.to }); last > 0 {
			after.addAll(e.s.tokens[last:], e.voice)
		}
	}
	words := map[uint32][]byte{}
	for lang, all := range uses {
		maps.Copy(words, all.keep(func(by map[string]int) bool {
			n := 0
			for _, times := range by {
				n += times
			}
			return len(by) >= max(2, len(voices[lang])*2/5) && n >= 3*len(by)/2
		}))
	}
	several := func(by map[string]int) bool { return len(by) >= 2 }
	return vocabulary{words: newTable(0, words), prefaces: newTable(0, before.keep(several)), closings: newTable(0, after.keep(several))}
}

// linear is a logistic regression, trained by AdaGrad.
type linear struct {
	index map[uint32]int
	w, g  []float64
	bias  float64
	gbias float64
}

// fit learns to separate the examples with y from the others. The order comes from a fixed seed, so
// the same text gives the same weights.
func fit(index map[uint32]int, rows [][]int, y []bool, epochs int, rate, decay float64) *linear {
	l := &linear{index: index, w: make([]float64, len(index)), g: make([]float64, len(index))}
	for i := range l.g {
		l.g[i] = 1e-2
	}
	l.gbias = 1e-2
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range epochs {
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, n := range order {
			scale := norm(len(rows[n]))
			z := l.bias
			sum := 0.0
			for _, f := range rows[n] {
				if f >= 0 {
					sum += l.w[f]
				}
			}
			z += sum * scale
			d := logistic(z)
			if y[n] {
				d--
			}
			l.gbias += d * d
			l.bias -= rate * d / math.Sqrt(l.gbias)
			d *= scale
			for _, f := range rows[n] {
				if f >= 0 {
					grad := d + decay*l.w[f]
					l.g[f] += grad * grad
					l.w[f] -= rate * grad / math.Sqrt(l.g[f])
				}
			}
		}
	}
	return l
}

// Train makes a model from labelled messages.
func Train(messages []Message) *Model { return train(examples(messages)) }

func train(list []*example) *Model {
	m := &Model{vocabulary: learnVocabulary(list)}
	var kept []*example
	for _, e := range list {
		e.all, e.said = m.features(e.s, nil)
		if e.label != nil {
			kept = append(kept, e)
		}
	}
	rowsOf := func(list []*example, least int, said bool) (map[uint32]int, [][]int) {
		seen := map[uint32]int{}
		of := func(e *example) []uint32 {
			if said {
				return e.all[:e.said]
			}
			return e.all
		}
		for _, e := range list {
			once := map[uint32]bool{}
			for _, f := range of(e) {
				if !once[f] {
					once[f] = true
					seen[f]++
				}
			}
		}
		index := map[uint32]int{}
		rows := make([][]int, len(list))
		for i, e := range list {
			for _, f := range of(e) {
				at, ok := index[f]
				if !ok {
					at = -1
					if seen[f] >= least {
						at = len(index)
						index[f] = at
					}
				}
				rows[i] = append(rows[i], at)
			}
		}
		return index, rows
	}
	index, rows := rowsOf(list, 2, false)
	y := make([]bool, len(list))
	for i, e := range list {
		y[i] = e.label != nil
	}
	l := fit(index, rows, y, 12, 0.1, 1e-4)
	m.keep, m.keepScale, m.keepBias = quantized(1, maxKeep, []*linear{l}, func(scale, bias []float64) (float64, float64) { return scale[0], bias[0] })

	index, rows = rowsOf(kept, 3, true)
	var outputs []*linear
	for k := range kinds {
		y := make([]bool, len(kept))
		for i, e := range kept {
			y[i] = int(e.label.Kind) == k
		}
		outputs = append(outputs, fit(index, rows, y, 40, 0.2, 1e-4))
	}
	m.manner, _, _ = quantized(kinds, maxManner, outputs, func(scale, bias []float64) (float64, float64) {
		copy(m.mannerScale[:], scale)
		copy(m.mannerBias[:], bias)
		return 0, 0
	})
	m.accept, m.propose, m.lasting = 1, 1, 1
	return m
}

// quantized reduces weights to one byte each, the heaviest first, up to a limit.
func quantized(width, limit int, outputs []*linear, set func(scale, bias []float64) (float64, float64)) (table, float64, float64) {
	scale, bias := make([]float64, width), make([]float64, width)
	for k, l := range outputs {
		most := 0.0
		for _, w := range l.w {
			most = max(most, math.Abs(w))
		}
		scale[k], bias[k] = most/127, l.bias
	}
	type entry struct {
		hash   uint32
		weight float64
		value  []byte
	}
	var all []entry
	for h, i := range outputs[0].index {
		e := entry{hash: h, value: make([]byte, width)}
		for k, l := range outputs {
			v := int8(math.Round(l.w[i] / max(scale[k], 1e-12)))
			e.value[k] = byte(v)
			e.weight = max(e.weight, math.Abs(float64(v)))
		}
		if e.weight > 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(-cmp.Compare(a.weight, b.weight), cmp.Compare(a.hash, b.hash))
	})
	values := map[uint32][]byte{}
	for _, e := range all[:min(limit, len(all))] {
		values[e.hash] = e.value
	}
	a, b := set(scale, bias)
	return newTable(width, values), a, b
}
