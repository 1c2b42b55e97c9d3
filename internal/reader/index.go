package reader

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Only this file opens the index of gitstore/recall and brings it up to date.

// CatalogFile is the file of the state folder with all parsed memories and the index for recall and
// prompts. It may be deleted at any time.
const CatalogFile = "cache"

// MaxIndexed bounds the memories that a hook indexes while an agent waits, some 50 ms of work. The
// worker indexes the rest.
const MaxIndexed = 500

// OpenIndex opens the index for searches until done is called. Call it before opening the view to
// search, because a purge drops the file. A file opened before a purge gets no more data, but one
// opened later would get the purged text.
func (r *Reader) OpenIndex() (done func()) {
	before := r.index
	x := recall.Open(filepath.Join(r.State, CatalogFile))
	r.index = x
	return func() {
		x.Close()
		r.index = before
	}
}

// search runs fn on the index of a view. It keeps the index on disk if OpenIndex ran before the
// view was opened, but never for a view of the past. Beyond limit, the error wraps
// recall.ErrBehind. fn may run twice, since results from a damaged index are discarded.
func (r *Reader) search(ctx context.Context, v *record.View, past bool, limit recall.Limits, fn func(*recall.Index) error) error {
	given, err := r.ForAgents(ctx, v)
	if err != nil {
		return err
	}
	had := r.index
	switch {
	case had == nil:
		had = recall.Open("")
		defer had.Close()
	case past:
		had = had.InMemory()
		defer had.Close()
	}
	for again := false; ; again = true { // rebuilds a spoilt index once
		x, err := had.BringToBoth(ctx, v, given, limit)
		if err != nil {
			return err
		}
		if unkept := x.Unkept(); unkept != nil {
			r.Note(Note{About: Unindexed, Err: unkept})
		}
		err = fn(x)
		spoilt := x.Err()
		x.Close()
		if spoilt == nil || again {
			return errors.Join(err, spoilt)
		}
	}
}

// SearchGiven is search on two indexes. In the first, memories withheld for their authors never
// existed. None of them is found, hides a duplicate, or makes a word common. The second holds only
// those; it is made on demand and must be closed. withheld is nil if nothing is withheld. The first
// also has the person's own memory, unless past is set.
func (r *Reader) SearchGiven(ctx context.Context, v *record.View, past bool, limit recall.Limits, fn func(given *recall.Index, withheld func() *recall.Index) error) error {
	return r.search(ctx, v, past, limit, func(x *recall.Index) error {
		held, err := r.Withheld(ctx, v)
		if err != nil {
			return err
		}
		answer := func(x *recall.Index, withheld func() *recall.Index) error {
			if past {
				return fn(x, withheld)
			}
			return withOwn(ctx, r, x, limit, func(x *recall.Index) error { return fn(x, withheld) })
		}
		if held.None() {
			return answer(x, nil)
		}
		is := func(d recall.Version) bool {
			return !d.Given && len(held.WhoseFile(gitstore.ID(d.Blob), d.Private)) > 0
		}
		given := x.Only(func(d recall.Version) bool { return !is(d) })
		defer given.Close()
		return answer(given, func() *recall.Index { return x.Only(is) })
	})
}

// searchAll is search on the newest version of every memory.
func (r *Reader) searchAll(ctx context.Context, v *record.View, past bool, fn func(*recall.Index) error) error {
	return r.search(ctx, v, past, recall.Limits{}, func(x *recall.Index) error {
		if held, err := r.Withheld(ctx, v); err != nil || held.None() {
			return cmp.Or(err, fn(x))
		}
		newest := x.Only(func(d recall.Version) bool { return !d.Given })
		defer newest.Close()
		return fn(newest)
	})
}

// latestIndex returns the index of the newest state, for work that outlasts a view. The caller
// closes it.
func (r *Reader) latestIndex(ctx context.Context) (x *recall.Index, err error) {
	defer r.OpenIndex()()
	err = r.View(ctx, func(v *record.View) error {
		given, err := r.ForAgents(ctx, v)
		if err != nil {
			return err
		}
		x, err = r.index.BringToBoth(ctx, v, given, recall.Limits{})
		return err
	})
	if err != nil && x != nil {
		x.Close()
	}
	return x, err
}

// RefreshIndex brings the index up to date for the next searches. It returns an error if it could
// not store the index.
func (r *Reader) RefreshIndex(ctx context.Context) error {
	defer r.OpenIndex()()
	return r.View(ctx, func(v *record.View) error {
		return r.search(ctx, v, false, recall.Limits{}, func(x *recall.Index) error { return x.Unkept() })
	})
}

// Nearest returns the statements of the n memories nearest to a text, among those that agents may
// see. private adds the clone's private memories, and the person's own.
func Nearest(ctx context.Context, r *Reader, text string, n int, private bool) ([]string, error) {
	var known []string
	defer r.OpenIndex()()
	err := r.View(ctx, func(v *record.View) error {
		return r.SearchGiven(ctx, v, false, recall.Limits{}, func(x *recall.Index, _ func() *recall.Index) error {
			known = nil
			keep := x.Keep(recall.Query{}, r.Now())
			for _, f := range x.Rank(recall.Request{Text: text, N: 4 * n, Keep: keep}) {
				m, err := x.Memory(f.Ref)
				if err != nil {
					return err
				}
				if len(known) < n && (private || !m.Private && !m.Own) {
					known = append(known, m.Text)
				}
			}
			return nil
		})
	})
	return known, err
}
