package reader

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
)

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
