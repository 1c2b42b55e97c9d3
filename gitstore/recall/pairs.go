package recall

import (
	"math"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// A word of a script without spaces is several overlapping pairs: メッセージ is four, and a memory with
// one of them usually has the others. Counted as four words it would outweigh the kanji of the
// query. A run of katakana is a word, and so is one of Hangul with its particle. Their m pairs
// count log2(1+m) together, because a longer word is more informative, but not in proportion. A run
// of Han may be a sentence of different words, so it counts in full.

// overlap returns the weight of each token of a query relative to its own word, 0 to 1.
func overlap(tokens []terms.Token) []float64 {
	out := make([]float64, len(tokens))
	for from := 0; from < len(tokens); {
		to, in := from+1, wordScript(tokens[from].Text)
		for in != noWord && to < len(tokens) && tokens[to].Word == tokens[to-1].Word+1 && wordScript(tokens[to].Text) == in {
			to++
		}
		m := float64(to - from)
		for ; from < to; from++ {
			out[from] = math.Log2(1+m) / m
		}
	}
	return out
}

// script is a script whose runs are words, although they are looked up by pairs.
type script uint8

const (
	noWord script = iota
	katakana
	hangul
)

// wordScript returns the script of a term that has no other.
func wordScript(term string) script {
	in := noWord
	for i, r := range term {
		of := noWord
		switch {
		case r == 'ー', 0x30A1 <= r && r <= 0x30FA:
			of = katakana
		case 0xAC00 <= r && r <= 0xD7A3:
			of = hangul
		}
		if of == noWord || i > 0 && of != in {
			return noWord
		}
		in = of
	}
	return in
}
