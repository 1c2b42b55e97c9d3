package ollama

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// embedder answers with the vector (length in bytes, 1, 0) for each text, and refuses a call with a
// text of more than limit bytes. calls records the texts of each call.
func embedder(t *testing.T, limit, refusal int, calls *[][]string) fake {
	return fake{"/api/embed": func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		*calls = append(*calls, q.Input)
		var vectors [][]float64
		for _, text := range q.Input {
			if len(text) > limit {
				w.WriteHeader(refusal)
				fmt.Fprint(w, `{"error":"the input length exceeds the context length"}`)
				return
			}
			vectors = append(vectors, []float64{float64(len(text)), 1, 0})
		}
		json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
	}}
}

// vector returns embedder's vector of n bytes, scaled to length 1.
func vector(n int) []float32 {
	norm := math.Hypot(float64(n), 1)
	return []float32{float32(float64(n) / norm), float32(1 / norm), 0}
}

func TestEmbed(t *testing.T) {
	var calls [][]string
	c := embedder(t, 1<<20, 400, &calls).client(t)
	var texts []string
	var want [][]float32
	for i := range 70 {
		texts = append(texts, strings.Repeat("x", i+1))
		want = append(want, vector(i+1))
	}
	// 1000 bytes; the model's context is 512 tokens, so 768 bytes are sent
	texts[69] = strings.Repeat("é", 500)
	want[69] = vector(768)
	got, err := c.Embed(t.Context(), "e", texts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var sizes []int
	for _, call := range calls {
		sizes = append(sizes, len(call))
		for _, text := range call {
			if !utf8.ValidString(text) {
				t.Errorf("half a character: %q", text)
			}
		}
	}
	if diff := cmp.Diff([]int{32, 32, 6}, sizes); diff != "" {
		t.Error(diff)
	}
	if got, err := c.Embed(t.Context(), "e", nil); got != nil || err != nil || len(calls) != 3 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

// TestEmbedHalves uses a server that rejects long texts. The other texts of a call do not change a
// text's vector.
func TestEmbedHalves(t *testing.T) {
	for _, refusal := range []int{400, 500} {
		var calls [][]string
		c := embedder(t, 200, refusal, &calls).client(t)
		texts := []string{strings.Repeat("a", 700), "short", strings.Repeat("b", 200)}
		got, err := c.Embed(t.Context(), "e", texts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]float32{vector(175), vector(5), vector(200)}, got); diff != "" {
			t.Error(diff)
		}
	}
	var calls [][]string
	_, err := embedder(t, 1, 400, &calls).client(t).Embed(t.Context(), "e", []string{strings.Repeat(secret, 10)})
	if !errors.Is(err, ErrTooLong) || len(calls) > 10 {
		t.Errorf("after %d calls: %v", len(calls), err)
	}
}

func TestEmbedFails(t *testing.T) {
	tests := []struct {
		name  string
		model string
		texts []string
		embed http.HandlerFunc
		want  error
	}{
		{name: "too few", embed: says(`{"embeddings":[[1,2]]}`), want: ErrBadOutput},
		{name: "too many", embed: says(`{"embeddings":[[1,2],[1,2],[1,2]]}`), want: ErrBadOutput},
		{name: "none", embed: says(`{"embeddings":[]}`), want: ErrBadOutput},
		{name: "no body", embed: says(``), want: ErrBadOutput},
		{name: "of two dimensions", embed: says(`{"embeddings":[[1,2],[1,2,3]]}`), want: ErrBadOutput},
		{name: "of no dimension", embed: says(`{"embeddings":[[],[]]}`), want: ErrBadOutput},
		{name: "zero", embed: says(`{"embeddings":[[1,2],[0,0]]}`), want: ErrBadOutput},
		{name: "null", embed: says(`{"embeddings":[[1,2],null]}`), want: ErrBadOutput},
		{name: "not finite", embed: says(`{"embeddings":[[1,2],[1e999,0]]}`), want: ErrUnavailable},
		{name: "a page", embed: says(`<html>`), want: ErrStranger},
		{name: "503", embed: code(503, ``), want: ErrBusy},
		{name: "500", embed: code(500, `{"error":"cannot do `+secret+`"}`), want: ErrUnavailable},
		{name: "404", embed: code(404, `{"error":"model \"e\" not found, try pulling it first"}`), want: ErrMissing},
		{name: "broken off", embed: then(says(`{"embeddings":[[1`), nil), want: ErrUnavailable},
		{name: "not installed", model: "nope", want: ErrMissing},
		{name: "makes none", model: "m", want: ErrNoModel},
		{name: "of the cloud", model: "c", want: ErrCloud},
		{name: "blank", texts: []string{"a", " \n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.embed == nil {
				tt.embed = func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }
			}
			if tt.model == "" {
				tt.model = "e"
			}
			if tt.texts == nil {
				tt.texts = []string{"a", secret}
			}
			got, err := fake{"/api/embed": tt.embed}.client(t).Embed(t.Context(), tt.model, tt.texts)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || got != nil {
				t.Errorf("Embed = %v, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), secret[:20]) {
				t.Errorf("the error says too much: %v", err)
			}
		})
	}
}
