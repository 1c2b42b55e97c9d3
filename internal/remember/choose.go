package remember

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Choice selects the memories that pass every given filter.
type Choice struct {
	Query string // filters of recall, without words
	Older string // a time, as recall's since: takes it
	Kind  string
	Tags  []string
}

// Given reports whether there is a filter.
func (c Choice) Given() bool {
	return c.Query != "" || c.Older != "" || c.Kind != "" || len(c.Tags) > 0
}

// Chosen is a memory that is not retired, as the asker sees it.
type Chosen struct {
	record.Memory
	Caveats reader.Caveats
	Blob    string // of the memory as it is, even if the asker sees an older version
}

// Choose returns the named memories, or without ids those that pass the filters. dir is the folder
// from which the filters name paths.
func (k *Keeper) Choose(ctx context.Context, ids []string, c Choice, dir string) (chosen []Chosen, err error) {
	passes, err := c.Passes(reader.Where(k.Repo.WorkTree, dir), k.Now())
	if err != nil {
		return nil, err
	}
	err = k.View(ctx, func(all *record.View) error {
		v, err := k.ForAsker(ctx, all)
		if err != nil {
			return err
		}
		reader.ReportBad(k.Reader, v)
		caveats, err := k.Caveats(ctx, v)
		if err != nil {
			return err
		}
		var found []record.Memory
		for _, id := range ids {
			m, err := v.Find(id)
			if err != nil {
				return err
			}
			found = append(found, m)
		}
		if len(ids) == 0 {
			found = slices.DeleteFunc(v.Memories(), func(m record.Memory) bool { return !passes(m) })
		}
		known := map[string]bool{}
		for _, m := range found {
			if m.Status != record.Retired && !known[m.ID] {
				known[m.ID] = true
				blob, _ := all.Blob(m.ID)
				chosen = append(chosen, Chosen{m, caveats(m), string(blob)})
			}
		}
		return nil
	})
	return chosen, err
}

// Passes returns the test whether a memory matches every filter at a time. One of unknown age is
// older than nothing.
func (c Choice) Passes(at recall.Where, now time.Time) (func(record.Memory) bool, error) {
	filters, err := c.filters(at)
	return func(m record.Memory) bool {
		v := recall.ValuesOf(m)
		return !slices.ContainsFunc(filters, func(q recall.Query) bool {
			return q.Without.Since != "" && v.Time.IsZero() || !q.Match(v, now)
		})
	}, err
}

// filters returns queries that all have to match.
func (c Choice) filters(at recall.Where) (all []recall.Query, err error) {
	if c.Kind != "" {
		kind, err := ParseKind(c.Kind)
		if err != nil {
			return nil, err
		}
		all = append(all, recall.Query{Filter: recall.Filter{Kinds: []record.Kind{kind}}})
	}
	for _, tag := range c.Tags {
		all = append(all, recall.Query{Filter: recall.Filter{Tags: []string{tag}}})
	}
	if c.Older != "" {
		q, err := at.Parse("-since:" + c.Older)
		if err != nil || q.Without.Since != c.Older {
			return nil, exit.Usage("use 90d, 2w, 6m, 1y or 2026-01-31", "--older-than: %q is not a time", c.Older)
		}
		all = append(all, q)
	}
	if c.Query != "" {
		q, err := at.Parse(c.Query)
		switch {
		case err != nil:
			return nil, exit.Usage("'reverie help recall' lists the filters", "%v", err)
		case q.At != "":
			return nil, exit.Usage("the option --at reads the memory as it was", "at: is no filter here")
		case strings.TrimSpace(q.Text) != "" || len(q.Not) > 0:
			return nil, exit.Usage("'reverie recall' finds by words; 'reverie help recall' lists the filters", "only filters choose here, not %q", strings.TrimSpace(q.Text+" "+strings.Join(q.Not, " ")))
		}
		all = append(all, q)
	}
	return all, nil
}

// Sort sorts memories by an order: by kind, or the new or the old ones first.
func Sort(all []record.Memory, order string) error {
	sign := map[string]int{"kind": 0, "new": -1, "old": 1}
	by, ok := sign[order]
	if !ok {
		return exit.Usage("it is kind, new or old", "%q is not an order", order)
	}
	slices.SortStableFunc(all, func(a, b record.Memory) int {
		if by == 0 {
			return slices.Index(record.Kinds, a.Kind) - slices.Index(record.Kinds, b.Kind)
		}
		return by * a.Source.Time.Compare(b.Source.Time)
	})
	return nil
}
