package recall

import (
	"math"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// The model is BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and
// Beyond, 2009), where the frequencies and the lengths of fields are summed by weight first
// (Robertson, Zaragoza and Taylor, Simple BM25 Extension to Multiple Weighted Fields, CIKM 2004),
// with
//
//	idf(t)   = ln(1 + (N - df + 0.5) / (df + 0.5))
//	score    = Σ (k3 + 1)·q / (k3 + q) · idf(t) · tf·(k1 + 1) / (tf + k1·(1 - b + b·length/mean))
//
// where q is how often the query has a term.

const (
	k1 = 1.5  // saturation of a repeated term
	b  = 0.65 // discount of a long memory
	k3 = 1    // saturation of a repeated query term
	// manyShare drops a character that one document in so many has: it adds nothing to the pairs, at
	// the greatest cost.
	manyShare = 2
)

func saturated(q float64) float64 { return (k3 + 1) * q / (k3 + q) }

func idf(df, docs int) float64 {
	return math.Log(1 + (float64(docs-df)+0.5)/(float64(df)+0.5))
}

// score fills words and grams.
func (r *ranking) score() {
	r.words, r.grams = make([]float32, r.docs), make([]float32, r.docs)
	r.lengths = lengths{known: make([]float32, r.docs), mean: mean(r.totals.Length, r.totals.Docs), of: (*Segment).Length}
	r.room = make([]catalog.Posting, postingsRead)
	for i := range r.query {
		if r.request.over() {
			return
		}
		l := &r.query[i]
		for k, variants := range l.ids {
			for _, v := range variants {
				r.add(r.words, k, v.id, l.weight*l.idf*v.share)
			}
		}
	}
	r.characters()
	r.addGrams()
}

// postingsRead is the number of postings in one read.
const postingsRead = 256

// add adds a term of a segment to some scores.
func (r *ranking) add(scores []float32, k int, id uint32, weight float64) {
	s, base := r.segments[k], r.base[k]
	for c := s.Postings(id); ; {
		n := c.Read(r.room)
		if n == 0 {
			return
		}
		for _, p := range r.room[:n] {
			at := base + int(p.Doc)
			length := r.lengths.known[at]
			if length == 0 {
				length = r.lengths.look(s, at, int(p.Doc))
			}
			scores[at] += float32(weight * frequency(float64(p.Freq), float64(length)))
		}
	}
}

// frequency returns the part of BM25 that depends on the document. length is relative to the mean.
func frequency(tf, length float64) float64 {
	return tf * (k1 + 1) / (tf + k1*(1-b+b*length))
}

// mean returns the average of a total over all documents.
func mean(total uint64, docs int) float64 {
	return max(float64(total)/float64(docs), 1)
}

// lengths caches the lengths of documents relative to the mean.
type lengths struct {
	known []float32 // 0: not looked up yet
	mean  float64
	of    func(s *Segment, doc int) uint32
}

func (l *lengths) look(s *Segment, at, doc int) float32 {
	l.known[at] = float32(max(float64(l.of(s, doc))/l.mean, 1e-6))
	return l.known[at]
}

// character is a character of a script that is looked up by pairs. It has no postings of its own:
// the pairs that begin with it find it.
type character struct {
	text  string
	share float64    // of a pair's weight; 1 for a character alone in the query
	idf   float64    // 0: it tells nothing
	ids   [][]uint32 // in each segment
}

// characters adds the scores of the query's characters to words.
func (r *ranking) characters() {
	note := func(text string, share float64) {
		for i := range r.chars {
			if r.chars[i].text == text {
				r.chars[i].share = max(r.chars[i].share, share)
				return
			}
		}
		r.chars = append(r.chars, character{text: text, share: share})
	}
	for _, l := range r.query {
		if !l.joined {
			continue
		}
		_, n := utf8.DecodeRuneInString(l.text)
		if n == len(l.text) {
			note(l.text, 1)
			continue
		}
		note(l.text[:n], characterShare)
		note(l.text[n:], characterShare)
	}
	if len(r.chars) > 0 {
		r.scratch = make([]uint32, r.docs)
	}
	for i := range r.chars {
		c := &r.chars[i]
		c.ids = make([][]uint32, len(r.segments))
		df := 0 // at most
		for k, s := range r.segments {
			for id, text := range s.Prefix(c.text) {
				if len(text) > len(c.text) || c.share < 1 {
					// A character alone in the query was looked up as a term.
					c.ids[k] = append(c.ids[k], id)
					df += s.DF(id)
				}
			}
		}
		if c.share < 1 && df > r.totals.Docs/manyShare {
			continue
		}
		for k := range c.ids {
			for _, id := range c.ids[k] {
				r.sum(k, id)
			}
		}
		c.idf = idf(len(r.touched), r.totals.Docs) * hiragana(c.text)
		r.drain(func(at int, tf float64) {
			length := r.lengths.known[at]
			if length == 0 {
				ref := locate(r.base, at)
				length = r.lengths.look(r.segments[ref.Segment], at, ref.Doc)
			}
			r.words[at] += float32(c.share * c.idf * frequency(tf, float64(length)))
		})
	}
}

// sum adds the frequencies of a term to scratch.
func (r *ranking) sum(k int, id uint32) {
	s, base := r.segments[k], r.base[k]
	for c := s.Postings(id); c.Next(); {
		if !s.Live(int(c.Doc)) {
			continue
		}
		at := base + int(c.Doc)
		if r.scratch[at] == 0 {
			r.touched = append(r.touched, uint32(at))
		}
		r.scratch[at] += c.Freq
	}
}

// drain calls fn for each document in scratch, and empties it.
func (r *ranking) drain(fn func(at int, tf float64)) {
	for _, at := range r.touched {
		fn(int(at), float64(r.scratch[at]))
		r.scratch[at] = 0
	}
	r.touched = r.touched[:0]
}

// addGrams fills grams with the scores of relatives of the query's words: terms that share pieces
// with them. That finds other forms, compounds and misspellings. A relative weighs as much as its
// shared pieces, each by its rarity, divided by the root of the relative's number of pieces. Each
// of the two scores is divided by its best before they are mixed.
func (r *ranking) addGrams() {
	type gram struct {
		text  string
		times float64
	}
	var all []gram
	for _, l := range r.query {
		if !l.gram {
			continue
		}
	next:
		for _, g := range terms.Grams(l.text) {
			for i := range all {
				if all[i].text == g {
					all[i].times++
					continue next
				}
			}
			all = append(all, gram{g, 1})
		}
	}
	shared := make([][]float32, len(r.segments)) // weight of the grams that each term shares
	for k, s := range r.segments {
		shared[k] = make([]float32, s.Terms())
	}
	ids := make([][]uint32, len(r.segments))
	for _, g := range all {
		df, n := 0, 0
		for k, s := range r.segments {
			n, ids[k] = s.Gram(g.text, ids[k][:0])
			df += n
		}
		weight := float32(saturated(g.times) * idf(df, r.totals.Docs))
		for k := range ids {
			for _, id := range ids[k] {
				shared[k][id] += weight
			}
		}
	}
	clear(r.lengths.known)
	r.lengths.mean, r.lengths.of = mean(r.totals.GramLength, r.totals.Docs), (*Segment).GramLength
	for k, s := range r.segments {
		for id, weight := range shared[k] {
			if weight > 0 {
				id := uint32(id)
				own := max(utf8.RuneCountInString(s.TermText(id))-terms.GramSize+1, 1)
				r.add(r.grams, k, id, float64(weight)/math.Sqrt(float64(own)))
			}
		}
	}
	bestWord, bestGram := r.greatest(r.words), r.greatest(r.grams)
	if bestGram == 0 {
		return
	}
	factor := float32(gramShare) / bestGram
	if bestWord > 0 {
		factor *= bestWord
	}
	for i := range r.grams {
		r.grams[i] *= factor
	}
}

// greatest returns the highest score of a document that may be found.
func (r *ranking) greatest(scores []float32) (best float32) {
	for at, s := range scores {
		if s > best && r.may(at) {
			best = s
		}
	}
	return best
}
