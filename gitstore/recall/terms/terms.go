// Package terms splits text into the terms that a search compares. Documents and queries get the
// same analysis. An index stores its Version, because terms of different versions must not be
// compared.
//
// Append turns text into tokens. Query does the same for a query, Stem for one word, and Grams
// returns the pieces of a word that find its relatives. An Analyzer is for one goroutine;
// everything else may be used by many.
//
// The analysis: NFKC and lower case; Latin, Greek and Cyrillic letters without their marks; words
// of letters, marks and digits; stems of English by Porter's second algorithm
// (https://snowballstem.org/algorithms/english/stemmer.html); identifiers whole and in parts; pairs
// of neighbouring characters in scripts without spaces (Han, kana, Hangul, Thai, Lao, Khmer,
// Burmese), and single characters that stand alone. Stop words are dropped, unless a text has
// nothing else.
package terms

import (
	"github.com/reverie-memory/reverie/internal/pattern"
	"golang.org/x/text/unicode/norm"
)

// Version changes with every change in the tokens of any text.
const Version = 4

// Field is the part of a document that holds a token.
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
	Written string // the word with the stem Text, in lower case
	Field   Field
	// Word is the position in words, or in characters without spaces. Parts share their identifier's.
	Word    uint32
	Passage uint16 // the line, or the sentence of a long line, from 0
	Gram    bool   // its Grams count: a word of letters, no number and no pair of characters
	Part    bool   // of the identifier in the token before its parts
}

const (
	// MaxTerm bounds a term, in bytes; longer words are cut.
	MaxTerm = 64
	// maxPassage is the last number of a passage, which covers the rest of a longer text.
	maxPassage = 1<<16 - 1
	// fieldGap separates the words of two fields, in positions.
	fieldGap = 8
)

// Analyzer splits texts into terms. It caches stems, so sharing one is several times faster. The
// zero value is ready.
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

// Append adds the tokens of a text to those of earlier fields. Positions continue after a gap, and
// a new text begins a new passage. Stop words are dropped, but counted as positions.
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

// Query returns the tokens of a query, in order, with repetitions.
func (a *Analyzer) Query(text string) []Token {
	a.asked = true
	defer func() { a.asked = false }()
	return a.Append(nil, text, Statement)
}

// GramSize is the number of characters in a gram.
const GramSize = 4

// Grams returns the pieces of a word by which its relatives are found: every four characters in a
// row.
func Grams(word string) []string {
	var out []string
	var starts [GramSize]int // of the last characters, as a ring
	n := 0
	for i := range word {
		if n >= GramSize {
			out = append(out, word[starts[n%GramSize]:i])
		}
		starts[n%GramSize] = i
		n++
	}
	if n >= GramSize {
		out = append(out, word[starts[n%GramSize]:])
	}
	return out
}

// stop are words without content: articles, pronouns, prepositions, auxiliaries, question words. It
// lacks no, not, never, up, down, off, all, before and after, which may be the point of a rule.
var stop = pattern.NewWords(`a an the and or but if then than so of to in into for with at by from as about via on
	is are was were be been being am do does did doing done have has had having can could should would will shall may might must
	i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
	this that these those there here who whom whose which what when where why how
	also just such very too
	im ive ill id youre youve weve were theyre its thats whats hes shes lets isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt
	cant couldnt shouldnt wouldnt wont`)

// IsStop reports whether a word, in lower case and without an apostrophe, is a stop word.
func IsStop(word string) bool { return stop.Has(word) }
