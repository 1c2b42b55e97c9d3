package segment

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/file"
)

// zipf makes texts of some 350 characters: words of a vocabulary of 30,000 by Zipf's law, of which the 110 most frequent are not indexed, as stop
// words are not. Words are pronounceable, so that they share beginnings and grams as words do.
type zipf struct {
	random *rand.Rand
	words  []string
	pick   *rand.Zipf
}

func newZipf() *zipf {
	z := &zipf{random: rand.New(rand.NewPCG(7, 11))}
	const consonants, vowels = "bcdfghklmnprstvw", "aeiou"
	seen := map[string]bool{}
	for len(z.words) < 30_000 {
		var w strings.Builder
		for range 1 + z.random.IntN(3) + len(z.words)/12_000 {
			w.WriteByte(consonants[int(z.random.ExpFloat64()*4)%len(consonants)])
			w.WriteByte(vowels[int(z.random.ExpFloat64()*1.5)%len(vowels)])
			if z.random.IntN(3) == 0 {
				w.WriteByte(consonants[int(z.random.ExpFloat64()*4)%len(consonants)])
			}
		}
		if !seen[w.String()] {
			seen[w.String()] = true
			z.words = append(z.words, w.String())
		}
	}
	z.pick = rand.NewZipf(z.random, 1.07, 3, uint64(len(z.words)-1))
	return z
}

func (z *zipf) doc(i int) (d Doc, text string) {
	var s strings.Builder
	for word := uint32(0); s.Len() < 350; word++ {
		n := z.pick.Uint64()
		s.WriteString(z.words[n])
		s.WriteByte(" \n"[min(1, s.Len()%90/84)])
		if n < 110 {
			continue
		}
		d.Tokens = append(d.Tokens, Token{Term: z.words[n], Weight: 1 + 2*uint8(1-min(1, s.Len()/70)), Word: word, Passage: uint16(s.Len() / 90), Gram: true})
	}
	id := z.random.Uint64()
	d.Key = fmt.Sprintf("memories/%02x/%016x-%s-%s.md", byte(id>>56), id, z.words[z.pick.Uint64()], z.words[z.pick.Uint64()])
	d.Blob = fmt.Sprintf("%016x%016x%08x", z.random.Uint64(), z.random.Uint64(), z.random.Uint32())
	d.Time = 1_700_000_000 + int64(i)*600
	d.Kind = uint8(i % 6)
	d.Labels = []string{"tag=" + z.words[z.pick.Uint64()%300], "path=src/" + z.words[z.pick.Uint64()] + "/**", "by=someone"}
	d.Group = fmt.Sprintf("session-%d", i/5)
	d.Stored = []byte(fmt.Sprintf("%016x\x00note\x00active\x00%s\x00%v", id, s.String(), d.Labels))
	return d, s.String()
}

func fours(term string) (out []string) {
	for i := 4; i <= len(term); i++ {
		out = append(out, term[i-4:i])
	}
	return out
}

func synthetic(tb testing.TB, n int) (docs []Doc, z *zipf, text int) {
	z = newZipf()
	for i := range n {
		d, s := z.doc(i)
		docs = append(docs, d)
		text += len(s)
	}
	return docs, z, text
}

func buildFours(tb testing.TB, docs []Doc) []byte {
	b := Builder{Grams: fours}
	for _, d := range docs {
		if err := b.Add(d); err != nil {
			tb.Fatal(err)
		}
	}
	data, err := b.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// BenchmarkBuild prints what each section takes of a document: go test -bench Build -benchtime 1x
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			docs, _, text := synthetic(b, n)
			b.ResetTimer()
			var data []byte
			for range b.N {
				data = buildFours(b, docs)
			}
			b.StopTimer()
			r := open(b, data)
			for name, size := range r.Sizes() {
				b.ReportMetric(float64(size)/float64(n), name+"/doc")
			}
			b.ReportMetric(float64(len(data))/float64(n), "all/doc")
			b.ReportMetric(float64(text)/float64(n), "text/doc")
			b.ReportMetric(float64(len(data))/float64(text), "of-text")
		})
	}
}

// BenchmarkQuery is what a cold process does: open the file, look up 17 words and their grams, walk all postings, unpack
// the tokens of 100 documents and the text of 10.
func BenchmarkQuery(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		docs, z, _ := synthetic(b, n)
		path := filepath.Join(b.TempDir(), "a")
		if err := os.WriteFile(path, buildFours(b, docs), 0o600); err != nil {
			b.Fatal(err)
		}
		var words []string
		for len(words) < 17 {
			words = append(words, z.words[z.pick.Uint64()])
		}
		docs = nil
		for _, part := range []string{"open", "words", "grams", "forward", "stored"} {
			b.Run(fmt.Sprintf("%d/%s", n, part), func(b *testing.B) {
				for range b.N {
					data, release, err := file.Map(path, 1<<30)
					if err != nil {
						b.Fatal(err)
					}
					r := open(b, data)
					scores := make([]float32, r.Len())
					if part != "open" {
						for _, w := range words {
							if id, ok := r.Term(w); ok {
								for c := r.Postings(id); c.Next(); {
									scores[c.Doc] += float32(c.Freq)
								}
							}
						}
					}
					if part == "grams" {
						var ids []uint32
						for _, w := range words {
							for _, g := range fours(w) {
								_, ids = r.Gram(g, ids[:0])
								for _, id := range ids {
									for c := r.Postings(id); c.Next(); {
										scores[c.Doc] += float32(c.Freq)
									}
								}
							}
						}
					}
					if part == "forward" {
						var out []Position
						for i := range 100 {
							out = r.Forward(i*r.Len()/100, out[:0])
						}
					}
					if part == "stored" {
						for i := range 10 {
							if _, err := r.Stored(i * r.Len() / 10); err != nil {
								b.Fatal(err)
							}
						}
					}
					if r.Err() != nil {
						b.Fatal(r.Err())
					}
					release()
				}
			})
		}
	}
}
