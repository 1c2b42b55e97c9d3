package cmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/segment"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// indexDir is the folder of the state folder with the index of what is in force, by which recall and prompts find it. It may
// be deleted at any time.
const indexDir = "index"

// maxIndexed is how many memories a hook takes into the index while an agent waits, some 50 ms of work; more are left to the
// worker.
const maxIndexed = 500

// openIndex opens the index for the searches until done is called. It comes before the view that is searched: the folder of an index that
// a purge drops meanwhile is gone, and what is then written to it with it, while one that was opened later would get what the purge took.
func (w *workspace) openIndex() (done func()) {
	before := w.index
	x := recall.Make(filepath.Join(w.State, indexDir), recall.MemoryAnalysis())
	w.index = x
	return func() {
		x.Close()
		w.index = before
	}
}

// search runs fn on the index of a view. What it had to index is kept where openIndex was called before the view was taken, and in no case
// for a view of the past. Where limit is exceeded the error wraps recall.ErrBehind. fn may run twice, since what was found in a
// spoilt index is worth nothing.
func (w *workspace) search(ctx context.Context, v *record.View, past bool, limit recall.Limits, fn func(*recall.Index) error) error {
	given, err := w.agents(ctx, v)
	if err != nil {
		return err
	}
	had := w.index
	switch {
	case had == nil:
		had = recall.Open("", recall.MemoryAnalysis())
		defer had.Close()
	case past:
		had = had.InMemory()
		defer had.Close()
	}
	for again := false; ; again = true { // a spoilt one is made anew, as had is spoilt with it
		var x *recall.Index
		err := had.Guard(func() (err error) {
			x, err = had.BringToBoth(ctx, v, given, limit)
			return err
		})
		if errors.Is(err, segment.ErrCorrupt) && !again {
			continue
		}
		if err != nil {
			return err
		}
		if unkept := x.Unkept(); unkept != nil && w.env.Verbose && !w.told[unkept.Error()] {
			w.told[unkept.Error()] = true
			w.env.Warn("%v; whoever searches next indexes the same again", unkept)
		}
		err = x.Guard(func() error { return fn(x) })
		spoilt := x.Err()
		x.Close()
		if spoilt == nil || again {
			return errors.Join(err, spoilt)
		}
	}
}

// indexed is the index of what is kept now, for work that outlasts a view. It is to be closed.
func (w *workspace) indexed(ctx context.Context) (x *recall.Index, err error) {
	defer w.openIndex()()
	err = w.view(ctx, func(v *record.View) error {
		given, err := w.agents(ctx, v)
		if err != nil {
			return err
		}
		return w.index.Guard(func() (err error) {
			x, err = w.index.BringToBoth(ctx, v, given, recall.Limits{})
			return err
		})
	})
	if err != nil && x != nil {
		x.Close()
	}
	return x, err
}

// bringIndex brings the index up to date, for whoever asks next. It is an error when it could not be kept.
func (w *workspace) bringIndex(ctx context.Context) error {
	defer w.openIndex()()
	return w.view(ctx, func(v *record.View) error {
		return w.search(ctx, v, false, recall.Limits{}, func(x *recall.Index) error { return x.Unkept() })
	})
}
