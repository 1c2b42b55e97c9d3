package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// ollamaServer speaks as much of Ollama's protocol as Reverie uses, and answers what a function says. What a real server
// and a real model do is shown by internal/ollama's tests and by those of e2e.
type ollamaServer struct {
	*httptest.Server
	answer func(asked ollamaQuestion) string // the text of the answer; it is sent as it is, whatever it is

	mu    sync.Mutex
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
	s := &ollamaServer{answer: answer}
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
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, r *http.Request) { say(w, map[string]string{"version": "0.6.5"}) })
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, r *http.Request) {
		say(w, map[string]any{"models": []any{entry("tiny:latest", "llama"), entry("letters:latest", "bert")}})
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Model, Name string }
		json.NewDecoder(r.Body).Decode(&asked)
		family, can := "llama", "completion"
		if strings.HasPrefix(asked.Model+asked.Name, "letters") {
			family, can = "bert", "embedding"
		}
		say(w, map[string]any{"capabilities": []string{can}, "details": map[string]any{"family": family},
			"model_info": map[string]any{"general.architecture": family, family + ".context_length": 16384, family + ".embedding_length": 64}})
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

// questions are those asked until now.
func (s *ollamaServer) questions() []ollamaQuestion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ollamaQuestion(nil), s.asked...)
}

// letterPairs is a vector of 64 numbers, of length 1, in which texts that share pairs of letters are near.
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

// ollama DIR starts a server whose model answers with the files of a folder, each named for the first property of the answer,
// as candidates.json, and has Reverie find it. Each question is a line of asked.jsonl there.
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
	ts.Defer(s.Close)
	ts.Setenv("OLLAMA_HOST", strings.TrimPrefix(s.URL, "http://"))
}
