package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// Weights of the parts of a score; fieldWeights in document.go has those of a memory's fields. To
// see the effect of a change, run
//
//	go run ./bench/recall gitstore/recall/testdata/labelled DIR...
//
// where each DIR holds a different kind of set: commits, issues, commands, code, or another
// language. A single set always favours some change.
const (
	gramShare     = 0.25 // of the best word score: the maximum for grams
	nearWeight    = 0.5  // of the words' information, for neighbours in query and document
	passageWeight = 0.4  // of the words' information, for words in one passage
	besideShare   = 0.2  // of the scores of the memories before and after in a session
	fileShare     = 0.3  // of the way to the best memory about the same file
	// kanaShare is the share of its information that a term of hiragana keeps: usually it is an ending
	// or a particle.
	kanaShare      = 0.2
	endingShare    = 0.7 // likewise a pair with one hiragana, half an ending or a particle
	characterShare = 0.2 // of a pair's weight: one character of Han, kana or Hangul
)

const (
	checkEvery = 256  // documents between two looks at Done
	depth      = 100  // memories ranked again by the positions of words
	besideOf   = 10   // of the best, whose neighbours are ranked too, even without a word of the query
	maxLookups = 256  // distinct terms of a query: the most informative ones
	maxTerms   = 4096 // terms whose frequency is read: the first ones
)

// Request describes a search.
type Request struct {
	Text    string   // words, those of the phrases too
	Phrases []string // only documents that have each of them, its words side by side
	Not     []string // only documents that have none of them
	N       int      // hits at most; 0: as many as there are
	Now     time.Time
	// Files are paths that the asker works on. Memories about them rank slightly higher.
	Files []string
	// Keep selects the documents that may be found; nil selects all. Frequencies always cover all
	// documents.
	Keep   func(at Ref) bool
	Apart  bool                           // duplicates are hits of their own
	HalfOf func(kind uint8) time.Duration // half-life of a kind; nil or 0: it never fades
	Done   <-chan struct{}                // ends the search, whose result is then invalid
}

// Found is a document that answers a Request.
type Found struct {
	Ref
	// Score is the sum of Parts times their Prior and Files. Compare it within one answer only.
	Score float64
	// Covered is the share of the query's information in the memory, 0 to 1, comparable between
	// stores.
	Covered float64
	Parts   Parts
	Words   []Part // contribution of each term of the query, or its replacement, to Parts.Words
	Alike   []Ref  // duplicates that were left out
}

// Parts are the summands of a score.
type Parts struct {
	Words      float64 // BM25: the sum of Found.Words
	Characters float64 // BM25 of the characters of pairs, each by itself
	Grams      float64 // BM25 of pieces of words
	Near       float64 // words of the query that are neighbours
	Passage    float64 // words of the query that stand in one line or sentence
	Beside     float64 // from the memories before and after in the session
	SameFile   float64 // from a better memory about the same file
	Prior      float64 // factor for its kind's lifetime and its age
	Files      float64 // factor: it is about a file that the asker works on
}

func (p Parts) score() float64 {
	return (p.Words + p.Characters + p.Grams + p.Near + p.Passage + p.Beside + p.SameFile) * p.Prior * p.Files
}

// Rank returns the answers to a request, the best first; equal scores are ordered newest first,
// then by key. Results and order depend only on the present documents. A damaged Index gives a
// wrong answer: check its Err afterwards.
func (x *Index) Rank(q Request) []Found {
	r, all := x.rank(q, nil)
	if len(all) == 0 {
		return nil
	}
	return r.fold(all)
}

// rank returns the candidates by score: as many as are examined closely, and as many of those that
// also accepts.
func (x *Index) rank(q Request, also func(Ref) bool) (*ranking, []candidate) {
	r := &ranking{Index: x, request: &q}
	for _, s := range x.segments {
		r.base = append(r.base, r.docs)
		r.docs += s.Len()
	}
	r.totals = x.Totals()
	if r.totals.Docs == 0 || !r.look(q.Text) || !r.allow() {
		return nil, nil
	}
	r.score()
	candidates := r.candidates(also)
	r.places(candidates)
	for i := range candidates {
		r.finish(&candidates[i])
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), r.newer(a.at, b.at))
	})
	return r, candidates
}

// over reports whether the search has been cancelled.
func (q *Request) over() bool {
	select {
	case <-q.Done:
		return true
	default:
		return false
	}
}

// ranking is the state of one call of Rank. Documents are numbered across all segments.
type ranking struct {
	*Index
	request *Request
	base    []int // number of the first document of each segment
	docs    int
	totals  catalog.Totals
	query   []lookup
	asked   []asking // its words
	unasked float64  // information of those that are not looked for: see shorten
	chars   []character

	allowed []uint64  // a bit for each document that may be found; nil: all
	words   []float32 // score by words
	grams   []float32 // by grams, so that the best has gramShare of the best in words
	lengths lengths
	room    []catalog.Posting // see add
	scratch []uint32          // see sum
	touched []uint32
	ages    map[int]age // see newer
	about   *about      // its files; nil if not examined yet
}

// age orders documents of the same score.
type age struct {
	time int64
	key  string
}

