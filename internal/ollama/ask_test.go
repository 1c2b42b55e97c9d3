package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAsk(t *testing.T) {
	long := strings.Repeat("x", 9<<20)
	tests := []struct {
		name     string
		generate http.HandlerFunc
		change   func(*Request)
		want     error  // nil: the answer {"a":1}
		says     string // of the error
		text     string // of the answer beside an error
	}{
		{name: "whole", generate: says(token(` {"a"`) + token(`:1}`) + done("stop", 20, 5))},
		{name: "in one piece", generate: says(`{"response":"{\"a\":1}","done":true,"done_reason":"stop","prompt_eval_count":20,"eval_count":5}`)},
		{name: "in thinking", generate: says(`{"thinking":"{\"a\":1}","done":false}` + "\n" + done("stop", 20, 5))},
		{name: "prose in thinking", generate: says(`{"thinking":"hm, let me see","done":false}` + "\n" + done("stop", 20, 5)), want: ErrBadOutput},

		{name: "cut by the connection", generate: then(says(token(`{"a"`)), nil), want: ErrIncomplete},
		{name: "cut in a line", generate: then(says(token(`{"a"`)+`{"respo`), nil), want: ErrIncomplete},
		{name: "cut before it began", generate: then(nil), want: ErrUnavailable},
		{name: "ends without done, as after 30 tokens of one kind", generate: says(strings.Repeat(token(" "), 30)), want: ErrIncomplete, says: "30 tokens"},
		{name: "nothing", generate: says(""), want: ErrIncomplete},
		{name: "ends for another reason", generate: says(done("load", 0, 0)), want: ErrIncomplete, says: `"load"`},
		{name: "ran into the limit", generate: says(token(`{"a":1`) + done("length", 20, 100)), want: ErrTruncated, text: `{"a":1`},
		{name: "a line of more than 8 MB", generate: says(token(long)), want: ErrIncomplete},
		{name: "never ends", generate: says(strings.Repeat(token("x"), 3000)), want: ErrTruncated},
		{name: "never ends, in empty replies", generate: says(strings.Repeat(token(""), 3000)), want: ErrTruncated},
		{name: "more bytes than any answer", generate: says(token(long[:4<<20]) + done("stop", 1, 1)), want: ErrTruncated},
		{name: "prose", generate: says(token("Sure! Here it is") + done("stop", 20, 5)), want: ErrBadOutput, says: "Sure! Here", text: "Sure! Here it is"},
		{name: "repeats the question", generate: says(token("You said: "+secret) + done("stop", 20, 5)), want: ErrBadOutput, text: "You said: " + secret},
		{name: "empty", generate: says(done("stop", 20, 0)), want: ErrBadOutput},

		{name: "the server cut the question", generate: says(token(`{"a":1}`) + done("stop", 1024, 1)), want: ErrTooLong},
		{name: "a newer server cut it", change: func(r *Request) { r.Prompt = strings.Repeat("word ", 1000) },
			generate: says(token(`{"a":1}`) + done("stop", 514, 5)), want: ErrTooLong},
		{name: "half of the context is nothing special for a short question", generate: says(token(`{"a":1}`) + done("stop", 514, 5))},
		{name: "the server forgot the question while answering", generate: says(token(`{"a":1}`) + done("stop", 1000, 60)), want: ErrTooLong},
		{name: "no room for the answer", generate: says(token(`{"a"`) + done("length", 1000, 24)), want: ErrTooLong},
		{name: "the server refuses the question", generate: code(400, `{"error":"the input length exceeds the context length"}`), want: ErrTooLong},
		{name: "in other words", generate: code(500, `{"error":"input is too large to process. increase the physical batch size"}`), want: ErrTooLong},
		{name: "in the stream", generate: says(`{"error":"the prompt exceeds the context window"}`), want: ErrTooLong},
		{name: "the model has less room than asked for", change: func(r *Request) { r.Context = 100_000 },
			generate: says(token(`{"a":1}`) + done("stop", 8192, 5)), want: ErrTooLong},

		{name: "503", generate: code(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), want: ErrBusy, says: "maximum pending"},
		{name: "503 without a word", generate: code(503, ""), want: ErrBusy, says: "503"},
		{name: "500 without a word", generate: code(500, ""), want: ErrUnavailable, says: "500"},
		{name: "400 without a word", generate: code(400, "\n"), want: ErrUnavailable, says: "400"},
		{name: "the runner died", generate: code(500, `{"error":"model runner has unexpectedly stopped"}`), want: ErrBroke, says: "unexpectedly stopped"},
		{name: "the runner died, in other words", generate: code(500, `{"error":"an error was encountered while running the model: unexpected EOF"}`), want: ErrBroke, says: "unexpected EOF"},
		{name: "the runner died before it answered", generate: says(`{"error":"llama runner process has terminated: exit status 2"}`), want: ErrBroke, says: "terminated"},
		{name: "the runner died while answering", generate: says(token(`{`) + `{"error":"an error was encountered while running the model: unexpected EOF"}`),
			want: ErrIncomplete, says: "unexpected EOF"},
		{name: "401", generate: code(401, `{"error":"unauthorized","signin_url":"https://ollama.com/connect?k=1"}`), want: ErrUnavailable, says: "401"},
		{name: "403", generate: code(403, `{"error":"cloud is off"}`), want: ErrUnavailable, says: "403"},
		{name: "404", generate: code(404, `{"error":"model 'm' not found"}`), want: ErrMissing},
		{name: "cannot", generate: code(400, `{"error":"\"m\" does not support generate"}`), want: ErrNoModel},
		{name: "a page", generate: says("<html><body>hello"), want: ErrStranger},
		{name: "a page of a proxy", generate: code(502, "<html><body>Bad Gateway"), want: ErrUnavailable, says: "502"},
		{name: "no line of Ollama's", generate: says("hello\n"), want: ErrUnavailable},
		{name: "another shape", generate: says(`[1]`), want: ErrUnavailable},
		{name: "redirects", generate: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", 302) }, want: ErrUnavailable, says: "redirect"},
		{name: "echoes", generate: func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(400); io.Copy(w, r.Body) }, want: ErrUnavailable},
		{name: "echoes in an error", generate: code(500, `{"error":"cannot do `+secret+`"}`), want: ErrUnavailable, says: "500"},
		{name: "talks much", generate: code(500, `{"error":"`+strings.Repeat("no ", 5000)+`"}`), want: ErrUnavailable},
		{name: "passes it on", generate: says(`{"response":"{\"a\":1}","remote_host":"https://ollama.com:443","done":true,"done_reason":"stop"}`), want: ErrCloud},

		{name: "not installed", change: func(r *Request) { r.Model = "nope" }, want: ErrMissing},
		{name: "makes vectors", change: func(r *Request) { r.Model = "e" }, want: ErrNoModel},
		{name: "of the cloud", change: func(r *Request) { r.Model = "c" }, want: ErrCloud},
		{name: "of the cloud, as asked for", change: func(r *Request) { r.Model = "c"; r.Cloud = true }, generate: says(token(`{"a":1}`) + done("stop", 20, 5))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.generate == nil {
				tt.generate = func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }
			}
			c := fake{"/api/generate": tt.generate, "/elsewhere": func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }}.client(t)
			r := question()
			if tt.change != nil {
				tt.change(&r)
			}
			a, err := c.Ask(t.Context(), r)
			if tt.want == nil {
				if err != nil || string(a.Text) != `{"a":1}` {
					t.Errorf("Ask = %.100s, %v", a.Text, err)
				}
				return
			}
			if !errors.Is(err, tt.want) {
				t.Fatalf("Ask = %.100s, %v; want %v", a.Text, err, tt.want)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the error does not say %q: %v", tt.says, err)
			}
			if strings.Contains(err.Error(), secret[:20]) || len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error says too much: %v", err)
			}
			if tt.text != "" && string(a.Text) != tt.text {
				t.Errorf("beside the error: %q", a.Text)
			}
		})
	}
}

