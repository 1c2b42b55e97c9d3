// Package recall finds memories by their words.
//
// Open opens the Index in a catalog file, BringTo updates it to the memories of a view, and Rank
// answers a Request. Parse reads the query language; its Keep completes the Request. Ask reads an
// agent's prompt, which is mostly no question to the memory, and Relevant finds the few memories
// that the prompt is about. Fuse merges a ranking with one by vectors.
//
// Weights: fieldWeights in document.go for a memory's fields, rank.go for the parts of a score,
// score.go for BM25, prior.go for age and files.
package recall

// Part is what one term added to a score.
type Part struct {
	Term  string // of the index, which the document has
	Score float64

	tells        float64 // information of the word of the query
	asked, spelt string  // where that is misspelt: how it is written, and what it is taken for
}

// String is the term, or, where it was taken for one that is misspelt, both: "flgas → flags".
func (p Part) String() string {
	if p.asked == "" {
		return p.Term
	}
	return p.asked + " → " + p.spelt
}
