package judge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Hybrid is the project's engine with a model's vectors. It holds the results of the nearest alone
// and of both fused lists, with the weight measured in each store. lexical is the result without
// vectors.
type Hybrid struct {
	Model                  string
	Lexical, Vectors, Both Result
	// of the stores, in opening order; -1 if the nearest are not shown
	Weights []float64
	Fixed   []Result // fused with each of the given weights instead
	Given   Given    // to prompts, with the vectors
}

// RunHybrid measures a model on a set. fixed are weights to measure besides.
func RunHybrid(m Model, s Set, lexical Result, fixed ...float64) (h Hybrid, err error) {
	h = Hybrid{Model: m.Name, Lexical: lexical}
	stores := map[string]*hybrid{} // by group: a real model takes its time
	defer func() {
		for _, x := range stores {
			err = errors.Join(err, x.Close())
		}
	}()
	run := func(name string, as func(x *hybrid) Store) (r Result, err error) {
		return Run(Engine{name, func(memories []Memory) (Store, error) {
			group := memories[0].Group
			if stores[group] == nil {
				x, err := openHybrid(m, s, memories)
				if err != nil {
					return nil, err
				}
				stores[group] = x
				if err := x.weigh(); err != nil {
					return nil, err
				}
				h.Weights = append(h.Weights, x.shown())
			}
			return kept{as(stores[group])}, nil
		}}, s)
	}
	if h.Vectors, err = run(m.Name, func(x *hybrid) Store { return x }); err != nil {
		return h, err
	}
	if h.Both, err = run("fused", func(x *hybrid) Store { return fusing{x, nil} }); err != nil {
		return h, err
	}
	for _, weight := range fixed {
		r, err := run("fused", func(x *hybrid) Store { return fusing{x, &weight} })
		if err != nil {
			return h, err
		}
		h.Fixed = append(h.Fixed, r)
	}
	h.Given = RunGate(func(memories []Memory, prompt string) []string {
		if len(memories) == 0 || stores[memories[0].Group] == nil {
			return nil
		}
		ids, gateErr := stores[memories[0].Group].given(memories, prompt)
		err = errors.Join(err, gateErr)
		return ids
	}, s)
	return h, err
}

// kept is a store that stays open for another run.
type kept struct{ Store }

func (kept) Close() error { return nil }

// hybrid is a store with vectors. It answers with the nearest alone.
type hybrid struct {
	*ours
	records map[string]record.Memory
	back    map[string]string // of the set → of records
	embed   vector.Embed
	space   vector.Space
	dir     string
	vectors *vector.Store
	worth   vector.Worth
	asked   map[string][]float32 // the vectors of queries
}

// fusing is a hybrid that answers with both lists.
type fusing struct {
	*hybrid
	fixed *float64 // weight instead of the measured one
}

func openHybrid(m Model, s Set, memories []Memory) (x *hybrid, err error) {
	x = &hybrid{records: map[string]record.Memory{}, back: map[string]string{}, asked: map[string][]float32{}, space: vector.Space{Name: m.Name, Dim: m.Dim}}
	if x.ours, err = open(memories); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	at := map[string]int{}
	var all []record.Memory
	for _, m := range memories {
		r := m.Record()
		at[m.ID], x.back[m.ID] = len(all), r.ID
		all, x.records[r.ID] = append(all, r), r
	}
	labelled := map[string][]int{}
	for _, q := range s.Labelled() {
		if len(memories) == 0 || q.Group != memories[0].Group {
			continue
		}
		var wanted []int
		for id := range q.Rel {
			wanted = append(wanted, at[id])
		}
		slices.Sort(wanted)
		labelled[q.Text] = wanted
	}
	x.embed = m.Open(all, labelled)
	if x.dir, err = os.MkdirTemp("", "vectors-"); err != nil {
		return nil, err
	}
	if x.vectors, err = vector.Make(context.Background(), x.dir, x.space); err != nil {
		return nil, err
	}
	_, left, err := x.vectors.Fill(context.Background(), x.embed, all, len(all), time.Time{})
	if err == nil && left > 0 {
		err = fmt.Errorf("%d memories have no vector", left)
	}
	return x, err
}

