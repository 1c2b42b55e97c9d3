package vector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// BenchmarkNearest measures a query: reading the file and comparing with all of it.
func BenchmarkNearest(b *testing.B) {
	for _, size := range []struct{ n, dim int }{{10_000, 384}, {100_000, 768}} {
		chance := rand.New(rand.NewPCG(1, 2))
		random := func(_ context.Context, texts []string) (out [][]float32, err error) {
			for range texts {
				x := make([]float32, size.dim)
				for i := range x {
					x[i] = float32(chance.NormFloat64())
				}
				out = append(out, x)
			}
			return out, nil
		}
		all := make([]record.Memory, size.n)
		for i := range all {
			all[i] = record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("%0350d", i)})
		}
		space := Space{"random", "d", size.dim}
		v, err := Make(b.Context(), b.TempDir(), space)
		if err != nil {
			b.Fatal(err)
		}
		if _, left, err := v.Fill(b.Context(), random, all, size.n, time.Time{}); left > 0 || err != nil {
			b.Fatal(left, err)
		}
		byID := map[string]record.Memory{}
		for _, m := range all {
			byID[m.ID] = m
		}
		find := func(id string) (record.Memory, bool) { m, ok := byID[id]; return m, ok }
		query, _ := random(b.Context(), []string{""})
		name := fmt.Sprintf("%dx%d", size.n, size.dim)
		b.Run("read/"+name, func(b *testing.B) {
			for b.Loop() {
				again := Read(v.dir, space)
				if again.Empty() {
					b.Fatal("nothing is there")
				}
				again.Close()
			}
		})
		b.Run("open and nearest/"+name, func(b *testing.B) {
			for b.Loop() {
				again := Read(v.dir, space)
				again.Nearest(query[0], 100, find)
				again.Close()
			}
		})
		b.Run("nearest/"+name, func(b *testing.B) {
			for b.Loop() {
				v.Nearest(query[0], 100, find)
			}
		})
	}
}
