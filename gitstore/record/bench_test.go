package record

import (
	"context"
	"fmt"
	"testing"
)

// many are n memories of about 600 bytes as files.
func many(n int) []Memory {
	out := make([]Memory, n)
	body := ""
	for i := range 45 {
		body += fmt.Sprintf("word%d ", i*7%31)
	}
	for i := range out {
		m := fact(fmt.Sprintf("The export of part%d uses the planner of replica%d and the queue", i, i*7))
		m.Body, m.Paths, m.Tags = body, []string{fmt.Sprintf("src/part%d/**", i)}, []string{"export"}
		out[i] = New(m)
	}
	return out
}

func BenchmarkViewFromCache(b *testing.B) {
	book, _, _ := newBook(b)
	put(b, book, many(10000)...)
	texts(b, book)
	b.ResetTimer()
	for b.Loop() {
		if err := book.View(context.Background(), func(v *View) error { v.read(); return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSameAmong10000(b *testing.B) {
	book, _, _ := newBook(b)
	put(b, book, many(10000)...)
	err := book.View(context.Background(), func(v *View) error {
		for b.Loop() {
			v.Same("a statement that nobody has made so far")
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
