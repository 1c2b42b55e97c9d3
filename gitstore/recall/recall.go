// Package recall finds memories by their words.
//
// Open opens the Index in a catalog file, BringTo updates it to the memories of a view, and Rank
// answers a Request. Parse reads the query language; its Keep completes the Request. Ask reads an
// agent's prompt, which seldom asks the memory anything, and Relevant finds the few memories that
// the prompt is about. Fuse merges a ranking by words with one by vectors.
//
// Weights are in document.go for a memory's fields, age and files, in rank.go for the parts of a
// score, and in score.go for BM25.
//
// Many goroutines and processes may use an Index at once; everything else is stateless.
package recall

// Part is the contribution of one term to a score.
type Part struct {
	Term  string // of the index, present in the document
	Score float64

	tells        float64 // information of the word of the query
	asked, spelt string  // if the term replaces a word of the query: both, as words
}

// String returns the term, or what it replaces too: "flgas → flags", "dependencies → pnpm".
func (p Part) String() string {
	if p.asked == "" {
		return p.Term
	}
	return p.asked + " → " + p.spelt
}
