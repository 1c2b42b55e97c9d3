package reader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts/door"
)

// Bounds of one call of FillVectors.
const (
	fillTime  = 2 * time.Minute
	fillTexts = 2000
	fillStep  = 256         // texts after which finished ones are stored
	fillBatch = time.Minute // for one batch of texts to the model
)

// FillVectors embeds the memories in force without a vector, as far as model, time and the day's
// budget allow. When the budget is spent, the error wraps door.ErrSpent; in the background it is
// nil. stop, unless nil, is called before each question to the model. Finished vectors stay. left
// counts the remaining texts.
func FillVectors(ctx context.Context, r *Reader, stop func() bool) (done, left int, err error) {
	if err := r.Narrow(ctx); err != nil {
		return 0, 0, err
	}
	if !r.embeds(r.Settings.Config) {
		return 0, 0, nil
	}
	defer func() {
		if r.Background && errors.Is(err, door.ErrSpent) {
			err = nil
		}
	}()
	if err := r.Budget().Spent(); err != nil {
		return 0, 0, err
	}
	embed, space, err := r.OpenEmbedder(ctx)
	if embed == nil || err != nil {
		return 0, 0, err
	}
	embed = spending(embed, r.Budget(), stop)
	dir, err := r.Repo.State().Sub(VectorsDir)
	if err != nil {
		return 0, 0, err
	}
	// before reading the memories: a purge may come between
	vectors, err := vector.Make(ctx, dir, space)
	if err != nil {
		return 0, 0, err
	}
	defer vectors.Close()
	var live []record.Memory
	err = r.View(ctx, func(v *record.View) error {
		for _, m := range v.Memories() {
			if m.Live(r.Now()) {
				live = append(live, m)
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	for until := time.Now().Add(fillTime); done < fillTexts; {
		n := 0
		n, left, err = vectors.Fill(ctx, embed, live, min(fillStep, fillTexts-done), until)
		done += n
		if errors.Is(err, vector.ErrDropped) {
			return 0, 0, nil // a purge: the next call begins again
		}
		if errors.Is(err, errStopped) {
			return done, left, nil
		}
		if err != nil || n == 0 || left == 0 {
			break
		}
	}
	if err == nil {
		err = weighVectors(ctx, r, vectors, embed, live)
	}
	if errors.Is(err, vector.ErrDropped) || errors.Is(err, errStopped) {
		err = nil
	}
	return done, left, err
}

// weighVectors measures the gain of the vectors over words alone, if that is unknown or much has
// changed since. The model gets up to 192 texts of a few words.
func weighVectors(ctx context.Context, r *Reader, vectors *vector.Store, embed vector.Embed, live []record.Memory) error {
	if worth, known := vectors.Worth(); vectors.Empty() || known && !worth.Old(vectors.Rows()) {
		return nil
	}
	x, err := r.latestIndex(ctx)
	if err != nil {
		return err
	}
	defer x.Close()
	keep := x.Keep(recall.Query{}, r.Now())
	worth, err := vectors.Weigh(ctx, embed, live, func(query string, n int) []string { return x.IDs(query, n, keep) })
	if err = errors.Join(err, x.Err()); err != nil {
		return err
	}
	return vectors.Keep(ctx, worth)
}

// errStopped ends the making of vectors for more urgent work.
var errStopped = errors.New("there is something else to do first")

// spending wraps an embedder: it calls stop first, keeps to the day's budget, and bounds each
// question by fillBatch.
func spending(embed vector.Embed, budget door.Budget, stop func() bool) vector.Embed {
	return func(ctx context.Context, texts []string) (vectors [][]float32, err error) {
		if stop != nil && stop() {
			return nil, fmt.Errorf("%w: %w", vector.ErrStop, errStopped)
		}
		bytes, late := 0, false
		for _, text := range texts {
			bytes += len(text)
		}
		err = budget.Spend(ctx, func(outer context.Context) (int, error) {
			ctx, cancel := context.WithTimeout(outer, fillBatch)
			defer cancel()
			vectors, err = embed(ctx, texts)
			late = ctx.Err() != nil
			return bytes / 4, err
		})
		if err != nil && (late || errors.Is(err, door.ErrSpent)) {
			err = fmt.Errorf("%w: %w", vector.ErrStop, err)
		}
		return vectors, err
	}
}
