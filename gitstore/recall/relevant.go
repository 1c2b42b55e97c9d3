package recall

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// A prompt is no question to the memory, and most prompts have nothing to do with it. Relevant
// answers only if a memory is clearly about something that the prompt names.
//
// Each word of the prompt has a weight. A name weighs nameWeight: an identifier, a path, an option,
// an error code, a number with a unit. A word for any work, such as fix, test or file, weighs
// commonWeight; every other word 1. A word that only the body of a memory has counts half, and so
// does a name of one part in another spelling. A memory is relevant if its words weigh enough
// together and are a large enough share of all: see relevant.
const (
	nameWeight   = 3.0
	commonWeight = 0.25
	pairWeight   = 0.5 // of two neighbouring characters of Han, kana or Hangul
)

// Thresholds of relevance.
const (
	enough    = 2.0  // weight of the words it has
	share     = 0.5  // of the weight of words in the prompt; a word that no memory has counts half
	nameShare = 0.12 // the same, where a name is among them that few memories have
	ownShare  = 0.5  // of the weight of its own statement: a long prompt that repeats it
	// two is the share of the prompt's information, as in Found.Covered, for two words that are not
	// names.
	two        = 0.58
	much       = 0.55 // likewise for several: then they need be no share of its words
	little     = 0.40 // likewise, where they are
	some       = 0.2  // likewise, for a memory that means the same
	few        = 3    // memories that may have such a name, or one in rare
	rare       = 20
	fewestOwn  = 3   // words of the statement that a long prompt has to say
	pathWeight = 3.0 // of a path in the prompt that the memory's globs match
)

// Relevance is a memory that a prompt is about.
type Relevance struct {
	Memory record.Memory
	Weight float64  // of the words
	Words  []string // of the prompt, heaviest first: the reason for relevance
	Means  bool     // its words are few, but it means the same
}

// most bounds the memories examined closely: the best by their words, and of those about a path in
// the prompt.
const most = 60

// Relevant returns the memories that the prompt is clearly about, heaviest first, equal weights in
// the order of Rank. A memory that shares only common words with the prompt is never relevant. keep
// selects the memories that may be found; nil selects all. means reports whether a memory means the
// same as the prompt; then fewer common words do. It may be nil. The error is that of ctx, or
// ErrCorrupt.
func (p Prompt) Relevant(ctx context.Context, x *Index, keep func(Ref) bool, means func(record.Memory) bool) ([]Relevance, error) {
	if !p.Tells() || x.Totals().Docs == 0 {
		return nil, nil
	}
	g := p.gate(x)
	var out []Relevance
	for _, f := range g.candidates(Request{Text: p.text, N: most, Keep: keep, Done: ctx.Done()}) {
		v := g.look(f)
		likely := means != nil && v.covered >= some
		if !likely && !g.clearly(v, nil) { // most are not, and are not unpacked
			continue
		}
		m, err := x.Memory(f.Ref)
		if err != nil {
			return nil, err
		}
		v.asWritten(m)
		clearly := g.clearly(v, &m)
		if likely = likely && !clearly && means(m); !likely && !clearly {
			continue
		}
		slices.SortStableFunc(v.words, func(a, b held) int { return cmp.Compare(b.weight, a.weight) })
		r := Relevance{Memory: m, Weight: v.weight(), Means: likely}
		for _, w := range v.words {
			if len(r.Words) < 3 && !slices.Contains(r.Words, w.text) {
				r.Words = append(r.Words, w.text)
			}
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Relevance) int { return cmp.Compare(b.Weight, a.Weight) })
	return out, ctx.Err()
}

// gate compares a prompt with an index.
type gate struct {
	Prompt
	index *Index
	about *about
	all   float64 // of all words; a word that no memory has counts half
	rare  []bool  // per word: few memories have its rarest term

	terms []string   // of all words, unique
	of    [][]int    // per word: places of its terms in terms
	slots [][]uint16 // per segment and term: place in terms, from 1
	has   []uint8    // per term, in the current memory: inBody, inHead
	room  []catalog.Position
}

// Places of a term in a memory.
const (
	inBody = 1
	inHead = 2 // in a statement, a tag or a path
)

func (p Prompt) gate(x *Index) *gate {
	g := &gate{Prompt: p, index: x, about: x.about(p.paths, false)}
	places := map[string]int{}
	var df []int
	for _, w := range p.words {
		known := math.MaxInt // memories that have its rarest term
		var of []int
		for _, t := range w.terms {
			at, ok := places[t]
			if !ok {
				at = len(g.terms)
				places[t], g.terms, df = at, append(g.terms, t), append(df, x.DF(t))
			}
			of, known = append(of, at), min(known, df[at])
		}
		g.of, g.rare = append(g.of, of), append(g.rare, known <= max(few, x.Totals().Docs/rare))
		if known > 0 {
			g.all += w.weight
		} else {
			g.all += w.weight / 2
		}
	}
	g.has = make([]uint8, len(g.terms))
	g.slots = make([][]uint16, len(x.segments))
	return g
}

