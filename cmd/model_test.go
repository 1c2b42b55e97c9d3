package cmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/ollama"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/rogpeppe/go-internal/testscript"
)

// ollamaServer speaks the part of Ollama's protocol that Reverie uses, and answers with a function.
// The tests of internal/ollama and of e2e cover a real server and a real model.
type ollamaServer struct {
	*httptest.Server
	// answer returns the text of the answer, which is sent unchanged.
	answer func(asked ollamaQuestion) string

	mu    sync.Mutex
	what  func(is string) string // "" but for what is odd about this server; see ollamaCmd
	asked []ollamaQuestion
}

// ollamaQuestion is the body of a call of /api/generate.
type ollamaQuestion struct {
	Model, System, Prompt string
	Format                json.RawMessage
}

// about is the first property of the answer that is wanted: candidates, operations, …
func (q ollamaQuestion) about() string {
	var schema struct{ Properties map[string]any }
	json.Unmarshal(q.Format, &schema)
	for _, name := range []string{"candidates", "operations", "verdict", "worth", "findings"} {
		if schema.Properties[name] != nil {
			return name
		}
	}
	return "other"
}

func newOllama(answer func(ollamaQuestion) string) *ollamaServer {
	s := &ollamaServer{answer: answer, what: func(string) string { return "" }}
	mux := http.NewServeMux()
	say := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
	digest := func(name string) string {
		sum := sha256.Sum256([]byte(name))
		return hex.EncodeToString(sum[:])
	}
	entry := func(name, family string) map[string]any {
		return map[string]any{"name": name, "model": name, "digest": digest(name), "size": 1 << 20, "details": map[string]any{"family": family}}
	}
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, r *http.Request) {
		say(w, map[string]string{"version": cmp.Or(s.odd("version"), "0.6.5")})
	})
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, r *http.Request) {
		all := []any{entry("tiny:latest", "llama"), entry("letters:latest", "bert")}
		for _, name := range strings.Fields(s.odd("more")) {
			all = append(all, entry(name, "llama"))
		}
		say(w, map[string]any{"models": all})
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Model, Name string }
		json.NewDecoder(r.Body).Decode(&asked)
		family, can := "llama", "completion"
		context, err := strconv.Atoi(s.odd("context"))
		if err != nil {
			context = 16384
		}
		if strings.HasPrefix(asked.Model+asked.Name, "letters") {
			family, can = "bert", "embedding"
		}
		say(w, map[string]any{"capabilities": []string{can}, "details": map[string]any{"family": family},
			"model_info": map[string]any{"general.architecture": family, family + ".context_length": context, family + ".embedding_length": 64}})
	})
	mux.HandleFunc("POST /api/generate", func(w http.ResponseWriter, r *http.Request) {
		var q ollamaQuestion
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.asked = append(s.asked, q)
		s.mu.Unlock()
		switch kind, about, _ := strings.Cut(s.odd("poison"), " "); {
		case about == "" || !strings.Contains(q.Prompt, about):
		case kind == "breaks":
			w.WriteHeader(http.StatusInternalServerError)
			say(w, map[string]string{"error": "an error was encountered while running the model: unexpected EOF"})
			return
		case kind == "hangs":
			<-r.Context().Done()
			return
		}
		text := s.answer(q)
		say(w, map[string]any{"model": q.Model, "response": text})
		say(w, map[string]any{"model": q.Model, "response": "", "done": true, "done_reason": "stop", "prompt_eval_count": len(q.Prompt) / 4, "eval_count": len(text) / 4})
	})
	mux.HandleFunc("POST /api/embed", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string
			Input any
		}
		body, _ := io.ReadAll(r.Body)
		json.Unmarshal(body, &asked)
		texts, ok := asked.Input.([]any)
		if !ok {
			texts = []any{asked.Input}
		}
		out := make([][]float32, len(texts))
		for i, t := range texts {
			out[i] = letterPairs(fmt.Sprint(t))
		}
		say(w, map[string]any{"model": asked.Model, "embeddings": out})
	})
	s.Server = httptest.NewServer(mux)
	return s
}

// odd switches the server to the named fault.
func (s *ollamaServer) odd(is string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.what(is)
}

func (s *ollamaServer) behave(what func(is string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.what = what
}

// questions are those asked until now.
func (s *ollamaServer) questions() []ollamaQuestion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ollamaQuestion(nil), s.asked...)
}