// weigh measures like the program.
func (x *hybrid) weigh() error {
	var all []record.Memory
	for _, m := range x.records {
		all = append(all, m)
	}
	var err error
	x.worth, err = x.vectors.Weigh(context.Background(), x.embed, all, func(query string, n int) []string { return x.index.IDs(query, n, nil) })
	return err
}

// shown returns the weight for a query in English, or -1 if the nearest are not shown.
func (x *hybrid) shown() float64 {
	if x.worth.Useless() {
		return -1
	}
	weight, _ := vector.Trust(x.worth, "")
	return weight
}

func (x *hybrid) near(query string, n int) ([]vector.Near, error) {
	q := x.asked[query]
	if q == nil {
		got, err := x.embed(context.Background(), []string{x.space.Query(query)})
		if err != nil {
			return nil, err
		}
		q = got[0]
		x.asked[query] = q
	}
	return x.vectors.Nearest(q, n, func(id string) (record.Memory, bool) {
		m, ok := x.records[id]
		return m, ok
	}), nil
}

func (x *hybrid) Search(query string, n int) (ids []string, err error) {
	near, err := x.near(query, n)
	for _, m := range near {
		ids = append(ids, x.ids[m.Memory.ID])
	}
	return ids, err
}

// given returns the memories that a prompt is given, as by the command context.
func (x *hybrid) given(memories []Memory, prompt string) (ids []string, err error) {
	likeness := map[string]float64{}
	if _, words := vector.Trust(x.worth, prompt); words > 0 && x.worth.Alike > 0 {
		near, err := x.near(prompt, 0)
		if err != nil {
			return nil, err
		}
		for _, n := range near {
			likeness[n.Memory.ID] = n.Likeness
		}
	}
	means := func(m record.Memory) bool { return x.worth.Alike > 0 && likeness[m.ID] >= x.worth.Alike }
	found, err := recall.Ask(prompt).Relevant(context.Background(), x.index, nil, means)
	for _, r := range found {
		id := x.ids[r.Memory.ID]
		if len(ids) < maxGiven && slices.ContainsFunc(memories, func(m Memory) bool { return m.ID == id }) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// listDepth is the length of the fused lists, as in the command recall.
const listDepth = 50

func (x fusing) Search(query string, n int) (ids []string, err error) {
	words, err := x.ours.Search(query, max(n, listDepth))
	if err != nil {
		return nil, err
	}
	q, err := recall.Parse(query)
	if err != nil {
		return nil, err
	}
	if q.Literal || len(q.Not) > 0 || x.shown() < 0 {
		return words[:min(n, len(words))], nil
	}
	near, err := x.near(query, max(n, listDepth))
	if err != nil {
		return nil, err
	}
	weight, length := vector.Trust(x.worth, query)
	if x.fixed != nil {
		weight = *x.fixed
	}
	var lexical, nearest []recall.Hit
	known := map[string]bool{}
	for _, id := range words {
		m := x.records[x.back[id]]
		known[m.ID] = x.vectors.Has(m)
		lexical = append(lexical, recall.Hit{Memory: m, Found: recall.Found{Covered: x.covered[id]}})
	}
	for _, m := range near {
		nearest = append(nearest, recall.Hit{Memory: m.Memory})
	}
	for _, f := range recall.Fuse(lexical, nearest, known, weight, length) {
		if len(ids) < n {
			ids = append(ids, x.ids[f.Memory.ID])
		}
	}
	return ids, nil
}

func (x *hybrid) Close() error {
	x.vectors.Close()
	var err error
	if x.dir != "" {
		err = os.RemoveAll(x.dir)
	}
	return errors.Join(err, x.ours.Close())
}
