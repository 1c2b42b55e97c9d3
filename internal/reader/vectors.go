package reader

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/ollama"
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
	alone := embed
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
	if err == nil && done == 0 && !vectors.Empty() { // a search that gives up stops the loading
		warm, cancel := context.WithTimeout(ctx, fillBatch)
		defer cancel()
		_, _ = alone(warm, []string{"a"})
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

// VectorsDir is the folder of the state folder with a model's vectors of memories, for recall. It
// may be deleted at any time.
const VectorsDir = "vectors"

// Budget returns the daily budget of questions to models, counted for this clone.
func (r *Reader) Budget() door.Budget {
	m := r.Settings.Config.Model
	return door.Budget{Path: filepath.Join(r.State, "model.json"), Calls: m.Calls, Tokens: m.Tokens, Time: time.Duration(m.Seconds) * time.Second, Now: r.Now}
}

// OpenEmbedder returns the function that gives texts their vectors, and their space, or nil if no
// model is wanted. It may ask a server, and returns when ctx ends.
func (r *Reader) OpenEmbedder(ctx context.Context) (vector.Embed, vector.Space, error) {
	if r.Embedder != nil {
		return r.Embedder(ctx)
	}
	if err := r.Narrow(ctx); err != nil {
		return nil, vector.Space{}, err
	}
	of := r.Settings.Config.Model
	if of.Embed == config.Off {
		return nil, vector.Space{}, nil
	}
	client, err := ollama.Open(ollama.Options{Host: of.Host, Remote: of.Remote})
	if err != nil {
		return nil, vector.Space{}, err
	}
	m, err := client.Choose(ctx, ollama.Want{Name: of.Embed, Need: ollama.Embedding})
	if err != nil {
		return nil, vector.Space{}, err
	}
	embed := func(ctx context.Context, texts []string) ([][]float32, error) {
		return client.Embed(ctx, m.Name, texts)
	}
	if m.Dimension == 0 { // the server does not tell
		one, err := embed(ctx, []string{"a"})
		if err != nil {
			return nil, vector.Space{}, err
		}
		m.Dimension = len(one[0])
	}
	return embed, vector.Space{Name: m.Name, Digest: m.Digest, Dim: m.Dimension}, nil
}

// embeds reports whether some model may be asked for vectors under given settings.
func (r *Reader) embeds(c config.Config) bool {
	return r.Embedder != nil || c.Model.Embed != config.Off
}

// embedWait bounds how long a search waits for the vector of its query.
const embedWait = 300 * time.Millisecond

// nearness holds the vectors and the query vector of a search.
type nearness struct {
	vectors *vector.Store
	query   []float32 // nil where ListVectors does not answer
	weight  float64   // of its ranks relative to those of the words
	words   int       // of the query, as recall.Fuse wants them
	alike   float64   // likeness of memories that mean the same as the query; 0: unknown
	why     string    // it does not answer
}

// askNear starts to embed the query. The returned function waits for the vector, at most embedWait
// after the call of askNear. Call it once, and close the vectors that it returns.
func (r *Reader) askNear(ctx context.Context, q recall.Query) (answer func() nearness) {
	none := func(why string) func() nearness { return func() nearness { return nearness{why: why} } }
	if q.Literal {
		return none("the query wants its very words")
	}
	if !r.embeds(r.Config) {
		return none("no model is set")
	}
	if len(q.Not) > 0 {
		return none("the query leaves words out")
	}
	if err := r.Narrow(ctx); err != nil {
		return none(err.Error())
	}
	if r.embeds(r.Settings.Config) {
		if err := r.Budget().Spent(); err != nil {
			return none(err.Error())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, embedWait)
	late := "no answer within " + embedWait.String()
	embed, space, err := r.OpenEmbedder(ctx)
	var vectors *vector.Store
	if embed != nil && err == nil {
		vectors = vector.Read(filepath.Join(r.State, VectorsDir), space)
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
	clean, _ := r.Scanner.Text(q.Text)
	answers := make(chan nearness, 1)
	go func() { // embed may go on after ctx ends
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
		n.vectors = vectors
		if n.weight, n.words = vector.Trust(worth, q.Text); n.words > 0 {
			n.alike = worth.Alike
		}
		return n
	}
}

// Meaning starts to ask the embedding model about a prompt. The first call of means waits for its
// answer, at most embedWait after the call of Meaning; means then reports whether a memory means
// the same. Without an answer none does. Call done at the end.
func Meaning(ctx context.Context, r *Reader, prompt string) (means func(record.Memory) bool, done func()) {
	near := sync.OnceValue(r.askNear(ctx, recall.Query{Text: prompt}))
	means = func(m record.Memory) bool {
		n := near()
		return n.alike > 0 && vector.Likeness(n.vectors, n.query, m) >= n.alike
	}
	return means, func() { near().vectors.Close() }
}