// letterPairs is a vector of 64 numbers, of length 1, in which texts that share pairs of letters
// are near.
func letterPairs(text string) []float32 {
	v := make([]float32, 64)
	text = strings.ToLower(text)
	for i := 0; i+2 <= len(text); i++ {
		sum := sha256.Sum256([]byte(text[i : i+2]))
		v[sum[0]%64]++
	}
	length := 0.0
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	if length == 0 {
		v[0], length = 1, 1
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}

// ollama DIR starts a server whose model answers with the files of a folder, each named for the
// first property of the answer, as candidates.json, and has Reverie find it. Each question is a
// line of asked.jsonl there. Other files say what is odd about the server: version, more (names of
// models), context (of each), and poison: "breaks" or "hangs", and words of a question over which
// the model does.
func ollamaCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ollama DIR")
	}
	dir := ts.MkAbs(args[0])
	var mu sync.Mutex
	s := newOllama(func(q ollamaQuestion) string {
		mu.Lock()
		defer mu.Unlock()
		line, _ := json.Marshal(map[string]string{"about": q.about(), "model": q.Model, "system": q.System, "prompt": q.Prompt})
		if f, err := os.OpenFile(filepath.Join(dir, "asked.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err == nil {
			f.Write(append(line, '\n'))
			f.Close()
		}
		text, err := os.ReadFile(filepath.Join(dir, q.about()+".json"))
		if err != nil {
			return "there is no such file"
		}
		return string(text)
	})
	s.behave(func(is string) string {
		text, _ := os.ReadFile(filepath.Join(dir, is))
		return strings.TrimSpace(string(text))
	})
	ts.Defer(func() { s.CloseClientConnections(); s.Close() })
	ts.Setenv("OLLAMA_HOST", strings.TrimPrefix(s.URL, "http://"))
}

// Every schema that a model is asked by is one that every server keeps to: prompts and
// internal/ollama each have rules of their own.
func TestSchemasAreSafe(t *testing.T) {
	var set prompts.Set
	known := prompts.Known{Ref: "m1", Text: "a"}
	asked := map[string]func() (prompts.Rendered, error){
		"reflect": func() (prompts.Rendered, error) {
			return set.Reflect(prompts.Reflect{Lines: []prompts.Line{{Text: "a"}}})
		},
		"dream": func() (prompts.Rendered, error) { return set.Dream(prompts.Dream{Memories: []prompts.Known{known}}) },
		"distill": func() (prompts.Rendered, error) {
			return set.Distill(prompts.Distill{Workflow: known, Runs: []prompts.Run{{Steps: []string{"a"}}}})
		},
		"audit": func() (prompts.Rendered, error) { return set.Audit(prompts.Audit{Diff: "a"}) },
		"contradiction": func() (prompts.Rendered, error) {
			return set.Contradiction(prompts.Contradiction{Statements: []prompts.Known{known, known}})
		},
	}
	for name, render := range asked {
		r, err := render()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Name != name || len(r.Schema) == 0 {
			t.Errorf("%s is asked by %s, schema %q", name, r.Name, r.Schema)
		}
	}
}

// An error about one question says nothing about the next; an error of the server ends the pass.
func TestBadAnswer(t *testing.T) {
	s := newOllama(func(ollamaQuestion) string { return "{}" })
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	of := config.Default().Model
	of.Host, of.Patience = s.URL, 1
	ask := func(ctx context.Context, poison string) error {
		s.behave(func(is string) string { return map[string]string{"poison": poison}[is] })
		m, err := model.Find(ctx, of, model.Reflect, "tiny", nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := prompts.Set{}.Reflect(prompts.Reflect{Lines: []prompts.Line{{Text: "the poisoned well"}}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := m.Ask(ctx, r)
		if poison != "" && a.Asked == 0 {
			t.Errorf("%s: it counts for nothing", poison)
		}
		return err
	}
	for _, poison := range []string{"breaks well", "hangs well"} {
		if err := ask(t.Context(), poison); err == nil || !model.BadAnswer(err) {
			t.Errorf("%s: %v", poison, err)
		}
	}
	if err := ask(t.Context(), ""); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := ask(ctx, "hangs well"); !errors.Is(err, context.DeadlineExceeded) || model.BadAnswer(err) {
		t.Errorf("the caller's own end: %v", err)
	}
	for _, err := range []error{ollama.ErrUnavailable, ollama.ErrBusy, ollama.ErrMissing, ollama.ErrCloud, context.Canceled} {
		if model.BadAnswer(err) {
			t.Errorf("%v is about one question", err)
		}
	}
}

// heard collects the words of several goroutines.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// A person who watches is told that the model is at work before it has said a word, and nothing
// afterwards.
func TestWatched(t *testing.T) {
	for name, env := range map[string]*Env{
		"a person":      {Terminal: term.Terminal{Interactive: true}},
		"a file":        {},
		"quietly":       {Terminal: term.Terminal{Interactive: true, Quiet: true}},
		"in background": {Terminal: term.Terminal{Interactive: true}, background: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var talk heard
				env.Err = &talk
				tokens, done := watch(env)("tiny:latest")
				time.Sleep(400 * time.Millisecond)
				synctest.Wait()
				if said := talk.String(); said != "" {
					t.Errorf("at once: %q", said)
				}
				time.Sleep(11800 * time.Millisecond)
				tokens(7)
				time.Sleep(time.Second)
				synctest.Wait()
				done()
				said := talk.String()
				time.Sleep(time.Minute)
				if talk.String() != said {
					t.Error("it went on")
				}
				if name != "a person" {
					if said != "" {
						t.Errorf("%q", said)
					}
					return
				}
				line := "tiny:latest is reading the question, 12s"
				if !strings.Contains(said, "\r"+line) || !strings.Contains(said, "\rtiny:latest: 7 tokens in 13s") || !strings.HasSuffix(said, "\r"+strings.Repeat(" ", len(line))+"\r") {
					t.Errorf("%q", said)
				}
			})
		})
	}
}