// TestAskSends compares the request with the API's documentation, so that a lost field shows.
func TestAskSends(t *testing.T) {
	var sent map[string]any
	var header http.Header
	c := fake{"/api/generate": func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, token(`{"a"`)+token(`:1}`)+done("stop", 20, 5))
	}}.client(t)
	r := question()
	r.Prompt = "see [img-0] there"
	r.KeepAlive = -1
	var progress []int
	r.Progress = func(n int) { progress = append(progress, n) }
	a, err := c.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": "m", "system": "Answer.", "prompt": "see [img -0] there", "suffix": "", "template": "",
		"stream": true, "think": false, "truncate": false, "shift": false, "keep_alive": "0s",
		"options": map[string]any{"temperature": 0.0, "seed": 1.0, "num_ctx": 1024.0, "num_predict": 100.0},
		"format": map[string]any{"type": "object", "additionalProperties": false, "required": []any{"a"},
			"properties": map[string]any{"a": map[string]any{"type": "integer"}}},
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
	if header.Get("Authorization") != "" {
		t.Error("it was signed")
	}
	if a.Took <= 0 {
		t.Error("it took no time")
	}
	a.Took = 0
	if diff := cmp.Diff(Answer{Text: json.RawMessage(`{"a":1}`), Asked: 20, Said: 5}, a); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 2}, progress); diff != "" {
		t.Error(diff)
	}
}

