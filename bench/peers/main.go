// Command peers compares the project's search with others, on labelled sets, in one run:
//
//	cd bench/peers && go run . ../../gitstore/recall/testdata/labelled DIR...
//
// Its README describes each configuration. It is a separate module, so that the project does not
// depend on the compared engines.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

func main() {
	if err := run(os.Stdout, judge.ParseFlags("go run .")); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, c judge.Choice) error {
	sets, err := c.Read()
	if err != nil {
		return err
	}
	var last []string
	for _, s := range sets {
		if len(s.Labelled()) == 0 {
			return fmt.Errorf("%s: no query has a right memory", s.Name)
		}
		verdict, err := compare(out, s)
		if err != nil {
			return err
		}
		last = append(last, verdict)
	}
	_, err = fmt.Fprintln(out, "Ours against the best other of each set, nDCG@10, with the interval of the difference query by query:\n  "+strings.Join(last, "\n  "))
	return err
}

// peersFor returns the engines to compare on a set.
func peersFor(s judge.Set) []judge.Engine {
	return slices.Concat(bleves(asksCJK(s)), ftsEngines(), []judge.Engine{plainEngine})
}

// compare prints the results of all engines on a set, and returns the verdict of the last line.
func compare(out io.Writer, s judge.Set) (verdict string, err error) {
	fmt.Fprintf(out, "%s: %d memories, %d queries\n", s.Name, s.Memories(), len(s.Labelled()))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tnDCG@10\tours − it\tR@1\tR@10\tMRR@10\tmedian\tp95")
	var ours []float64
	var best struct {
		name       string
		mean       float64
		difference judge.Interval
	}
	for i, e := range append([]judge.Engine{judge.Ours}, peersFor(s)...) {
		r, err := judge.Run(e, s)
		if err != nil {
			return "", err
		}
		values := r.Values(ndcg)
		mean := judge.Bootstrap(values)
		ahead := ""
		if i == 0 {
			ours = values
		} else {
			d := difference(ours, values)
			ahead = signed(d)
			if best.name == "" || mean.Mean > best.mean {
				best.name, best.mean, best.difference = e.Name, mean.Mean, d
			}
		}
		at := func(m func(judge.Score) float64) string { return judge.Bootstrap(r.Values(m)).Percent() }
		fmt.Fprintln(table, strings.Join([]string{
			e.Name, mean.Percent(), ahead,
			at(func(s judge.Score) float64 { return s.Recall1 }), at(func(s judge.Score) float64 { return s.Recall10 }), at(func(s judge.Score) float64 { return s.MRR }),
			judge.Milliseconds(r.Quantile(0.5)), judge.Milliseconds(r.Quantile(0.95)),
		}, "\t"))
	}
	if err := table.Flush(); err != nil {
		return "", err
	}
	fmt.Fprintln(out)
	word := "level with"
	switch {
	case best.difference.Low > 0:
		word = "ahead of"
	case best.difference.High < 0:
		word = "behind"
	}
	return fmt.Sprintf("%-14s %s  %s %s", s.Name, signed(best.difference), word, best.name), nil
}

func ndcg(s judge.Score) float64 { return s.NDCG }

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
