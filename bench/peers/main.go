// Command peers compares the project's search with others, on labelled sets, in one run:
//
//	cd bench/peers && go run . ../../gitstore/recall/testdata/labelled DIR...
//
// Its README describes each configuration. It is a separate module, so that the project does not
// depend on the compared engines.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
	"github.com/reverie-memory/reverie/bench/recall/judge"
)

func main() {
	choice := judge.ParseFlags("go run .")
	lab.Exit("peers", choice.Print(os.Stdout, measure))
}

// peersFor returns the engines to compare on a set.
func peersFor(s judge.Set) []judge.Engine {
	return slices.Concat(bleves(asksCJK(s)), ftsEngines(), []judge.Engine{plainEngine})
}

// measured is the result of one engine.
type measured struct {
	name string
	r    judge.Result
}

// measure compares all engines on a set, ours first.
func measure(s judge.Set) ([]figure.Figure, error) {
	if len(s.Labelled()) == 0 {
		return nil, fmt.Errorf("%s: no query has a right memory", s.Name)
	}
	var all []measured
	for _, e := range append([]judge.Engine{judge.Ours}, peersFor(s)...) {
		r, err := judge.Run(e, s)
		if err != nil {
			return nil, err
		}
		all = append(all, measured{e.Name, r})
	}
	return figuresOf(s, all), nil
}

// figuresOf has the figures of each engine. A peer is better if the whole interval of the
// difference query by query says so.
func figuresOf(s judge.Set, all []measured) (figures []figure.Figure) {
	for i, e := range all {
		for _, m := range []struct {
			name string
			of   func(judge.Score) float64
		}{{"nDCG@10", func(s judge.Score) float64 { return s.NDCG }}, {"recall@10", func(s judge.Score) float64 { return s.Recall10 }}} {
			values := e.r.Values(m.of)
			f := judge.Mean(s.Name, m.name+", "+e.name, values, "queries")
			if i > 0 {
				ahead := difference(all[0].r.Values(m.of), values)
				f.Beside, f.Behind = "ours − it: "+signed(ahead), ahead.High < 0
			}
			figures = append(figures, f)
		}
		figures = append(figures, e.r.Time(s.Name, "median time of a search, "+e.name, 0.5))
	}
	return figures
}

func difference(a, b []float64) judge.Interval {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return judge.Bootstrap(d)
}

// asksCJK reports whether a tenth or more of the queries have Han, kana or Hangul.
func asksCJK(s judge.Set) bool {
	n := 0
	for _, q := range s.Queries {
		if strings.ContainsFunc(q.Text, func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
		}) {
			n++
		}
	}
	return n*10 >= len(s.Queries)
}

func signed(i judge.Interval) string {
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*i.Mean, 100*i.Low, 100*i.High)
}
