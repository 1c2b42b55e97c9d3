package ollama

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/reverie-memory/reverie/internal/cut"
)

const (
	batch       = 32              // texts in one call
	embedLimit  = 5 * time.Minute // for one call, including loading the model
	leastText   = 32              // bytes below which no text is too long
	fallbackCtx = 256             // tokens, for a model of unknown context
	embedStays  = time.Hour       // that a server keeps the model: a prompt waits for no loading
)

// Embed returns a vector of length 1 for each text, in their order: len(texts) × dimension. It
// truncates a text beyond the model's context. A text's vector depends only on the model and the
// text. A blank text is an error.
//
// The error wraps ErrMissing, ErrNoModel (the model makes no vectors), ErrCloud, ErrTooLong,
// ErrBadOutput, ErrBroke, ErrBusy, ErrUnavailable or the context's own.
func (c *Client) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	did := "embed by model " + model
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("%s: text %d of %d is blank", did, i+1, len(texts))
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	m, err := c.look(ctx, model)
	switch {
	case err != nil:
		return nil, err
	case m.Cloud:
		return nil, fail(did, ErrCloud, "")
	case !m.Has(Embedding):
		return nil, fail(did, ErrNoModel, "it makes no vectors")
	}
	limit := m.Context
	if limit <= 0 {
		limit = fallbackCtx
	}
	limit += limit / 2 // a token of human text is hardly ever shorter than one and a half bytes
	var vectors [][]float32
	for start := 0; start < len(texts); start += batch {
		part := make([]string, 0, batch)
		for _, text := range texts[start:min(start+batch, len(texts))] {
			part = append(part, cut.Bytes(strings.TrimSpace(text), limit))
		}
		got, err := c.embed(ctx, did, model, part)
		if errors.Is(err, ErrTooLong) {
			got, err = c.embedEach(ctx, did, model, part)
		}
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, got...)
	}
	for i, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, fail(did, ErrBadOutput, fmt.Sprintf("dimensions %d and %d", len(vectors[0]), len(v)))
		}
		if !normalise(v) {
			return nil, fail(did, ErrBadOutput, fmt.Sprintf("vector %d is zero or not finite", i+1))
		}
	}
	return vectors, nil
}

// embedEach embeds texts one by one, and halves those that the server finds too long.
func (c *Client) embedEach(ctx context.Context, did, model string, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for _, text := range texts {
		for {
			got, err := c.embed(ctx, did, model, []string{text})
			if err == nil {
				vectors = append(vectors, got[0])
				break
			}
			if !errors.Is(err, ErrTooLong) || len(text) < leastText {
				return nil, err
			}
			text = cut.Bytes(text, len(text)/2)
		}
	}
	return vectors, nil
}

// embed makes one call and checks that there is a vector for each text. It takes any refusal with
// 400 for one of the length, because its wording differs between servers.
func (c *Client) embed(ctx context.Context, did, model string, texts []string) ([][]float32, error) {
	limited, cancel := context.WithTimeoutCause(ctx, embedLimit, errSilent)
	defer cancel()
	got, err := c.api.Embed(limited, &api.EmbedRequest{Model: model, Input: texts, KeepAlive: &api.Duration{Duration: embedStays}})
	if err != nil {
		err = c.failed(ctx, limited, did, strings.Join(texts, "\n"), ErrUnavailable, err)
		var status api.StatusError
		if errors.As(err, &status) && status.StatusCode == 400 && errors.Is(err, ErrUnavailable) {
			err = fail(did, ErrTooLong, "", err)
		}
		return nil, err
	}
	if len(got.Embeddings) != len(texts) {
		return nil, fail(did, ErrBadOutput, fmt.Sprintf("%d vectors of %d texts", len(got.Embeddings), len(texts)))
	}
	return got.Embeddings, nil
}

// normalise scales v to length 1. It returns false for a vector without direction.
func normalise(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if norm := math.Sqrt(sum); norm > 0 && !math.IsInf(norm, 0) && !math.IsNaN(norm) {
		for i := range v {
			v[i] = float32(float64(v[i]) / norm)
		}
		return true
	}
	return false
}
