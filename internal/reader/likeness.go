package reader

import (
	"context"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/ollama"
	"github.com/reverie-memory/reverie/prompts/door"
)

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
		n.vectors, n.weight = vectors, worth.Weight
		return n
	}
}
