// Package mcpconn is a server's connection for the Model Context Protocol: one message per line.
// The SDK's own connection ends at the first invalid line; this one answers with an error and goes
// on. It also answers unknown methods, bounds a client's concurrent calls, and waits for pending
// answers when the input ends.
//
// Pass a Transport to the Run method of the SDK's server.
package mcpconn

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reverie-memory/reverie/internal/cut"
)

// MaxMessage bounds a client's line, in bytes.
const MaxMessage = 1 << 20

const (
	maxOwed = 128              // unanswered calls; at this number reading pauses
	linger  = 10 * time.Second // for pending answers when the input ends
)

// Transport connects a server with one client. It can be connected once.
type Transport struct {
	In  io.Reader
	Out io.Writer

	linger time.Duration // zero is the linger of all
}

func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	c := &conn{out: t.Out, lines: make(chan []byte), closed: make(chan struct{}), owed: make(chan struct{}, maxOwed), calls: map[jsonrpc.ID]bool{}, linger: cmp.Or(t.linger, linger)}
	go c.scan(t.In)
	return c, nil
}

// conn is the connection of a Transport.
type conn struct {
	lines  chan []byte // whole; closed at the end of the input
	queue  []jsonrpc.Message
	broken error         // why the input ended; set before lines is closed
	owed   chan struct{} // an element for each call without a written answer
	linger time.Duration

	asked sync.Mutex          // of calls
	calls map[jsonrpc.ID]bool // whose answer is not being written either

	mu  sync.Mutex // of out
	out io.Writer

	once   sync.Once
	closed chan struct{}
}

// scan passes on the lines of the input. A waiting read is abandoned when the connection is closed.
func (c *conn) scan(in io.Reader) {
	defer close(c.lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readMessage(r)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case c.lines <- line:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			c.broken = err
			return
		}
	}
}

// readMessage reads a line and keeps at most one byte more than MaxMessage of it.
func readMessage(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), MaxMessage+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Read returns the next message, and answers invalid ones itself. It reports the end of the input
// only after all pending answers are written or linger has passed, because the SDK then drops all
// work.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		for len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			if ok, err := c.admit(ctx, next); ok || err != nil {
				return next, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case line, ok := <-c.lines:
			if !ok {
				return nil, c.finish(ctx)
			}
			if err := c.take(line); err != nil {
				return nil, err
			}
		}
	}
}

// admit accepts a message. A call waits until fewer than maxOwed others are pending, and is refused
// if one of them has its id.
func (c *conn) admit(ctx context.Context, msg jsonrpc.Message) (bool, error) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return true, nil
	}
	if err := c.owe(ctx); err != nil {
		return false, err
	}
	c.asked.Lock()
	again := c.calls[req.ID]
	c.calls[req.ID] = true
	c.asked.Unlock()
	if again {
		<-c.owed
		return false, c.fault(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a call with the id %s has no answer yet", cut.Marked(fmt.Sprint(req.ID.Raw()), 100)))
	}
	return true, nil
}

// owe adds to owed when there is room.
func (c *conn) owe(ctx context.Context) error {
	select {
	case c.owed <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.EOF
	}
}

// finish waits for the pending answers at the end of the input, and answers overdue calls with an
// error.
func (c *conn) finish(ctx context.Context) error {
	patient, stop := context.WithTimeout(ctx, c.linger)
	defer stop()
	for range maxOwed { // there is room for all when none is pending
		err := c.owe(patient)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			break
		}
		if err != nil {
			return err
		}
	}
	c.asked.Lock()
	overdue := slices.Collect(maps.Keys(c.calls))
	clear(c.calls)
	c.asked.Unlock()
	for _, id := range overdue {
		if err := c.fault(id.Raw(), jsonrpc.CodeInternalError, fmt.Sprintf("given up %s after the input ended", c.linger)); err != nil {
			return err
		}
	}
	return c.broken
}

