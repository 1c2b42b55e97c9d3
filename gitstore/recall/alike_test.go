package recall

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Two documents are nearly the same if 95 of a hundred distinct terms in either are in both.
func TestNearlySame(t *testing.T) {
	upTo := func(from, to uint64) (out []uint64) {
		for n := from; n < to; n++ {
			out = append(out, n)
		}
		return out
	}
	for _, c := range []struct {
		a, b []uint64
		want bool
	}{
		{upTo(0, 20), upTo(0, 20), true},
		{upTo(0, 20), upTo(1, 20), true},  // 19 of 20
		{upTo(0, 20), upTo(1, 21), false}, // 19 of 21
		{upTo(0, 20), upTo(2, 20), false},
		{upTo(0, 100), upTo(5, 100), true}, // 95 of 100
		{upTo(0, 100), upTo(6, 100), false},
		{upTo(0, 100), upTo(2, 102), true}, // 98 of 102
		{upTo(0, 100), upTo(3, 103), false},
		{upTo(0, 20), nil, false},
		{upTo(0, 50), upTo(50, 100), false},
	} {
		if nearlySame(c.a, c.b) != c.want || nearlySame(c.b, c.a) != c.want {
			t.Errorf("%v and %v: not %v", c.a, c.b, c.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var a, b []uint64
		for n := range uint64(60) {
			if r.IntN(40) > 0 {
				a = append(a, n)
			}
			if r.IntN(40) > 0 {
				b = append(b, n)
			}
		}
		both := 0
		for _, n := range a {
			if slices.Contains(b, n) {
				both++
			}
		}
		if want := 20*both >= 19*(len(a)+len(b)-both); nearlySame(a, b) != want {
			t.Errorf("%v and %v: not %v", a, b, want)
		}
	}
}

// Among any number of hits, duplicates are folded under the first, without comparing each hit with
// all others.
func TestManyHitsAreFolded(t *testing.T) {
	var texts []string
	for i := range 600 {
		text := fmt.Sprintf("widget %d", i)
		for j := range 25 {
			text += fmt.Sprintf(" w%dx%d", i, j)
		}
		texts = append(texts, text, strings.ToUpper(text), text+" again")
	}
	for _, steps := range []int{1, 3} {
		x := indexOf(t, docsOf(texts...), steps)
		found := x.Rank(Request{Text: "widget"})
		same, nearly := 0, 0
		for _, f := range found {
			for range f.Alike {
				same++
			}
			nearly += max(0, len(f.Alike)-1)
		}
		if len(found)+same != len(texts) || same < 600 || nearly < maxNearly || nearly >= 600 {
			t.Errorf("%d steps: %d hits with %d under them, %d of these nearly the same", steps, len(found), same, nearly)
		}
	}
}

// A search ends with its context.
func TestRankEnds(t *testing.T) {
	done := make(chan struct{})
	x := indexOf(t, docsOf("use pnpm", "use pnpm 9"), 1)
	if got := x.Rank(Request{Text: "pnpm", Done: done}); len(got) != 2 {
		t.Errorf("%d hits while somebody waits", len(got))
	}
	close(done)
	if got := x.Rank(Request{Text: "pnpm", Done: done}); len(got) != 0 {
		t.Errorf("%d hits for nobody", len(got))
	}
}
