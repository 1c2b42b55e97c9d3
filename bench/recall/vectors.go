package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

// vectorsLine is the effect of one simulated model on the answers of a set: mean nDCG@10 of each
// list and of both fused.
type vectorsLine struct {
	Set     string  `json:"set"`
	Model   string  `json:"model"`
	Lexical float64 `json:"lexical"`
	Vectors float64 `json:"vectors"`
	Fused   float64 `json:"fused"`
	Better  float64 `json:"fused_less_better"` // than the better of the two lists
	// measured in each store; -1: the nearest are not shown
	Weights []float64 `json:"weights"`
}

// runVectors measures every simulated model on every set.
func runVectors(out io.Writer, sets []judge.Set, asJSON bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if !asJSON {
		fmt.Fprintln(table, "set\tmodel\tlexical\tvectors\tfused\tfused − better\tweight\t")
	}
	for _, s := range sets {
		lexical, err := judge.Run(judge.Ours, s)
		if err != nil {
			return err
		}
		for _, m := range judge.Models {
			l, err := vectorsOf(m, s, lexical)
			if err != nil {
				return err
			}
			if asJSON {
				if err := json.NewEncoder(out).Encode(l); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(table, "%s\t%s\t%.1f\t%.1f\t%.1f\t%+.1f\t%s\t\n", l.Set, l.Model, 100*l.Lexical, 100*l.Vectors, 100*l.Fused, 100*l.Better, strings.Trim(fmt.Sprint(l.Weights), "[]"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func vectorsOf(m judge.Model, s judge.Set, lexical judge.Result) (vectorsLine, error) {
	h, err := judge.RunHybrid(m, s, lexical)
	if err != nil {
		return vectorsLine{}, err
	}
	mean := func(r judge.Result) float64 {
		sum := 0.0
		for _, score := range r.Scores {
			sum += score.NDCG
		}
		return sum / float64(max(1, len(r.Scores)))
	}
	l := vectorsLine{Set: s.Name, Model: m.Name, Lexical: mean(h.Lexical), Vectors: mean(h.Vectors), Fused: mean(h.Both), Weights: h.Weights}
	l.Better = l.Fused - max(l.Lexical, l.Vectors)
	return l, nil
}
