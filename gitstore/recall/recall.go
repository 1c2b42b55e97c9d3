// Package recall finds memories by what they say.
//
// An Index is what it looks in: Open gives that of a folder, BringTo brings it to the memories of a
// view, and Rank finds what answers a Request; Parse takes a query apart, whose Keep is the rest of
// the Request. Ask takes a prompt apart that is no question to the memory at all, and Relevant
// finds what it is about, which is mostly nothing; both are methods of Where too, which knows the
// work tree that paths are named in. Where a model gives texts their vectors, Fuse merges what is
// near with what Rank found.
//
// An Index may be used by many goroutines and processes at once; everything else keeps no state.
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