// take queues the messages of a line: one, or those of a batch, as in versions before 2025-06-18.
// Each answer gets its own line.
func (c *conn) take(line []byte) error {
	if len(line) > MaxMessage {
		return c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message may have %d bytes", MaxMessage))
	}
	all := []json.RawMessage{line}
	if line[0] == '[' {
		all = nil
		if json.Unmarshal(line, &all) == nil && len(all) == 0 {
			return c.refuse(nil, jsonrpc.CodeInvalidRequest, "an empty batch")
		}
	}
	switch {
	case !json.Valid(line):
		return c.refuse(nil, jsonrpc.CodeParseError, "this line is not JSON")
	case !utf8.Valid(line): // the decoder would replace bytes that it cannot read
		return c.refuse(line, jsonrpc.CodeParseError, "this line is not UTF-8")
	}
	for _, one := range all {
		msg, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			if err := c.refuse(one, jsonrpc.CodeInvalidRequest, "not a message of JSON-RPC 2.0"); err != nil {
				return err
			}
			continue
		}
		req, ok := msg.(*jsonrpc.Request)
		if ok && !req.IsCall() && hasID(one) { // as a notification it would never get an answer
			if err := c.fault(nil, jsonrpc.CodeInvalidRequest, "the id of a call is a string or a number"); err != nil {
				return err
			}
			continue
		}
		if ok && req.IsCall() && !toolMethod(req.Method) {
			if err := c.refuse(one, jsonrpc.CodeMethodNotFound, fmt.Sprintf("there is no method %q", cut.Marked(req.Method, 100))); err != nil {
				return err
			}
			continue
		}
		c.queue = append(c.queue, msg)
	}
	return nil
}

// hasID reports whether a message has an id, even null.
func hasID(message []byte) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(message, &members) == nil && members["id"] != nil
}

// toolMethod reports whether the SDK answers a method. For others it would, before a session has
// begun, give a different error than "unknown". Clients use that error to find out a server's
// versions.
func toolMethod(name string) bool {
	switch name {
	case "initialize", "ping", "server/discover", "tools/list", "tools/call", "subscriptions/listen": // the last ends at once, because the tools never change
		return true
	}
	return false
}

// refuse answers a message that never becomes a call, under its id if it has one.
func (c *conn) refuse(message []byte, code int, why string) error {
	var asked struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	id := json.RawMessage("null")
	if json.Unmarshal(message, &asked) == nil && asked.Method != nil {
		var v any
		switch err := json.Unmarshal(asked.ID, &v); v.(type) {
		case string, float64:
			if err == nil {
				id = asked.ID
			}
		}
	}
	return c.fault(id, code, why)
}

// fault writes an error; without an id it belongs to no call.
func (c *conn) fault(id any, code int, why string) error {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	if err != nil {
		return err
	}
	return c.line(answer)
}

// codeCancelled is the error code of a cancelled call, from the Language Server Protocol: JSON-RPC
// has no such code.
const codeCancelled = -32800

// coded returns an error in an answer's form. The SDK would give code 0 to an error without one.
func coded(err error) error {
	wire := new(jsonrpc.Error)
	switch {
	case errors.As(err, &wire) && wire.Code != 0:
		return err
	case errors.Is(err, context.Canceled):
		return &jsonrpc.Error{Code: codeCancelled, Message: "the call was cancelled"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// Write writes a message. It drops an answer whose call was cancelled.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	if res, ok := msg.(*jsonrpc.Response); ok && res.Error != nil {
		msg = &jsonrpc.Response{ID: res.ID, Error: coded(res.Error)}
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if res, ok := msg.(*jsonrpc.Response); ok && res.ID.IsValid() {
		c.asked.Lock()
		was := c.calls[res.ID]
		delete(c.calls, res.ID) // the client may use the id again once it has read the answer
		c.asked.Unlock()
		if !was {
			return nil
		}
		defer func() { <-c.owed }()
	}
	return c.line(data)
}

func (c *conn) line(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	return err
}

func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: there is one session.
func (c *conn) SessionID() string { return "" }
