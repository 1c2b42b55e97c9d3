// Package terms takes text apart into the terms that a search compares. Documents and queries go
// through the same analysis; it has a Version, which an index keeps, because terms of two versions
// must not be compared.
//
// Append is the entry: text to tokens. Query does the same for what somebody looks for, Stem for
// one word, and Grams gives the pieces of a word by which its relatives are found. An Analyzer is
// for one goroutine; everything else may be used by many.
//
// The analysis: NFKC and lower case; Latin, Greek and Cyrillic letters without their marks; words
// of letters, marks and digits; stems of English by Porter's second algorithm
// (https://snowballstem.org/algorithms/english/stemmer.html); identifiers whole and in parts; pairs
// of neighbouring characters where a script writes no spaces (Han, kana, Hangul, Thai, Lao, Khmer,
// Burmese), and the character itself where it stands alone. Words that say nothing are left out,
// unless a text has nothing else.
package terms

import "golang.org/x/text/unicode/norm"

// Version changes whenever any text may yield other tokens.
const Version = 2

// Field is the part of a document that a token stands in.
type Field uint8

const (
	Statement Field = iota
	Tags
	Paths
	Body
	Fields // how many there are
)

// Token is a term at its place.
type Token struct {
	Text    string
	Written string // the word of which Text is the stem, in lower case
	Field   Field
	Word    uint32 // position in words, or in characters where there are no spaces; an identifier's parts share it
	Passage uint16 // the line, or the sentence of a long line, from 0
	Gram    bool   // its Grams count: a word of letters, no number and no pair of characters
	Part    bool   // of a longer identifier, which is the token before its parts
}

const (
	// MaxTerm is the longest term, in bytes; a longer word is cut there.
	MaxTerm = 64
	// maxPassage is the last number of a passage: the rest of a longer text is one.
	maxPassage = 1<<16 - 1
	// fieldGap keeps the words of two fields from being neighbours, in words.
	fieldGap = 8
)

// Analyzer takes texts apart. It remembers stems, so one for many texts is several times faster
// than one for each. The zero value is ready.
type Analyzer struct {
	stems map[string]string
	word  []rune // at hand, as written
	small []byte // in lower case
	parts [][]rune

	out     []Token
	field   Field
	asked   bool   // the text is a query
	all     bool   // stop words too
	at      uint32 // position of the next word
	passage uint16
	begun   uint32 // position at which the passage began
}

// Append adds the tokens of a text to those of the fields before it. Positions go on with a gap,
// and a new text is a new passage. Words that say nothing are left out, and counted as positions.
func (a *Analyzer) Append(tokens []Token, text string, field Field) []Token {
	text = norm.NFKC.String(text)
	for a.all = false; ; a.all = true {
		a.out, a.field, a.at, a.passage = tokens, field, 0, 0
		if n := len(tokens); n > 0 {
			a.at = tokens[n-1].Word + fieldGap
			a.passage = next(tokens[n-1].Passage)
		}
		a.begun = a.at
		a.scan(text)
		out := a.out
		a.out = nil
		if len(out) > len(tokens) || a.all {
			return out
		}
	}
}

func next(passage uint16) uint16 { return min(passage, maxPassage-1) + 1 }

// Query is what a query is looked up by: its tokens, in order, a repeated word as often as it is
// there.
func (a *Analyzer) Query(text string) []Token {
	a.asked = true
	defer func() { a.asked = false }()
	return a.Append(nil, text, Statement)
}
