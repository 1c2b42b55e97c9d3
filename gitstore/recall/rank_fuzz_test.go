package recall

import (
	"math"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
)

func FuzzRank(f *testing.F) {
	x := indexOf(f, docsOf("parseHeader must not allocate", "提交信息用中文写", "the retry loop\nof file_lock", "v1.2.3 E0308"), 2)
	for _, s := range []string{"parse header", "提交", "\"a", "rety loop", "v1.2", "\xff中"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, phrase string) {
		for _, h := range x.Rank(Request{Text: text, N: 3, Phrases: []string{phrase}, Not: []string{text}}) {
			if !(h.Score > 0) || math.IsInf(h.Score, 0) || !(h.Covered >= 0 && h.Covered <= 1) {
				t.Errorf("%q: %+v", text, h)
			}
		}
		new(Snippets).Of(Hit{Memory: record.Memory{Text: phrase, Body: text}}, phrase+text, 20)
		if err := x.Err(); err != nil {
			t.Fatal(err)
		}
	})
}