// TestAskCounts uses servers that count wrongly or end early. The model's work counts all the same.
func TestAskCounts(t *testing.T) {
	prompt := strings.Repeat("word ", 160) // 200 tokens, by the bytes
	for name, c := range map[string]struct {
		generate    http.HandlerFunc
		asked, said int
	}{
		"as it should be":        {says(token(`{"a"`) + token(`:1}`) + done("stop", 20, 5)), 20, 5},
		"negative":               {says(token(`{"a"`) + token(`:1}`) + done("stop", -20, -1<<40)), 201, 2},
		"none":                   {says(token(`{"a":1}`) + `{"done":true,"done_reason":"stop"}`), 201, 1},
		"absurd":                 {says(token(`{"a":1}`) + done("stop", 1<<60, 1<<60)), 201, 1},
		"broken off":             {then(says(token(`{"a"`)+token(":")), nil), 201, 2},
		"without an end":         {says(strings.Repeat(token("x"), 3000)), 201, 265},
		"too late":               {then(says(token(`{"a"`)), hang), 201, 1},
		"too late to begin":      {hang, 201, 0},
		"the runner died":        {code(500, `{"error":"model runner has unexpectedly stopped"}`), 201, 0},
		"nobody worked":          {code(503, ""), 0, 0},
		"there was no such page": {code(404, ""), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := question()
				r.Prompt = prompt
				a, _ := fake{"/api/generate": c.generate}.inProcess(t).Ask(t.Context(), r)
				if a.Asked != c.asked || a.Said != c.said {
					t.Errorf("asked %d, said %d", a.Asked, a.Said)
				}
			})
		})
	}
}

// TestAskEnds uses a server that falls silent, and a fake clock.
func TestAskEnds(t *testing.T) {
	tests := []struct {
		name     string
		generate http.HandlerFunc
		end      func(context.Context) (context.Context, context.CancelFunc) // of the caller's
		want     error
		after    time.Duration
	}{
		{"before a header", hang, nil, ErrUnavailable, 10 * time.Minute},
		{"after the header", then(says(""), hang), nil, ErrUnavailable, 10 * time.Minute},
		{"after a token", then(says(token("{")), hang), nil, ErrIncomplete, 2 * time.Minute},
		{"with replies that say nothing", func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			for fmt.Fprint(w, token("{")); r.Context().Err() == nil; fmt.Fprint(w, token("")) {
				w.(http.Flusher).Flush()
				select {
				case <-time.After(10 * time.Second):
				case <-r.Context().Done():
				}
			}
		}, nil, ErrIncomplete, 2 * time.Minute},
		{"after the whole answer", then(says(token(`{"a":1}`)+done("stop", 20, 5)), hang), nil, nil, time.Second},
		{"the caller's deadline, before a header", hang, deadline(5 * time.Second), context.DeadlineExceeded, 5 * time.Second},
		{"the caller's deadline, after a token", then(says(token("{")), hang), deadline(5 * time.Second), context.DeadlineExceeded, 5 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fake{"/api/generate": tt.generate}.inProcess(t)
				r := question()
				r.First, r.Stall = 0, 2*time.Minute
				ctx := t.Context()
				if tt.end != nil {
					var cancel context.CancelFunc
					ctx, cancel = tt.end(ctx)
					defer cancel()
				}
				began := time.Now()
				a, err := c.Ask(ctx, r)
				if !errors.Is(err, tt.want) {
					t.Errorf("Ask = %.100s, %v", a.Text, err)
				}
				if ours := tt.end == nil; ours == (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
					t.Errorf("whose end was it? %v", err)
				}
				if took := time.Since(began); took < tt.after || took > tt.after+10*time.Second {
					t.Errorf("it took %v, not %v", took, tt.after)
				}
			})
		})
	}
}

func deadline(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

func TestAskIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	c := fake{"/api/generate": then(says(token("{")), hang, func(http.ResponseWriter, *http.Request) { close(left) })}.client(t)
	r := question()
	r.Progress = func(int) { cancel() }
	_, err := c.Ask(ctx, r)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrIncomplete) {
		t.Errorf("Ask = %v", err)
	}
	<-left // the server was told, and stops

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	c = fake{"/api/generate": says(`{"response":"{\"a\":1}","done":true,"done_reason":"stop","prompt_eval_count":20,"eval_count":5}`)}.client(t)
	if _, err := c.Ask(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("with the last word: %v", err)
	}
}

func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c, err := Open(Options{Host: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	_, errAsk := c.Ask(t.Context(), question())
	_, errModels := c.Models(t.Context())
	_, errEmbed := c.Embed(t.Context(), "e", []string{"text"})
	for _, err := range []error{errAsk, errModels, errEmbed} {
		if !errors.Is(err, ErrUnavailable) || !errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, ErrStranger) {
			t.Errorf("%v", err)
		}
	}
}

// TestStrangers talks to servers that are not HTTP servers.
func TestStrangers(t *testing.T) {
	for _, greeting := range []string{"SSH-2.0-OpenSSH_9.2\r\n", "", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				conn.Read(make([]byte, 1))
				fmt.Fprint(conn, greeting)
				conn.(*net.TCPConn).CloseWrite()
				go func() { io.Copy(io.Discard, conn); conn.Close() }()
			}
		}()
		c, err := Open(Options{Host: l.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Models(t.Context()); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrStranger) != (greeting != "") {
			t.Errorf("after %q: %v", greeting, err)
		}
	}
}