// newer compares two documents by time, the later first, then by key. Document ids would not do,
// because they depend on the order of indexing.
func (r *ranking) newer(a, b int) int {
	x, y := r.age(a), r.age(b)
	return cmp.Or(cmp.Compare(y.time, x.time), strings.Compare(x.key, y.key))
}

// age is cached: if all scores are equal, each document is compared several times.
func (r *ranking) age(at int) age {
	known, ok := r.ages[at]
	if !ok {
		ref := locate(r.base, at)
		s := r.segments[ref.Segment]
		known = age{s.Time(ref.Doc), s.Key(ref.Doc)}
		if r.ages == nil {
			r.ages = map[int]age{}
		}
		r.ages[at] = known
	}
	return known
}

// locate returns the document with a number.
func locate(base []int, at int) Ref {
	k := len(base) - 1
	for base[k] > at {
		k--
	}
	return Ref{k, at - base[k]}
}

// candidate is a document that is ranked by the positions of words.
type candidate struct {
	Found
	at int
}

// base score of a document, by words and grams.
func (r *ranking) first(at int) float32 { return r.words[at] + r.grams[at] }

// candidates returns the best documents by words and grams, the best of those that also accepts,
// and the neighbours of the very best. Each includes the effect of the others on its score. The
// best come first.
func (r *ranking) candidates(also func(Ref) bool) []candidate {
	most := max(depth, r.request.N)
	if r.request.N == 0 {
		most = r.docs
	}
	best := r.best(most, r.may)
	if also != nil {
		best = append(best, r.best(most, func(at int) bool { return r.may(at) && also(locate(r.base, at)) })...)
		slices.SortFunc(best, r.firstOrder)
		best = slices.Compact(best)
	}
	out := make([]candidate, 0, len(best)+2*besideOf)
	for _, at := range best {
		out = append(out, candidate{Found: Found{Ref: locate(r.base, at)}, at: at})
	}
	out = r.withNeighbours(out)
	r.sameFile(out)
	return out
}

// firstOrder compares two documents by words and grams, the better first.
func (r *ranking) firstOrder(a, b int) int {
	if x, y := r.first(a), r.first(b); x != y {
		return cmp.Compare(y, x)
	}
	return r.newer(a, b)
}

// best returns the best documents by words and grams that may be found, in order.
func (r *ranking) best(most int, may func(at int) bool) []int {
	var heap []int // the worst of the best comes first
	worse := func(a, b int) bool { return r.firstOrder(a, b) > 0 }
	for at := range r.docs {
		if at%checkEvery == 0 && r.request.over() {
			return nil
		}
		full := len(heap) == most
		if r.first(at) <= 0 || full && !worse(heap[0], at) || !may(at) {
			continue
		}
		if full {
			heap[0] = at
			sink(heap, 0, worse)
			continue
		}
		if heap = append(heap, at); len(heap) == most {
			for i := most/2 - 1; i >= 0; i-- {
				sink(heap, i, worse)
			}
		}
	}
	slices.SortFunc(heap, r.firstOrder)
	return heap
}

// sink restores the heap order below entry i. No entry is worse than its parent.
func sink(heap []int, i int, worse func(a, b int) bool) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(heap) && worse(heap[child], heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// withNeighbours adds the session neighbours of the best, and gives each candidate its share of its
// neighbours' scores.
func (r *ranking) withNeighbours(all []candidate) []candidate {
	best := len(all)
	for i := 0; i < len(all); i++ {
		before, after, hasBefore, hasAfter := r.Beside(all[i].Ref)
		for _, side := range [2]struct {
			Ref
			ok bool
		}{{before, hasBefore}, {after, hasAfter}} {
			if !side.ok {
				continue
			}
			at := r.base[side.Segment] + side.Doc
			all[i].Parts.Beside += besideShare * float64(r.first(at))
			if i < min(best, besideOf) && r.may(at) && !slices.ContainsFunc(all, func(c candidate) bool { return c.at == at }) {
				all = append(all, candidate{Found: Found{Ref: side.Ref}, at: at})
			}
		}
	}
	return all
}

// may reports whether a document may be found.
func (r *ranking) may(at int) bool {
	if r.allowed != nil && r.allowed[at/64]>>(at%64)&1 == 0 {
		return false
	}
	ref := locate(r.base, at)
	return r.segments[ref.Segment].Live(ref.Doc) && (r.request.Keep == nil || r.request.Keep(ref))
}

// finish sets the factors and the score of a candidate.
func (r *ranking) finish(c *candidate) {
	s := r.segments[c.Segment]
	c.Parts.Grams = float64(r.grams[c.at])
	c.Parts.Prior = 1
	if half := r.request.HalfOf; half != nil {
		c.Parts.Prior = prior(r.request.Now, s.Time(c.Doc), half(s.Kind(c.Doc)))
	}
	c.Parts.Files = 1
	if len(r.request.Files) > 0 {
		c.Parts.Files = r.files(c.Ref)
	}
	c.Score = c.Parts.score()
}

// hiragana returns the share of its information that a term keeps, by its hiragana.
func hiragana(term string) float64 {
	switch {
	case terms.Kana(term):
		return kanaShare
	case strings.ContainsFunc(term, func(r rune) bool { return 0x3041 <= r && r <= 0x3096 }):
		return endingShare
	}
	return 1
}
