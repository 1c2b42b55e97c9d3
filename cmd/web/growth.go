package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// The size of the picture, in its own units.
const (
	wide = 900
	high = 300
	bars = 60 // at most
)

// growth is a picture of the memories in force, by the time of their source.
type growth struct {
	Wide, High int
	From, To   time.Time
	Total      int
	Bars       []bar // one above the other
	Kinds, By  []tally
}

// bar is the part of a column that one kind has.
type bar struct {
	Kind                record.Kind
	X, Y, Width, Height float64
	N                   int
	Until               time.Time
}

// tally counts memories.
type tally struct {
	Name string
	N    int
}

// showGrowth draws how many memories there were at each time.
func showGrowth(ctx context.Context, d *Desk, _ *http.Request) (page, error) {
	var all []record.Memory
	err := d.Reader.View(ctx, func(v *record.View) error {
		all = v.Memories()
		return nil
	})
	return page{View: "growth", Title: "Growth", Data: drawn(all, d.Reader.Now())}, err
}

// drawn makes the picture of the memories that are in force now.
func drawn(all []record.Memory, now time.Time) growth {
	g := growth{Wide: wide, High: high, To: now}
	kinds, by := map[string]int{}, map[string]int{}
	all = slices.DeleteFunc(slices.Clone(all), func(m record.Memory) bool { return !m.Live(now) })
	for _, m := range all {
		kinds[string(m.Kind)]++
		who := cmp.Or(m.Source.Agent(), m.Source.By)
		by[who]++
		if at := m.Source.Time; !at.IsZero() && (g.From.IsZero() || at.Before(g.From)) {
			g.From = at
		}
		if m.Source.Time.After(g.To) { // another clone's clock
			g.To = m.Source.Time
		}
	}
	g.Kinds, g.By = tallies(kinds), tallies(by)
	g.Total = len(all)
	if g.Total == 0 || g.From.IsZero() {
		return g
	}
	step := g.To.Sub(g.From)/bars + 1
	counts := map[record.Kind]*[bars]int{} // by column
	for _, m := range all {
		if counts[m.Kind] == nil {
			counts[m.Kind] = new([bars]int)
		}
		counts[m.Kind][max(0, m.Source.Time.Sub(g.From)/step)]++
	}
	sums := map[record.Kind]int{}
	for i := range bars {
		y := float64(high)
		for _, kind := range record.Kinds {
			if counts[kind] == nil {
				continue
			}
			sums[kind] += counts[kind][i]
			tall := float64(sums[kind]) * high / float64(g.Total)
			if y -= tall; tall > 0 {
				g.Bars = append(g.Bars, bar{kind, float64(i) * wide / bars, y, wide/bars - 1, tall, sums[kind], g.From.Add(step * time.Duration(i+1))})
			}
		}
	}
	return g
}

// tallies sorts counts, the largest first.
func tallies(counts map[string]int) (all []tally) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, tally{name, counts[name]})
	}
	slices.SortStableFunc(all, func(a, b tally) int { return cmp.Compare(b.N, a.N) })
	return all
}
