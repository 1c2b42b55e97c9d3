package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a server with the answers of a test. Unless the test replaces show and tags, it knows a
// text model "m", an embedding model "e", a thinking one "t" and a cloud one "c".
type fake map[string]http.HandlerFunc

func (f fake) pages() http.Handler {
	mux := http.NewServeMux()
	for path, page := range map[string]http.HandlerFunc{
		"/api/version": says(`{"version":"0.17.4"}`),
		"/api/tags": says(`{"models":[
			{"name":"m:latest","digest":"sha256:aa","size":2000000000,"details":{"family":"llama"}},
			{"name":"e:latest","digest":"bb","size":40000000,"details":{"family":"bert"}},
			{"name":"t:latest","digest":"cc","size":3000000000,"details":{"family":"qwen3"}},
			{"name":"c:latest","digest":"dd","size":300,"remote_model":"big","remote_host":"https://ollama.com:443"}]}`),
		"/api/show": show,
	} {
		if f[path] == nil {
			mux.HandleFunc(path, page)
		}
	}
	for path, page := range f {
		mux.HandleFunc(path, page)
	}
	return mux
}

// client returns a client of the server, which lives as long as the test.
func (f fake) client(t *testing.T) *Client {
	t.Helper()
	s := httptest.NewServer(f.pages())
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	c, err := Open(Options{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func show(w http.ResponseWriter, r *http.Request) {
	var q struct{ Model string }
	json.NewDecoder(r.Body).Decode(&q)
	switch strings.TrimSuffix(q.Model, ":latest") {
	case "m":
		fmt.Fprint(w, `{"details":{"family":"llama"},"capabilities":["completion"],"model_info":{"general.architecture":"llama","llama.context_length":8192,"llama.embedding_length":64}}`)
	case "e":
		fmt.Fprint(w, `{"details":{"family":"bert"},"capabilities":["embedding"],"model_info":{"general.architecture":"bert","bert.context_length":512,"bert.embedding_length":3}}`)
	case "t":
		fmt.Fprint(w, `{"details":{"family":"qwen3"},"capabilities":["completion","thinking"],"model_info":{}}`)
	case "c":
		fmt.Fprint(w, `{"details":{"family":""},"capabilities":["completion"],"remote_model":"big","remote_host":"https://ollama.com:443"}`)
	default:
		w.WriteHeader(404)
		fmt.Fprintf(w, `{"error":"model '%s' not found"}`, q.Model)
	}
}

// says returns a page with that text.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// code returns a page with that status and text.
func code(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, text) }
}

// then returns one page after another, each flushed before the next. A nil page closes the
// connection.
func then(pages ...http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, page := range pages {
			if page == nil {
				panic(http.ErrAbortHandler)
			}
			page(w, r)
			w.(http.Flusher).Flush()
		}
	}
}

// hang stays silent until the client has gone.
func hang(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) // the server notices the end of a connection only after that
	<-r.Context().Done()
}

func token(text string) string {
	b, _ := json.Marshal(map[string]any{"model": "m", "response": text, "done": false})
	return string(b) + "\n"
}

// done returns the last line of a stream.
func done(reason string, asked, said int) string {
	return fmt.Sprintf(`{"model":"m","response":"","done":true,"done_reason":%q,"prompt_eval_count":%d,"eval_count":%d}`+"\n", reason, asked, said)
}

const secret = "what-the-question-says-stays-in-the-question"

var schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`)

func question() Request {
	return Request{Model: "m", System: "Answer.", Prompt: secret, Schema: schema, Context: 1024, Predict: 100, First: 10 * time.Second, Stall: 10 * time.Second}
}

// inProcess is client with pipes for connections, for tests with a fake clock.
func (f fake) inProcess(t *testing.T) *Client {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), ended: make(chan struct{})}
	s := httptest.NewUnstartedServer(f.pages())
	s.Listener = l
	s.Start()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.conns <- theirs:
			return ours, nil
		case <-l.ended: // the transport dials once more where a request was quicker than its connection
			return nil, net.ErrClosed
		}
	}}
	t.Cleanup(func() { transport.CloseIdleConnections(); s.CloseClientConnections(); s.Close() })
	return through(&url.URL{Scheme: "http", Host: "127.0.0.1:11434"}, transport)
}

type pipes struct {
	conns chan net.Conn
	ended chan struct{}
	close sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.close.Do(func() { close(p.ended) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 11434} }
