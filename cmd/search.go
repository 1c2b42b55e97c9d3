package cmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// indexDir is the folder of the state folder with the index of what is in force, by which recall and prompts find it. It may
// be deleted at any time.
const indexDir = "index"

// maxIndexed is how many memories a hook takes into the index while an agent waits, some 50 ms of work; more are left to the
// worker.
const maxIndexed = 500

// search runs fn on the index of a view. Where limit is exceeded the error wraps recall.ErrBehind. fn may run twice, since
// what was found in a spoilt index is worth nothing.
func (w *workspace) search(ctx context.Context, v *record.View, past bool, limit recall.Limits, fn func(*recall.Index) error) error {
	dir := filepath.Join(w.state, indexDir)
	for again := false; ; again = true {
		had := recall.Make(dir, recall.MemoryAnalysis())
		if past {
			of := had.InMemory()
			had.Close()
			had = of
		}
		x, err := had.BringTo(ctx, v, limit)
		had.Close()
		if err != nil {
			return err
		}
		err = fn(x)
		spoilt := x.Err()
		x.Close()
		if spoilt == nil || again {
			return errors.Join(err, spoilt)
		}
		if err := recall.Drop(dir); err != nil {
			return err
		}
	}
}

// bringIndex brings the index up to date, for whoever asks next.
func (w *workspace) bringIndex(ctx context.Context) error {
	return w.view(ctx, func(v *record.View) error {
		return w.search(ctx, v, false, recall.Limits{}, func(*recall.Index) error { return nil })
	})
}
