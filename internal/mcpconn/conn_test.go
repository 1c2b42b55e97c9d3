package mcpconn

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// waiting returns a server of one tool, whose calls answer when the gate is opened.
func waiting(gate <-chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "waiting", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	tool := &mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)}
	s.AddTool(tool, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-gate:
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return s
}

// wire is a server that receives raw lines.
type wire struct {
	t   testing.TB
	in  *io.PipeWriter
	out *bufio.Reader
}

func newWire(t testing.TB, gate <-chan struct{}) *wire {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- waiting(gate).Run(context.Background(), &Transport{In: in, Out: out})
		out.Close()
	}()
	t.Cleanup(func() {
		toServer.Close()
		go io.Copy(io.Discard, fromServer)
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Error("the server outlives its input")
		}
	})
	return &wire{t, toServer, bufio.NewReader(fromServer)}
}

// answer holds the parts of a server's line that the tests check.
type answer struct {
	ID     any
	Error  *struct{ Code int }
	Result *struct {
		IsError bool
		Content []struct{ Text string }
	}
}

// send writes lines, and reads the given number of answers.
func (w *wire) send(lines string, answers int) (all []answer) {
	w.t.Helper()
	go io.WriteString(w.in, lines)
	for range answers {
		line, err := w.out.ReadString('\n')
		if err != nil {
			w.t.Fatalf("%v after %d answers to %.200s", err, len(all), lines)
		}
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil || !strings.Contains(line, `"jsonrpc":"2.0"`) {
			w.t.Fatalf("%v in %s", err, line)
		}
		all = append(all, a)
	}
	return all
}

const newEra = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func hello(version string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
}

// An invalid message is answered at once, and so is the message after it.
func TestLinesThatAreNoMessages(t *testing.T) {
	long := strings.Repeat("x", MaxMessage)
	for _, c := range []struct {
		line string
		code int
		id   any
	}{
		{"garbage", -32700, nil},
		{`{"jsonrpc":"2.0","id":5,"method":"ping"`, -32700, nil},
		{`{"jsonrpc":"2.0","id":5,"method":"ping"} {`, -32700, nil},
		{"\x00\xff\xfe", -32700, nil},
		{`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"` + "\xff" + `"}}`, -32700, float64(5)},
		{strings.Repeat("[", MaxMessage/2) + strings.Repeat("]", MaxMessage/2), -32700, nil},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":` + strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000) + `}`, -32600, float64(5)},
		{"5", -32600, nil},
		{"[]", -32600, nil},
		{"[5]", -32600, nil},
		{"{}", -32600, nil},
		{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, -32600, float64(5)},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600, nil},
		{`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"wait","arguments":{}}}`, -32600, nil},
		{`{"jsonrpc":"2.0","id":6,"method":"nope"}`, -32601, float64(6)},
		{`{"jsonrpc":"2.0","id":"a","method":"resources/list","params":{` + newEra + `}}`, -32601, "a"},
		// of a server of before
		{`{"jsonrpc":"2.0","id":7,"method":"server/discover"}`, -32601, float64(7)},
		{`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"nope",` + newEra + `}}`, -32602, float64(8)},
		{long + "xx", -32600, nil},
		{`{"jsonrpc":"2.0","id":9,"method":"ping","params":"` + long + `"}`, -32600, nil},
		{`[{"jsonrpc":"2.0","id":10,"method":"nope"}]`, -32601, float64(10)},
	} {
		w := newWire(t, nil)
		m := w.send(c.line+"\n", 1)[0]
		if m.Error == nil || m.Error.Code != c.code || m.ID != c.id {
			t.Errorf("%.80s: %+v %+v", c.line, m, m.Error)
		}
		if m := w.send("\n\r\n"+`{"jsonrpc":"2.0","id":"next","method":"ping"}`+"\r\n", 1)[0]; m.ID != "next" || m.Error != nil {
			t.Errorf("after %.80s: %+v", c.line, m)
		}
	}
}

func TestBatchIsAnswered(t *testing.T) {
	w := newWire(t, nil)
	w.send(hello("2025-03-26"), 1)
	got := map[any]bool{}
	for _, m := range w.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},7,{"jsonrpc":"2.0","id":2,"method":"ping"}]`+"\n", 3) {
		got[m.ID] = m.Error == nil
	}
	if diff := cmp.Diff(map[any]bool{float64(1): true, float64(2): true, nil: false}, got); diff != "" {
		t.Error(diff)
	}
}

// A call that outlasts the end of the input by too long gets an error, and the server ends.
func TestServerGivesUpAtTheEnd(t *testing.T) {
	var out bytes.Buffer
	err := waiting(nil).Run(t.Context(), &Transport{linger: time.Millisecond, Out: &out, In: strings.NewReader(
		`{"jsonrpc":"2.0","id":"late","method":"tools/call","params":{"name":"wait","arguments":{},` + newEra + `}}` + "\n")})
	if err != nil {
		t.Error(err)
	}
	if got := out.String(); strings.Count(got, `"id":"late"`) != 1 || !strings.Contains(got, "given up") {
		t.Error(got)
	}
}

// The server answers all pending calls before it ends, even if they exceed maxOwed.
func TestAnswersOutlastTheInput(t *testing.T) {
	gate := make(chan struct{})
	w := newWire(t, gate)
	const calls = 3 * maxOwed
	lines := hello("2025-11-25")
	for i := range calls {
		lines += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":{}}}`+"\n", 100+i)
	}
	go func() {
		io.WriteString(w.in, lines)
		w.in.Close()
	}()
	w.send("", 1) // the greeting
	close(gate)
	got := map[any]bool{}
	for _, a := range w.send("", calls) {
		if a.Result == nil || a.Result.IsError {
			t.Fatalf("%+v %+v", a, a.Error)
		}
		got[a.ID] = true
	}
	if len(got) != calls {
		t.Errorf("%d calls have answers", len(got))
	}
}

// An id belongs to one call until that has its answer.
func TestIDsAreUsedOnce(t *testing.T) {
	gate := make(chan struct{})
	w := newWire(t, gate)
	w.send(hello("2025-11-25"), 1)
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{}}}` + "\n"
	if a := w.send(call+call, 1)[0]; a.ID != nil || a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("%+v %+v", a, a.Error)
	}
	close(gate)
	if a := w.send("", 1)[0]; a.ID != float64(7) || a.Result == nil || a.Result.IsError {
		t.Errorf("%+v %+v", a, a.Error)
	}
	if a := w.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`+"\n", 1)[0]; a.ID != float64(7) || a.Error != nil {
		t.Errorf("used again: %+v %+v", a, a.Error)
	}
}

// A cancelled call ends with the error of the Language Server Protocol.
func TestCancelledCallHasItsError(t *testing.T) {
	w := newWire(t, nil)
	w.send(hello("2025-11-25"), 1)
	a := w.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`+"\n", 1)[0]
	if a.ID != float64(7) || a.Error == nil || a.Error.Code != codeCancelled {
		t.Errorf("%+v %+v", a, a.Error)
	}
}
