package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/prompts/door"
)

// vectorsDir is the folder of the state folder with what a model makes of memories, for recall. It may be deleted at any
// time.
const vectorsDir = "vectors"

// embedder is what gives texts their vectors, and in which space; nil where nobody is to be asked. It may ask a server,
// and returns when ctx ends.
func (w *workspace) embedder(ctx context.Context) (vector.Embed, vector.Space, error) {
	if w.env.embedder != nil {
		return w.env.embedder(ctx)
	}
	if err := w.narrow(ctx); err != nil {
		return nil, vector.Space{}, err
	}
	of := w.narrowed.Model
	if of.Embed == config.Off {
		return nil, vector.Space{}, nil
	}
	client, err := openOllama(of)
	if err != nil {
		return nil, vector.Space{}, err
	}
	m, err := chooseModel(ctx, client, wantedVectors(of.Embed))
	if err != nil {
		return nil, vector.Space{}, err
	}
	embed := func(ctx context.Context, texts []string) ([][]float32, error) {
		return client.Embed(ctx, m.Name, texts)
	}
	if m.Dimension == 0 { // a server that does not tell
		one, err := embed(ctx, []string{"a"})
		if err != nil {
			return nil, vector.Space{}, err
		}
		m.Dimension = len(one[0])
	}
	return embed, vector.Space{Name: m.Name, Digest: m.Digest, Dim: m.Dimension}, nil
}

// What one call of fillVectors does at most.
const (
	fillTime  = 2 * time.Minute
	fillTexts = 2000
	fillStep  = 256         // texts after which those done are kept
	fillBatch = time.Minute // for the texts that the model is given at once
)

// fillVectors embeds what of the memories in force has no vector yet, as far as there are a model, time, and something of
// the day's budget: when that is spent, the error wraps door.ErrSpent, but for the worker, which has nobody to tell. stop, if
// there is one, is asked each time before the model is. What was done stays, whatever ends it. left is how many texts
// are without.
func (w *workspace) fillVectors(ctx context.Context, stop func() bool) (done, left int, err error) {
	if err := w.narrow(ctx); err != nil {
		return 0, 0, err
	}
	if w.env.embedder == nil && w.narrowed.Model.Embed == config.Off {
		return 0, 0, nil
	}
	defer func() {
		if w.env.background && errors.Is(err, door.ErrSpent) {
			err = nil
		}
	}()
	if err := w.budget().Spent(); err != nil {
		return 0, 0, err
	}
	embed, space, err := w.embedder(ctx)
	if embed == nil || err != nil {
		return 0, 0, err
	}
	embed = spending(embed, w.budget(), stop)
	dir, err := w.Repo.StateSub(vectorsDir)
	if err != nil {
		return 0, 0, err
	}
	vectors, err := vector.Make(ctx, dir, space) // before the memories are read: a purge may come between
	if err != nil {
		return 0, 0, err
	}
	defer vectors.Close()
	var live []record.Memory
	err = w.view(ctx, func(v *record.View) error {
		for _, m := range v.Memories() {
			if m.Live(w.env.Now()) {
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
			return 0, 0, nil // a purge: the next call begins anew
		}
		if errors.Is(err, errStopped) {
			return done, left, nil
		}
		if err != nil || n == 0 || left == 0 {
			break
		}
	}
	if err == nil {
		err = w.weighVectors(ctx, vectors, embed, live)
	}
	if errors.Is(err, vector.ErrDropped) || errors.Is(err, errStopped) {
		err = nil
	}
	return done, left, err
}

// weighVectors measures what the vectors are worth beside the words, where nobody has or much has changed since: the model is
// given up to 192 texts of a few words.
func (w *workspace) weighVectors(ctx context.Context, vectors *vector.Store, embed vector.Embed, live []record.Memory) error {
	if worth, known := vectors.Worth(); vectors.Empty() || known && !worth.Old(vectors.Rows()) {
		return nil
	}
	x, err := w.indexed(ctx)
	if err != nil {
		return err
	}
	defer x.Close()
	keep := x.Keep(recall.Query{}, w.env.Now())
	var worth vector.Worth
	err = x.Guard(func() (err error) {
		worth, err = vectors.Weigh(ctx, embed, live, func(query string, n int) []string { return x.IDs(query, n, keep) })
		return errors.Join(err, x.Err())
	})
	if err != nil {
		return err
	}
	return vectors.Keep(ctx, worth)
}

// errStopped ends the making of vectors for something that is to be done first.
var errStopped = errors.New("there is something else to do first")

// spending has what embeds ask whether it is to stop, and keep to the day's budget and to fillBatch.
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

// embedWait is how long a search waits for the vector of its query.
const embedWait = 300 * time.Millisecond

// nearness is what a search knows of likeness.
type nearness struct {
	vectors *vector.Store
	query   []float32 // nil where the list does not answer
	weight  float64   // of its ranks beside those of the words
	why     string    // it does not answer
}

// askNear has the query embedded, and returns the function that waits for it, embedWait after askNear was called at most.
// That function is to be called once, and the vectors it returns closed.
func (w *workspace) askNear(ctx context.Context, q recall.Query) (answer func() nearness) {
	none := func(why string) func() nearness { return func() nearness { return nearness{why: why} } }
	if q.Literal {
		return none("the query wants its very words")
	}
	if w.env.embedder == nil && w.Config.Model.Embed == config.Off {
		return none("no model is set")
	}
	if len(q.Not) > 0 {
		return none("the query leaves words out")
	}
	if err := w.narrow(ctx); err != nil {
		return none(err.Error())
	}
	if w.env.embedder != nil || w.narrowed.Model.Embed != config.Off {
		if err := w.budget().Spent(); err != nil {
			return none(err.Error())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, embedWait)
	late := "no answer within " + embedWait.String()
	embed, space, err := w.embedder(ctx)
	var vectors *vector.Store
	if embed != nil && err == nil {
		vectors = vector.Read(filepath.Join(w.State, vectorsDir), space)
	}
	why := ""
	switch {
	case ctx.Err() != nil:
		why = late
	case err != nil:
		why = err.Error()
	case embed == nil:
		why = "no model is set"
	case vectors.Empty():
		why = "no memory has one yet"
	}
	worth, _ := vectors.Worth()
	if why == "" && worth.Useless() {
		why = "those of this model find too little here"
	}
	if why != "" {
		cancel()
		vectors.Close()
		return none(why)
	}
	clean, _ := w.Scanner.Text(q.Text)
	answers := make(chan nearness, 1)
	go func() { // it may not mind that ctx ended
		got, err := embed(ctx, []string{space.Query(clean.String())})
		switch {
		case err != nil:
			answers <- nearness{why: err.Error()}
		case len(got) != 1 || len(got[0]) != space.Dim:
			answers <- nearness{why: "the model's answer is no vector of its space"}
		default:
			answers <- nearness{query: got[0]}
		}
	}()
	return func() nearness {
		defer cancel()
		n := nearness{why: late}
		select {
		case n = <-answers:
			if n.query == nil && ctx.Err() != nil {
				n.why = late
			}
		case <-ctx.Done():
		}
		if n.query == nil {
			vectors.Close()
			return n
		}
		n.vectors, n.weight = vectors, worth.Weight
		return n
	}
}
