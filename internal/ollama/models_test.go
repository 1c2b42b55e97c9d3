package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestModels(t *testing.T) {
	c := fake{}.client(t)
	got, err := c.Models(t.Context())
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

// TestModelsOfOldServers has servers that do not say what a model can do, or not in time.
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
				got, err := c.Models(t.Context())
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
				_, err := c.Models(t.Context())
				if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrStranger) != tt.stranger {
					t.Errorf("Models: %v", err)
				}
				if took := time.Since(began); took > modelsLimit {
					t.Errorf("it took %v", took)
				}
			})
		})
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
		got, err := Choose(tt.models, tt.want, tt.need, tt.memory)
		if got.Name != tt.chosen || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v", tt.name, got.Name, err)
		}
		if errors.Is(err, ErrMissing) && !strings.Contains(err.Error(), "ollama pull "+tt.want) {
			t.Errorf("%s: does not say what to do: %v", tt.name, err)
		}
	}
	if _, err := Choose(nil, "", Completion, 0); !strings.Contains(err.Error(), "ollama pull qwen3:4b-instruct") {
		t.Errorf("does not say what to do: %v", err)
	}
}
