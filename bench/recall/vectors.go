package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/recall/judge"
)

// measureModel returns the effect of the served model of that name on the answers of a set, whose
// result without it is lexical. It also measures fixed weights.
func measureModel(s judge.Set, lexical judge.Result, name string) ([]figure.Figure, error) {
	m, err := judge.Served(context.Background(), name)
	if err != nil {
		return nil, err
	}
	weights := []float64{0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3}
	h, err := judge.RunHybrid(m, s, lexical, weights...)
	if err != nil {
		return nil, err
	}
	var all []figure.Figure
	share := func(name string, values []float64, of string) {
		all = append(all, judge.Mean(s.Name, name, values, of))
	}
	ndcg := func(s judge.Score) float64 { return s.NDCG }
	first3 := func(s judge.Score) float64 {
		if s.MRR >= 1.0/3 {
			return 1
		}
		return 0
	}
	for _, list := range []struct {
		name string
		judge.Result
	}{{"words", h.Lexical}, {"vectors of " + h.Model, h.Vectors}, {"both", h.Both}} {
		share("nDCG@10 by "+list.name, list.Values(ndcg), "queries")
		share("a right memory among the first 3 by "+list.name, list.Values(first3), "queries")
	}
	share("prompts given a right memory unasked", h.Given.Right, "prompts")
	share("prompts given only wrong ones", h.Given.Wrong, "prompts")
	share("prompts on another topic given nothing", h.Given.Silent, "prompts")
	for i, r := range h.Fixed {
		share(fmt.Sprintf("nDCG@10 by both with the weight %g", weights[i]), r.Values(ndcg), "queries")
	}
	slices.Sort(h.Weights) // -1: the nearest are not shown
	return append(all, figure.Figure{Set: s.Name, Name: "weight measured in a store, median", Value: h.Weights[len(h.Weights)/2], N: len(h.Weights), Of: "stores"}), nil
}
