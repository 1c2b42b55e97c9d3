package recall

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// BenchmarkRecall is what one search costs in a memory of 10,000 statements with some 350 bytes each: the lexical list,
// reading a file of 384 numbers a vector, comparing with all of them, and that with the memories' texts hashed.
func BenchmarkRecall(b *testing.B) {
	const n, dim = 10_000, 384
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
	space := Space{"letters", "d", dim}
	v := vectorsOf(b, b.TempDir(), space, all)
	query := all[7].Text
	q, _ := letters(dim)(b.Context(), []string{query})
	b.Run("lexical", func(b *testing.B) {
		for b.Loop() {
			Search(all, query, 0)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if ReadVectors(v.dir, space).Len() != n {
				b.Fatal("not all are there")
			}
		}
	})
	b.Run("scan", func(b *testing.B) {
		r := quantise(q[0])
		for b.Loop() {
			for _, other := range v.file.rows {
				likeness(r, other)
			}
		}
	})
	b.Run("nearest", func(b *testing.B) {
		for b.Loop() {
			v.Nearest(q[0], all, 50)
		}
	})
	b.Run("fuse", func(b *testing.B) {
		lexical := Search(all, query, 50)
		near, known := v.Nearest(q[0], all, 50)
		for b.Loop() {
			Fuse(lexical, near, known)
		}
	})
}
