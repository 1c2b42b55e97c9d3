package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ollama/ollama/api"
	"github.com/reverie-memory/reverie/internal/ollama"
	"pgregory.net/rapid"
)

// These tests ask a real server through internal/ollama:
//
//	REVERIE_OLLAMA=$(.ci/ollama) go test -count=1 -run Real ./e2e

func serveReal(t *testing.T) (*server, *ollama.Client) {
	t.Helper()
	s := serveTiny(t)
	c, err := ollama.Open(ollama.Options{Host: s.url})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

const boundedSchema = `{"type":"object","properties":{
	"why":{"type":"string","maxLength":200},
	"kind":{"type":"string","enum":["decision","failure","note"]},
	"sure":{"type":"integer","minimum":0,"maximum":100},
	"holds":{"type":"boolean"},
	"tags":{"type":"array","items":{"type":"string","maxLength":12},"maxItems":4}
},"required":["why","kind","sure","holds","tags"],"additionalProperties":false}`

// endless returns a question that the random model answers up to the limits.
func endless() ollama.Request {
	return ollama.Request{
		Model: "tiny-random", Prompt: "Go on.", Context: 8192, Predict: 8000, First: time.Minute, Stall: time.Minute,
		Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","maxLength":1000},"minItems":50,"maxItems":50}},"required":["a"],"additionalProperties":false}`),
	}
}

func realQuestion(model string) ollama.Request {
	return ollama.Request{
		Model: model, System: "Judge it.", Prompt: "user: never use npm in web, it writes [img-0] a lock file", Schema: json.RawMessage(boundedSchema),
		Context: 2048, Predict: 1000, First: time.Minute, Stall: time.Minute,
	}
}

func TestRealModels(t *testing.T) {
	_, c := serveReal(t)
	s, err := c.Models(t.Context(), ollama.Want{Need: ollama.Completion}, ollama.Want{Need: ollama.Embedding})
	if err != nil {
		t.Fatal(err)
	}
	if !s.MinimumOK || len(s.Models) != 3 {
		t.Fatalf("%+v", s)
	}
	m, err := s.Choose(ollama.Want{Need: ollama.Completion, Context: 6144}, ollama.TotalMemory())
	if err != nil || !strings.HasPrefix(m.Name, "tiny") || m.Context != 8192 || m.Family != "llama" || len(m.Digest) != 64 || m.Size < 100_000 || m.Cloud {
		t.Errorf("for text: %+v, %v", m, err)
	}
	e, err := s.Choose(ollama.Want{Name: "auto", Need: ollama.Embedding}, 0)
	if err != nil || e.Name != "tiny-vectors:latest" || e.Context != 512 || e.Dimension != 64 || e.Has(ollama.Completion) {
		t.Errorf("for vectors: %+v, %v", e, err)
	}
}

func TestRealAsk(t *testing.T) {
	_, c := serveReal(t)
	for _, model := range []string{"tiny", "tiny-random:latest"} {
		var progress int
		r := realQuestion(model)
		r.Progress = func(n int) { progress = n }
		a, err := c.Ask(t.Context(), r)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		var got struct {
			Why, Kind string
			Sure      int
			Holds     *bool
			Tags      []string
		}
		if err := json.Unmarshal(a.Text, &got); err != nil || got.Holds == nil || len(got.Why) > 200*4 || len(got.Tags) > 4 || got.Sure < 0 || got.Sure > 100 {
			t.Errorf("%s: %s, %v", model, a.Text, err)
		}
		if got.Kind != "decision" && got.Kind != "failure" && got.Kind != "note" {
			t.Errorf("%s: kind %q", model, got.Kind)
		}
		if a.Asked < 10 || a.Said < 20 || progress < 10 || a.Took <= 0 {
			t.Errorf("%s: %+v, %d chunks", model, a, progress)
		}
		again, err := c.Ask(t.Context(), r)
		if err != nil || string(again.Text) != string(a.Text) {
			t.Errorf("%s: another answer to the same question: %s, then %s, %v", model, a.Text, again.Text, err)
		}
	}
}

func TestRealRefusals(t *testing.T) {
	s, c := serveReal(t)
	if _, err := c.Ask(t.Context(), realQuestion("nope")); !errors.Is(err, ollama.ErrMissing) {
		t.Errorf("a model that is not there: %v", err)
	}
	if _, err := c.Embed(t.Context(), "nope", []string{"a"}); !errors.Is(err, ollama.ErrMissing) {
		t.Errorf("a model that is not there, for vectors: %v", err)
	}
	if _, err := c.Ask(t.Context(), realQuestion("tiny-vectors")); !errors.Is(err, ollama.ErrNoModel) {
		t.Errorf("a model of vectors: %v", err)
	}
	if _, err := c.Embed(t.Context(), "tiny", []string{"a"}); !errors.Is(err, ollama.ErrNoModel) {
		t.Errorf("a model of text: %v", err)
	}
	// the server's own refusals, which the client reads
	for model, want := range map[string]string{"tiny-vectors": "does not support", "tiny": ""} {
		err := s.api.Generate(t.Context(), &api.GenerateRequest{Model: model, Prompt: "Go on.", Format: json.RawMessage(`"yaml"`)}, func(api.GenerateResponse) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, an invalid schema: %v", model, err)
		}
	}
}

// TestRealLimits uses endless answers and questions that do not fit.
func TestRealLimits(t *testing.T) {
	_, c := serveReal(t)
	r := endless()
	r.Predict = 60
	if a, err := c.Ask(t.Context(), r); !errors.Is(err, ollama.ErrTruncated) || a.Said != 60 || len(a.Text) == 0 {
		t.Errorf("over num_predict: %+v, %v", a, err)
	}

	long := realQuestion("tiny")
	long.Context, long.Prompt = 512, strings.Repeat("user: never use npm in web\n", 200)
	if a, err := c.Ask(t.Context(), long); !errors.Is(err, ollama.ErrTooLong) {
		t.Errorf("a question of more tokens than there are: %+v, %v", a, err)
	}
	r = endless()
	r.Context, r.Predict = 256, 1000
	if a, err := c.Ask(t.Context(), r); !errors.Is(err, ollama.ErrTooLong) {
		t.Errorf("an answer that has no room beside the question: %+v, %v", a, err)
	}
	if _, err := c.Ask(t.Context(), realQuestion("tiny")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestRealEmbed(t *testing.T) {
	_, c := serveReal(t)
	texts := []string{
		"user prefers tabs over spaces in go files",
		"prefers tabs for indentation",
		"the database listens on port 5433",
		strings.Repeat("the build fails because the cache is stale. ", 2000),
		"日本語 🙂 \x00\xff",
	}
	for range 60 {
		texts = append(texts, "one of many")
	}
	v, err := c.Embed(t.Context(), "tiny-vectors", texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(v) != len(texts) {
		t.Fatalf("%d vectors of %d texts", len(v), len(texts))
	}
	cosine := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	for i := range v {
		if len(v[i]) != 64 || math.Abs(cosine(v[i], v[i])-1) > 1e-5 {
			t.Errorf("vector %d has %d dimensions and length² %g", i, len(v[i]), cosine(v[i], v[i]))
		}
	}
	if near, far := cosine(v[0], v[1]), cosine(v[1], v[2]); near < far+0.1 {
		t.Errorf("likeness of like texts %.2f, of others %.2f", near, far)
	}
	alone, err := c.Embed(t.Context(), "tiny-vectors", texts[:1])
	if err != nil || math.Abs(cosine(alone[0], v[0])-1) > 1e-5 {
		t.Errorf("alone it has another vector: %v", err)
	}
}

// TestRealEnds ends a question during its answer, in each possible way.
func TestRealEnds(t *testing.T) {
	s, c := serveReal(t)
	if _, err := c.Ask(t.Context(), realQuestion("tiny-random")); err != nil { // it is loaded now
		t.Fatal(err)
	}
	// during runs do once the answer has begun.
	during := func(do func()) ollama.Request {
		r := endless()
		r.Progress = func(n int) {
			if n == 5 {
				do()
			}
		}
		return r
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if a, err := c.Ask(ctx, during(cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %+v, %v", a, err)
	}

	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if a, err := c.Ask(ctx, during(func() { <-ctx.Done() })); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past a deadline: %+v, %v", a, err)
	}

	// the server dropped the others
	if _, err := c.Ask(t.Context(), realQuestion("tiny-random")); err != nil {
		t.Errorf("after those: %v", err)
	}

	r := during(func() { s.signal(syscall.SIGSTOP) })
	r.Stall = time.Second
	if a, err := c.Ask(t.Context(), r); !errors.Is(err, ollama.ErrIncomplete) || !strings.Contains(err.Error(), "silent") {
		t.Errorf("the server was stopped: %+v, %v", a, err)
	}
	r.First, r.Progress = time.Second, nil
	if a, err := c.Ask(t.Context(), r); !errors.Is(err, ollama.ErrUnavailable) || !strings.Contains(err.Error(), "silent") {
		t.Errorf("the server is stopped: %+v, %v", a, err)
	}
	if _, err := c.Models(t.Context()); !errors.Is(err, ollama.ErrUnavailable) {
		t.Errorf("the server is stopped, models: %v", err)
	}
	s.signal(syscall.SIGCONT)
	if _, err := c.Ask(t.Context(), realQuestion("tiny-random")); err != nil {
		t.Errorf("the server goes on: %v", err)
	}

	if a, err := c.Ask(t.Context(), during(s.kill)); !errors.Is(err, ollama.ErrIncomplete) {
		t.Errorf("the server was killed: %+v, %v", a, err)
	}
	if _, err := c.Ask(t.Context(), realQuestion("tiny")); !errors.Is(err, ollama.ErrUnavailable) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the server is gone: %v", err)
	}
}

// TestRealThinking uses a model that a server takes for a thinking one.
func TestRealThinking(t *testing.T) {
	s, c := serveReal(t)
	err := s.create(t, &api.CreateRequest{Model: "tiny-thinking", From: "tiny", Parser: "qwen3-thinking", Renderer: "qwen3-vl-thinking"})
	if err != nil {
		t.Fatal(err)
	}
	want := ollama.Want{Name: "tiny-thinking", Need: ollama.Completion}
	server, err := c.Models(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	m, err := server.Choose(want, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Has(ollama.Thinking) {
		t.Skip("this server knows of no model that thinks")
	}
	if a, err := c.Ask(t.Context(), realQuestion("tiny-thinking")); err != nil || !strings.Contains(string(a.Text), `"kind"`) {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestRealSchemas passes the server every kind of schema that package prompts may have: it enforces
// them, and complete answers fit.
func TestRealSchemas(t *testing.T) {
	_, c := serveReal(t)
	name := rapid.StringMatching(`[ -!#-\[\]-~]{1,20}`)
	var schema func(t *rapid.T, depth int, kinds ...string) map[string]any
	schema = func(t *rapid.T, depth int, kinds ...string) map[string]any {
		if len(kinds) == 0 {
			kinds = []string{"string", "enum", "integer", "boolean"}
			if depth < 3 {
				kinds = append(kinds, "object", "array")
			}
		}
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "object":
			properties := map[string]any{}
			names := rapid.SliceOfNDistinct(name, 1, 6, rapid.ID).Draw(t, "names")
			for _, n := range names {
				properties[n] = schema(t, depth+1)
			}
			return map[string]any{"type": kind, "properties": properties, "required": names, "additionalProperties": false}
		case "array":
			most := rapid.IntRange(1, 50).Draw(t, "maxItems")
			return map[string]any{"type": kind, "items": schema(t, depth+1), "maxItems": most, "minItems": rapid.IntRange(0, most).Draw(t, "minItems")}
		case "enum":
			return map[string]any{"type": "string", "enum": rapid.SliceOfNDistinct(name, 1, 9, rapid.ID).Draw(t, "values")}
		case "integer":
			from := rapid.IntRange(-1_000_000, 1_000_000).Draw(t, "from")
			// servers read a bound alone wrongly: with a minimum of 300 they may answer 32
			return map[string]any{"type": kind, "minimum": from, "maximum": rapid.IntRange(from, 1_000_000).Draw(t, "to")}
		case "boolean":
			return map[string]any{"type": kind}
		default:
			return map[string]any{"type": kind, "maxLength": rapid.IntRange(1, 1000).Draw(t, "maxLength")}
		}
	}
	whole := 0
	rapid.Check(t, func(rt *rapid.T) {
		s, err := json.Marshal(schema(rt, 0, "object"))
		if err != nil {
			rt.Fatal(err)
		}
		r := realQuestion("tiny")
		r.Schema, r.Predict = s, 200
		a, err := c.Ask(t.Context(), r)
		if err != nil && !errors.Is(err, ollama.ErrTruncated) && !errors.Is(err, ollama.ErrIncomplete) {
			rt.Fatalf("%s: %s, %v", s, a.Text, err)
		}
		if err == nil {
			whole++
			var wanted map[string]any
			var said any
			if json.Unmarshal(s, &wanted) != nil || json.Unmarshal(a.Text, &said) != nil || !fits(wanted, said) {
				rt.Fatalf("%s: %s does not fit", s, a.Text)
			}
		}
	})
	if whole == 0 {
		t.Error("no answer was whole")
	}
}

// fits reports whether a value follows a schema of the subset.
func fits(schema map[string]any, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			if inner, found := v[name]; !found || !fits(p.(map[string]any), inner) {
				return false
			}
		}
		return schema["type"] == "object" && len(v) == len(properties)
	case []any:
		for _, inner := range v {
			if !fits(schema["items"].(map[string]any), inner) {
				return false
			}
		}
		least, _ := schema["minItems"].(float64)
		return schema["type"] == "array" && float64(len(v)) <= schema["maxItems"].(float64) && float64(len(v)) >= least
	case string:
		values, isEnum := schema["enum"].([]any)
		most, bounded := schema["maxLength"].(float64)
		return isEnum && slices.Contains(values, any(v)) || bounded && float64(utf8.RuneCountInString(v)) <= most
	case float64:
		least, hasLeast := schema["minimum"].(float64)
		most, hasMost := schema["maximum"].(float64)
		return schema["type"] == "integer" && v == math.Trunc(v) && (!hasLeast || v >= least) && (!hasMost || v <= most)
	case bool:
		return schema["type"] == "boolean"
	}
	return false
}