// candidates returns the best memories by the prompt's words, then the best of those about a path
// in it.
func (g *gate) candidates(q Request) []Found {
	if g.about == nil {
		return g.index.Rank(q)
	}
	r, all := g.index.rank(q, func(at Ref) bool { return g.about.path(at) != "" })
	if len(all) == 0 {
		return nil
	}
	found := r.fold(all)
	rest := slices.DeleteFunc(all, func(c candidate) bool {
		return g.about.path(c.Ref) == "" || slices.ContainsFunc(found, func(f Found) bool { return f.Ref == c.Ref })
	})
	return append(found, r.fold(rest)...)
}

// verdict sums up a memory's words in common with a prompt.
type verdict struct {
	words   []held
	path    bool    // it is about one
	covered float64 // as Found has it
}

// held is a word of a prompt in a memory, with its weight there.
type held struct {
	asked
	rare bool
}

func (v *verdict) weight() (sum float64) {
	for _, w := range v.words {
		sum += w.weight
	}
	return sum
}

// named reports whether a rare name or a path is among the words.
func (v *verdict) named() bool {
	return v.path || slices.ContainsFunc(v.words, func(w held) bool { return w.rare && w.weight >= nameWeight })
}

// look computes a verdict from the index; names count as if spelt as in the prompt.
func (g *gate) look(f Found) *verdict {
	s := g.index.segments[f.Segment]
	slots := g.slots[f.Segment]
	if slots == nil {
		slots = make([]uint16, s.Terms())
		for i, t := range g.terms {
			if id, ok := s.Term(t); ok {
				slots[id] = uint16(i + 1)
			}
		}
		g.slots[f.Segment] = slots
	}
	clear(g.has)
	g.room = s.Forward(f.Doc, g.room[:0])
	for _, at := range g.room {
		if n := slots[at.Term]; n > 0 {
			where := uint8(inHead)
			if at.Weight == fieldWeights[terms.Body] {
				where = inBody
			}
			g.has[n-1] = max(g.has[n-1], where)
		}
	}
	v := &verdict{covered: f.Covered}
	for i, w := range g.Prompt.words {
		where := uint8(inHead)
		for _, t := range g.of[i] {
			where = min(where, g.has[t])
		}
		switch where {
		case 0:
			continue
		case inBody:
			w.weight /= 2
		}
		v.words = append(v.words, held{w, g.rare[i]})
	}
	if path := g.about.path(f.Ref); path != "" {
		v.path = true
		v.words = append(v.words, held{asked: asked{text: path, weight: pathWeight}})
	}
	return v
}

// asWritten halves the weight of names of one part that a memory spells otherwise.
func (v *verdict) asWritten(m record.Memory) {
	var said []string
	for _, t := range m.Texts() {
		said = append(said, t.Text, t.Body)
	}
	said = slices.Concat(said, m.Tags, m.Paths)
	for i := range v.words {
		w := &v.words[i]
		if w.weight > 1 && len(w.terms) == 1 && !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, w.text) }) {
			w.weight /= 2
		}
	}
}

// clearly reports whether a memory is relevant. Its words must be a large share of the prompt's, or
// repeat much of its own statement, and carry enough information to rule out chance. The index
// shows which words a project uses everywhere. With a nil memory it reports whether one may be
// relevant.
func (g *gate) clearly(v *verdict, m *record.Memory) bool {
	weight := v.weight()
	if weight < enough {
		return false
	}
	pairs := 0
	for _, w := range v.words {
		if len(w.terms) == 1 && strings.IndexFunc(w.text, terms.Unspaced) == 0 {
			pairs++
		}
	}
	several := weight >= 1.25*enough || pairs >= 4
	switch {
	case several && v.covered >= much:
		return true
	case !v.named() && v.covered < two && !(several && v.covered >= little):
		return false
	case weight/g.all >= share, v.named() && weight/g.all >= nameShare:
		return true
	}
	plain := 0
	for _, w := range v.words {
		if w.weight >= 1 {
			plain++
		}
	}
	return plain >= fewestOwn && (m == nil || g.ownWords(*m) >= ownShare)
}

// ownWords returns the share of the meaningful words of a memory's statement that a prompt has.
func (p Prompt) ownWords(m record.Memory) float64 {
	in := map[string]bool{}
	for _, w := range p.words {
		for _, t := range w.terms {
			in[t] = true
		}
	}
	n, found := 0, 0
	for _, w := range Ask(m.Text).words {
		if w.weight == commonWeight {
			continue
		}
		n++
		if hasAll(in, w.terms) {
			found++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(found) / float64(n)
}

// DF returns the number of documents with a term.
func (x *Index) DF(term string) (n int) {
	for _, s := range x.segments {
		if id, ok := s.Term(term); ok {
			n += s.DF(id)
		}
	}
	return n
}

func hasAll(in map[string]bool, terms []string) bool {
	return !slices.ContainsFunc(terms, func(t string) bool { return !in[t] })
}
