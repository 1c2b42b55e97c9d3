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
}

// RunHybrid measures a model on a set.
func RunHybrid(m Model, s Set, lexical Result) (h Hybrid, err error) {
	h = Hybrid{Model: m.Name, Lexical: lexical}
	alone := Engine{m.Name, func(memories []Memory) (Store, error) { return openHybrid(m, s, memories) }}
	if h.Vectors, err = Run(alone, s); err != nil {
		return h, err
	}
	both := Engine{"fused", func(memories []Memory) (Store, error) {
		x, err := openHybrid(m, s, memories)
		if err != nil {
			return nil, err
		}
		if err := x.weigh(); err != nil {
			x.Close()
			return nil, err
		}
		h.Weights = append(h.Weights, x.shown())
		return fusing{x}, nil
	}}
	h.Both, err = Run(both, s)
	return h, err
}

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
}

// fusing is a hybrid that answers with both lists.
type fusing struct{ *hybrid }

func openHybrid(m Model, s Set, memories []Memory) (x *hybrid, err error) {
	x = &hybrid{records: map[string]record.Memory{}, back: map[string]string{}, space: vector.Space{Name: m.Name, Dim: dimension}}
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
	x.embed = m.embedder(all, labelled)
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

// shown returns the weight, or -1 if the nearest are not shown.
func (x *hybrid) shown() float64 {
	if x.worth.Useless() {
		return -1
	}
	return x.worth.Weight
}

func (x *hybrid) near(query string, n int) ([]vector.Near, error) {
	q, err := x.embed(context.Background(), []string{x.space.Query(query)})
	if err != nil {
		return nil, err
	}
	return x.vectors.Nearest(q[0], n, func(id string) (record.Memory, bool) {
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
	var lexical, nearest []recall.Hit
	known := map[string]bool{}
	for _, id := range words {
		m := x.records[x.back[id]]
		known[m.ID] = x.vectors.Has(m)
		lexical = append(lexical, recall.Hit{Memory: m})
	}
	for _, m := range near {
		nearest = append(nearest, recall.Hit{Memory: m.Memory})
	}
	for _, f := range recall.Fuse(lexical, nearest, known, x.worth.Weight) {
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
