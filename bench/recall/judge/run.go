package judge

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/bench/figure"
)

// Engine is a search engine. Open makes a store of the memories of one group.
type Engine struct {
	Name string
	Open func([]Memory) (Store, error)
}

// Store answers queries about the memories that it was opened with.
type Store interface {
	// Search returns the ids of at most n memories, the best first.
	Search(query string, n int) ([]string, error)
	Close() error
}

// Result is an engine's result for a set's labelled queries. Scores and Took are in their order.
type Result struct {
	Scores []Score
	Took   []time.Duration // for the answer, in process, with the store open
}

// Values are one metric's values, query by query.
func (r Result) Values(metric func(Score) float64) []float64 {
	out := make([]float64, len(r.Scores))
	for i, s := range r.Scores {
		out[i] = metric(s)
	}
	return out
}

// Time returns the time within which a share of the answers, 0 to 1, came, as a figure.
func (r Result) Time(set, name string, share float64) figure.Figure {
	sorted := slices.Sorted(slices.Values(r.Took))
	at := sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
	return figure.Figure{Set: set, Name: name, Value: float64(at) / float64(time.Microsecond), Unit: "µs", N: len(sorted), Of: "queries"}
}

// Run asks an engine the labelled queries of a set. It opens one store at a time.
func Run(e Engine, s Set) (r Result, err error) {
	labelled := s.Labelled()
	r = Result{Scores: make([]Score, len(labelled)), Took: make([]time.Duration, len(labelled))}
	byGroup := map[string][]int{}
	for i, q := range labelled {
		byGroup[q.Group] = append(byGroup[q.Group], i)
	}
	for _, group := range slices.Sorted(maps.Keys(byGroup)) {
		if err := runGroup(e, s.Stores[group], labelled, byGroup[group], &r); err != nil {
			return r, fmt.Errorf("%s: %s: %w", e.Name, s.Name, err)
		}
	}
	return r, nil
}

func runGroup(e Engine, memories []Memory, labelled []Query, queries []int, r *Result) error {
	store, err := e.Open(memories)
	if err != nil {
		return err
	}
	defer store.Close()
	byID := make(map[string]Memory, len(memories))
	for _, m := range memories {
		byID[m.ID] = m
	}
	for _, i := range queries {
		q := labelled[i]
		n := enough(q, memories)
		began := time.Now()
		answer, err := ask(store, q, n, byID)
		r.Took[i] = time.Since(began)
		if err != nil {
			return fmt.Errorf("query %s: %w", q.ID, err)
		}
		r.Scores[i] = Measure(answer, q.Rel)
	}
	return nil
}

// enough returns how many memories to request so that Depth are left, if the removed ones were
// spread evenly.
func enough(q Query, memories []Memory) int {
	seen := 0
	for _, m := range memories {
		if q.sees(m) {
			seen++
		}
	}
	return max(Depth+len(q.Exclude), Depth*len(memories)/max(1, seen))
}

// ask returns the first memories that may answer the query. It requests n, and then more if too
// many are excluded.
func ask(store Store, q Query, n int, byID map[string]Memory) ([]string, error) {
	for ; ; n *= 4 {
		all, err := store.Search(q.Text, n)
		if err != nil {
			return nil, err
		}
		var answer []string
		seen := map[string]bool{}
		for _, id := range all {
			m, known := byID[id]
			if !known || seen[id] {
				return nil, fmt.Errorf("the answer has %q twice, or from nowhere", id)
			}
			seen[id] = true
			if q.sees(m) {
				answer = append(answer, id)
			}
		}
		if len(answer) >= Depth || len(all) < n || n >= len(byID) {
			return answer, nil
		}
	}
}
