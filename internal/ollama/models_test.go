package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// both asks for the best model for questions and the best for vectors.
var both = []Want{{Need: Completion}, {Need: Embedding}}

func TestModels(t *testing.T) {
	c := fake{}.client(t)
	got, err := c.Models(t.Context(), both...)
	if err != nil {
		t.Fatal(err)
	}
	want := Server{Host: c.Host(), Version: "0.17.4", MinimumOK: true, Models: []Model{
		{Name: "m:latest", Digest: "aa", Size: 2e9, Family: "llama", Can: []Capability{Completion}, Context: 8192, Dimension: 64},
		{Name: "e:latest", Digest: "bb", Size: 4e7, Family: "bert", Can: []Capability{Embedding}, Context: 512, Dimension: 3},
		{Name: "t:latest", Digest: "cc", Size: 3e9, Family: "qwen3", Can: []Capability{Completion, Thinking}},
		{Name: "c:latest", Digest: "dd", Size: 300, Can: []Capability{Completion}, Cloud: true},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestModelsOfOldServers uses servers that do not report a model's capabilities, or not in time.
func TestModelsOfOldServers(t *testing.T) {
	for name, page := range map[string]http.HandlerFunc{
		"no capabilities": says(`{"details":{},"model_info":{}}`),
		"no such page":    code(404, "404 page not found"),
		"silent":          hang,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fake{"/api/version": says(`{"version":"0.4.7"}`), "/api/show": page, "/api/tags": says(`{"models":[
					{"name":"llama3.2:3b","details":{"family":"llama"}},{"name":"bge-m3:latest","details":{"family":"bert"}},
					{"name":"qwen3-embedding:0.6b","details":{"family":"qwen3"}},{"name":"big:120b-cloud"}]}`)}.inProcess(t)
				began := time.Now()
				got, err := c.Models(t.Context(), both...)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > modelsLimit {
					t.Errorf("it took %v", took)
				}
				want := Server{Host: c.Host(), Version: "0.4.7", Models: []Model{
					{Name: "llama3.2:3b", Family: "llama", Can: []Capability{Completion}},
					{Name: "bge-m3:latest", Family: "bert", Can: []Capability{Embedding}},
					{Name: "qwen3-embedding:0.6b", Family: "qwen3", Can: []Capability{Embedding}},
					{Name: "big:120b-cloud", Can: []Capability{Completion}, Cloud: true},
				}}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestModelsFails(t *testing.T) {
	tests := []struct {
		name     string
		version  http.HandlerFunc
		stranger bool
	}{
		{"a page", says("<html>hello"), true},
		{"a page that is not there", code(404, "404 page not found"), true},
		{"nothing", says(""), true},
		{"JSON of another", says(`{"name":"elastic"}`), true},
		{"JSON of another shape", says(`[]`), true},
		{"a version that is none", says(`{"version":{"number":"8"}}`), true},
		{"a login", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", 302) }, true},
		{"an error", code(500, `{"error":"disk on fire"}`), false},
		{"401", code(401, ""), false},
		{"silence", hang, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fake{"/api/version": tt.version, "/api/tags": says(`{}`)}.inProcess(t)
				began := time.Now()
				_, err := c.Models(t.Context(), both...)
				if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrStranger) != tt.stranger {
					t.Errorf("Models: %v", err)
				}
				if took := time.Since(began); took > modelsLimit {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
	for name, c := range map[string]struct {
		tags     http.HandlerFunc
		stranger bool
	}{
		"a page":            {says("<html>hello"), true},
		"no such page":      {code(404, "404 page not found"), true},
		"another shape":     {says(`[]`), true},
		"a list of no list": {says(`{"models":{}}`), true},
		"broken off":        {then(says(`{"models":[{"name":"m"},`), nil), false},
		"an error":          {code(500, `{"error":"disk on fire"}`), false},
		"401":               {code(401, ""), false},
		"a redirect":        {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", 302) }, true},
	} {
		if _, err := (fake{"/api/tags": c.tags}).client(t).Models(t.Context(), both...); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrStranger) != c.stranger {
			t.Errorf("with a list that is %s: %v", name, err)
		}
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (fake{}).client(t).Models(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Models: %v", err)
		}
	})
}

func TestMinimum(t *testing.T) {
	for version, want := range map[string]bool{
		"0.4.9": false, "0.5.0": true, "0.17.4": true, "0.5.0-rc1": true, "1.0": true, "0.0.0": true, "0.0.0-dirty": true, "0": false, "0.3.14-5-gabcdef": false,
	} {
		s, err := fake{"/api/version": says(fmt.Sprintf(`{"version":%q}`, version)), "/api/tags": says(`{}`)}.client(t).Models(t.Context())
		if err != nil || s.MinimumOK != want {
			t.Errorf("%s: %v, %v", version, s.MinimumOK, err)
		}
		if unknown := strings.HasPrefix(version, "0.0.0"); unknown != (s.Version == "") {
			t.Errorf("%s: %q", version, s.Version)
		}
	}
}

func TestChoose(t *testing.T) {
	gb := func(n float64) int64 { return int64(n * 1e9) }
	text := func(name string, size float64, can ...Capability) Model {
		return Model{Name: name, Size: gb(size), Can: append([]Capability{Completion}, can...)}
	}
	vectors := func(name string, size float64) Model {
		return Model{Name: name, Size: gb(size), Can: []Capability{Embedding}}
	}
	cloud := text("gpt-oss:120b-cloud", 0)
	cloud.Cloud = true
	latest := text("big:latest", 0)
	latest.Cloud = true
	all := []Model{
		cloud, latest, text("gemma3:1b", .8), text("llama3.2:3b", 2), text("qwen3:8b", 5.2, Thinking), text("qwen3:4b-instruct", 2.5),
		text("gemma3:4b", 3.3), text("llama3.3:70b", 43), vectors("nomic-embed-text:latest", .27), vectors("embeddinggemma:latest", .6), vectors("mxbai-embed-large:latest", .67),
	}
	without := func(names ...string) (rest []Model) {
		for _, m := range all {
			keep := true
			for _, name := range names {
				keep = keep && !strings.HasPrefix(m.Name, name)
			}
			if keep {
				rest = append(rest, m)
			}
		}
		return rest
	}
	tests := []struct {
		name   string
		models []Model
		want   string
		need   Capability
		memory int64
		chosen string
		err    error
	}{
		{"the best", all, "auto", Completion, gb(16), "qwen3:4b-instruct", nil},
		{"the best, by default", all, "", Completion, 0, "qwen3:4b-instruct", nil},
		{"the next", without("qwen3:4b"), "auto", Completion, gb(16), "gemma3:4b", nil},
		{"the next that fits", without("qwen3:4b"), "auto", Completion, gb(5), "llama3.2:3b", nil},
		{"a small one where nothing else fits", all, "auto", Completion, gb(2), "gemma3:1b", nil},
		{"thinking rather than small", without("qwen3:4b", "gemma3:4b", "llama"), "auto", Completion, gb(16), "qwen3:8b", nil},
		{"instruct rather than thinking", []Model{text("qwen3:30b", 6, Thinking), text("qwen3:4b-instruct", 2.5)}, "auto", Completion, gb(64), "qwen3:4b-instruct", nil},
		{"the largest of a family", []Model{text("gemma3:4b", 3), text("gemma3:12b", 8)}, "auto", Completion, gb(64), "gemma3:12b", nil},
		{"an unknown one rather than none", []Model{text("tiny:latest", .001)}, "auto", Completion, 0, "tiny:latest", nil},
		{"none that fits", []Model{text("llama3.3:70b", 43)}, "auto", Completion, gb(16), "", ErrNoModel},
		{"none but of the cloud", []Model{cloud}, "auto", Completion, 0, "", ErrNoModel},
		{"none but for vectors", []Model{vectors("embeddinggemma:latest", .6)}, "auto", Completion, 0, "", ErrNoModel},
		{"one that can do both", []Model{{Name: "both", Can: []Capability{Completion, Embedding}}}, "auto", Completion, 0, "", ErrNoModel},
		{"none", nil, "auto", Completion, 0, "", ErrNoModel},
		{"for vectors", all, "auto", Embedding, 0, "embeddinggemma:latest", nil},
		{"for vectors, the smallest of unknown ones", []Model{vectors("b", 2), vectors("a", 1), vectors("c", 1)}, "auto", Embedding, 0, "a", nil},
		{"none for vectors", without("nomic", "embedding", "mxbai"), "auto", Embedding, 0, "", ErrNoModel},
		{"by name", all, "gemma3:1b", Completion, 0, "gemma3:1b", nil},
		{"by name, too large", all, "llama3.3:70b", Completion, gb(1), "llama3.3:70b", nil},
		{"by name without a tag", all, "embeddinggemma", Embedding, 0, "embeddinggemma:latest", nil},
		{"by half a name", all, "gemma3", Completion, 0, "", ErrMissing},
		{"by name, for what it cannot", all, "embeddinggemma", Completion, 0, "", ErrNoModel},
		{"of the cloud by name", all, "gpt-oss:120b-cloud", Completion, 0, "gpt-oss:120b-cloud", nil},
		{"of the cloud by half a name", all, "big", Completion, 0, "", ErrCloud},
	}
	for _, tt := range tests {
		want := Want{Name: tt.want, Need: tt.need}
		got, err := Server{MinimumOK: true, Models: tt.models}.Choose(want, tt.memory)
		if got.Name != tt.chosen || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v", tt.name, got.Name, err)
		}
		pull := ""
		switch {
		case errors.Is(err, ErrMissing):
			pull = "ollama pull " + tt.want
		case errors.Is(err, ErrNoModel):
			pull = map[Capability]string{Completion: "ollama pull qwen3:4b-instruct", Embedding: "ollama pull embeddinggemma"}[tt.need]
		}
		if got := want.Pull(err); got != pull {
			t.Errorf("%s: to do is %q, not %q", tt.name, got, pull)
		}
	}
	if _, err := (Server{Version: "0.4.7", Models: all}).Choose(Want{Name: "gemma3:4b", Need: Completion}, 0); !errors.Is(err, ErrOld) || !strings.Contains(err.Error(), "0.4.7") || !strings.Contains(err.Error(), "0.5.0 or newer") {
		t.Errorf("of an old server: %v", err)
	}
}

// TestChooseNeedsRoom uses models whose context is too small for the questions.
func TestChooseNeedsRoom(t *testing.T) {
	narrow := Model{Name: "qwen3:4b-instruct", Can: []Capability{Completion}, Context: 4096}
	wide := Model{Name: "other:latest", Can: []Capability{Completion}, Context: 6144}
	unknown := Model{Name: "unknown:latest", Can: []Capability{Completion}}
	for _, tt := range []struct {
		models []Model
		name   string
		chosen string
		says   string
	}{
		{[]Model{narrow, wide}, "auto", "other:latest", ""},
		{[]Model{narrow, unknown}, "auto", "unknown:latest", ""},
		{[]Model{narrow}, "auto", "", "less than 6144 tokens"},
		{[]Model{narrow, wide}, "qwen3:4b-instruct", "", "its context has 4096 tokens, and 6144 are needed"},
		{[]Model{unknown}, "unknown", "unknown:latest", ""},
	} {
		got, err := Server{MinimumOK: true, Models: tt.models}.Choose(Want{Name: tt.name, Need: Completion, Context: 6144}, 0)
		if got.Name != tt.chosen || (err != nil) != (tt.says != "") || err != nil && (!errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s of %v: %q, %v", tt.name, tt.models, got.Name, err)
		}
	}
}

// TestManyModels has an unrealistic number of models: reading them all is slow, and inspecting each
// never ends.
func TestManyModels(t *testing.T) {
	var tags strings.Builder
	tags.WriteString(`{"models":[{"name":"gemma3:4b","size":3000000000}`)
	for i := range 300_000 {
		fmt.Fprintf(&tags, `,{"name":"m%d"}`, i)
	}
	for name, c := range map[string]struct {
		page http.HandlerFunc
		more bool
		last string
	}{
		"whole":                          {says(tags.String() + "]}"), true, "m998"},
		"few and then one without end":   {says(`{"models":[{"name":"gemma3:4b"},{"name":"m0"},{"name":"` + strings.Repeat("x", 5<<20)), true, "m0"},
		"behind much else":               {says(`{"other":"` + strings.Repeat("x", 5<<20) + `","models":[]}`), true, ""},
		"with names that nobody can say": {says(`{"models":[{"name":"gemma3:4b"},{"name":"a\nb"},{"name":"a\u001b[1m"},{"name":"a\u202eb"},{"name":"a b"},{"name":""},{"name":7},"x",{"name":"` + strings.Repeat("x", 201) + `"}]}`), false, "gemma3:4b"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			shows, now, most := map[string]int{}, 0, 0
			client := fake{"/api/tags": c.page, "/api/show": func(w http.ResponseWriter, r *http.Request) {
				var q struct{ Model string }
				json.NewDecoder(r.Body).Decode(&q)
				mu.Lock()
				shows[q.Model]++
				now++
				most = max(most, now)
				mu.Unlock()
				defer func() { mu.Lock(); now--; mu.Unlock() }()
				fmt.Fprint(w, `{"capabilities":["completion"]}`)
			}}.client(t)
			s, err := client.Models(t.Context(), both...)
			if err != nil {
				t.Fatal(err)
			}
			last := ""
			if len(s.Models) > 0 {
				last = s.Models[len(s.Models)-1].Name
			}
			if len(s.Models) > 1000 || s.More != c.more || last != c.last {
				t.Errorf("%d models, the last %q, more: %v", len(s.Models), last, s.More)
			}
			if len(shows) > 40 || most > 4 || last != "" && shows["gemma3:4b"] != 1 {
				t.Errorf("it looked at %d models, %d at once: %v", len(shows), most, shows)
			}
			if c.last != "m998" {
				return
			}
			if s, err = client.Models(t.Context(), Want{Name: "m7", Need: Completion}); err != nil || shows["m7"] != 1 || len(shows) != 41 {
				t.Errorf("it looked at %v, %v", shows, err)
			}
			if _, err := s.Choose(Want{Name: "m5000", Need: Completion}, 0); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "the first 1000") {
				t.Error(err)
			}
		})
	}
}

// A later call does not ask again about a model that Models has inspected.
func TestOneLook(t *testing.T) {
	var shows atomic.Int32
	c := fake{"/api/show": func(w http.ResponseWriter, r *http.Request) { shows.Add(1); show(w, r) },
		"/api/generate": says(token(`{"a":1}`) + done("stop", 20, 5)), "/api/embed": says(`{"embeddings":[[1,2,3]]}`)}.client(t)
	if _, err := c.Models(t.Context(), Want{Name: "m", Need: Completion}, Want{Name: "e", Need: Embedding}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Ask(t.Context(), question()); err != nil {
			t.Error(err)
		}
		if _, err := c.Embed(t.Context(), "e", []string{"text"}); err != nil {
			t.Error(err)
		}
	}
	if n := shows.Load(); n != 2 {
		t.Errorf("it looked %d times", n)
	}
}
