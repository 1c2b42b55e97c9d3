package recall

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// BenchmarkRecall is what one search costs in a memory of 10,000 statements with some 350 bytes each: the lexical list, and
// fusing it with another.
func BenchmarkRecall(b *testing.B) {
	const n = 10_000
	chance := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		words[i] = fmt.Sprintf("%c%c%cword%d", 'a'+rune(i%26), 'a'+rune(i/26%26), 'a'+rune(i/676), i)
	}
	all := make([]record.Memory, n)
	for i := range all {
		text, body := "", ""
		for range 10 {
			text += words[chance.IntN(len(words))] + " "
		}
		for range 25 {
			body += words[chance.IntN(len(words))] + " "
		}
		all[i] = record.New(record.Memory{Kind: record.Fact, Text: text, Body: body})
	}
	query := all[7].Text
	b.Run("lexical", func(b *testing.B) {
		for b.Loop() {
			Search(all, query, 0)
		}
	})
	b.Run("fuse", func(b *testing.B) {
		lexical, near := Search(all, query, 50), Search(all, all[8].Text, 50)
		known := map[string]bool{}
		for _, m := range all {
			known[m.ID] = true
		}
		for b.Loop() {
			Fuse(lexical, near, known, 1)
		}
	})
}
