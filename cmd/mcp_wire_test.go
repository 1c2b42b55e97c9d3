package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/mcp"

	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// rawServer is a server that is spoken to in raw lines.
type rawServer struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func newWire(t testing.TB, dir string) *rawServer {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	w := &rawServer{t, toServer, bufio.NewReader(fromServer), make(chan error, 1)}
	env := &Env{Terminal: term.Terminal{In: in, Out: out, Err: io.Discard, Width: 80}, Dir: dir, Now: time.Now}
	go func() {
		err := mcpServer(env, "", false).Serve(context.Background(), env.In, env.Out)
		out.Close()
		w.done <- err
	}()
	t.Cleanup(func() {
		toServer.Close()
		go io.Copy(io.Discard, fromServer)
		select {
		case err := <-w.done:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the server outlives its input")
		}
	})
	return w
}

// message holds the parts of a server's line that the tests look at.
type message struct {
	ID     any
	Error  *struct{ Code int }
	Result *struct {
		ProtocolVersion   string
		SupportedVersions []string
		IsError           bool
		Tools             []struct{ Name string }
		Content           []struct{ Text string }
	}
}

// send writes lines, and reads as many as are wanted.
func (w *rawServer) send(lines string, answers int) (all []message) {
	w.t.Helper()
	go io.WriteString(w.in, lines)
	for range answers {
		line, err := w.out.ReadString('\n')
		if err != nil {
			w.t.Fatalf("%v after %d answers to %.200s", err, len(all), lines)
		}
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil || !strings.Contains(line, `"jsonrpc":"2.0"`) {
			w.t.Fatalf("%v in %s", err, line)
		}
		all = append(all, m)
	}
	return all
}

const newEra = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func hello(version string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
}

func TestBothErasAreSpoken(t *testing.T) {
	for asked, want := range map[string]string{"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05", "1999-01-01": "2025-11-25"} {
		w := newWire(t, t.TempDir())
		if m := w.send(hello(asked), 1)[0]; m.Result == nil || m.Result.ProtocolVersion != want {
			t.Errorf("asked for %s: %+v", asked, m)
		}
		if m := w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n", 1)[0]; m.Result == nil || len(m.Result.Tools) != 11 {
			t.Errorf("%s: %+v", asked, m)
		}
	}
	w := newWire(t, t.TempDir())
	if m := w.send(`{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{`+newEra+`}}`+"\n", 1)[0]; m.ID != "d" || m.Result == nil || !strings.HasPrefix(strings.Join(m.Result.SupportedVersions, " "), "2026-07-28 2025-11-25") {
		t.Errorf("discover: %+v", m)
	}
	w = newWire(t, t.TempDir()) // without a word before
	if m := w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{},`+newEra+`}}`+"\n", 1)[0]; m.Result == nil || !m.Result.IsError || !strings.Contains(m.Result.Content[0].Text, "git") {
		t.Errorf("a call: %+v", m)
	}
}

func recallOf(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"recall","arguments":{"query":"pnpm"},%s}}`+"\n", id, newEra)
}

// A shell pipes calls in and closes the input at once. Each call is answered, also one that waits
// for a lock.
func TestEveryCallIsAnsweredWhenTheInputEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Use pnpm, never npm")
	unlock, err := at(t, r.Dir, time.Now()).Repo.State().Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const calls = 400 // more than may wait for an answer
	lines := hello("2025-11-25") + `{"jsonrpc":"2.0","id":"locked","method":"tools/call","params":{"name":"remember","arguments":{"text":"Use bun"}}}` + "\n"
	for i := range calls {
		lines += recallOf(100 + i)
	}
	w := newWire(t, r.Dir)
	go func() {
		io.WriteString(w.in, lines)
		w.in.Close()
	}()
	got := map[any]string{}
	for range calls + 1 { // of the greeting and all that need no lock
		m := w.send("", 1)[0]
		if m.Result == nil || m.Result.IsError {
			t.Fatalf("%+v %+v", m, m.Error)
		}
		got[m.ID] = fmt.Sprint(m.Result.Content)
	}
	if _, early := got["locked"]; early || len(got) != calls+1 || !strings.Contains(got[float64(100)], "Use pnpm") {
		t.Fatalf("%d answers, of the call that waits for a lock %t, %q", len(got), early, got[float64(100)])
	}
	unlock()
	if m := w.send("", 1)[0]; m.ID != "locked" || m.Result == nil || !strings.Contains(fmt.Sprint(m.Result.Content), "waits for a person") {
		t.Errorf("%+v %+v", m, m.Error)
	}
}

// A call may be cancelled before it has begun, or never have been made.
func TestCancellationBeforeTheCallBegins(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Use pnpm")
	unlock, err := at(t, r.Dir, time.Now()).Repo.State().Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t, r.Dir)
	lines := hello("2025-11-25") + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n"
	for i := range mcp.AtOnce + 1 { // the last waits for its turn
		lines += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"remember","arguments":{"text":"Never kept %d"}}}`+"\n", 10+i, i)
	}
	w.send(lines, 1)
	for i := range mcp.AtOnce + 1 {
		m := w.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", 10+mcp.AtOnce-i), 1)[0]
		if m.ID != float64(10+mcp.AtOnce-i) || m.Error == nil || m.Error.Code != -32800 {
			t.Errorf("%+v %+v, want the error of a call that was cancelled", m, m.Error)
		}
	}
	unlock()
	if m := w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{}}}`+"\n", 1)[0]; m.ID != float64(2) || m.Result == nil || !strings.Contains(fmt.Sprint(m.Result.Content), `"waiting":0`) {
		t.Errorf("%+v %+v", m, m.Error)
	}
}

// The server survives any lines: it answers the ping behind them, and prints only messages.
func FuzzServerStands(f *testing.F) {
	for _, line := range []string{
		"garbage", `[`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":[]}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"x"},` + newEra + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"show","arguments":{"id":"0123"},` + newEra + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + newEra + `}}`, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x",` + newEra + `}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":5}`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":"","method":""}`,
		strings.TrimSpace(hello("2025-11-25")), `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	} {
		f.Add(line)
	}
	dir := f.TempDir()
	n := 0
	f.Fuzz(func(t *testing.T, lines string) {
		w := newWire(t, dir)
		n++
		end := fmt.Sprintf("end-%d-%d", n, len(lines))
		go io.WriteString(w.in, lines+"\n"+`{"jsonrpc":"2.0","id":"`+end+`","method":"ping"}`+"\n")
		for {
			line, err := w.out.ReadString('\n')
			if err != nil {
				t.Fatalf("%v after %q", err, lines)
			}
			var m struct {
				JSONRPC string
				ID      any
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
				t.Fatalf("%q answers %q", line, lines)
			}
			if m.ID == end {
				return
			}
		}
	})
}
