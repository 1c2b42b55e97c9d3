package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is the longest line that a client may send, in bytes.
const maxMessage = 1 << 20

// lineTransport carries one message a line. That of the SDK ends at the first line that is no message; this one answers that it is
// none, and goes on.
type lineTransport struct {
	in  io.Reader
	out io.Writer
}

func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{out: t.out, lines: make(chan []byte), closed: make(chan struct{})}
	go c.scan(t.in)
	return c, nil
}

// lineConn is the connection of a lineTransport.
type lineConn struct {
	lines  chan []byte // whole; closed at the end of the input
	queue  []jsonrpc.Message
	broken error // why the input ended; set before lines is closed

	mu  sync.Mutex // of out
	out io.Writer

	once   sync.Once
	closed chan struct{}
}

// scan hands on the lines of the input. A read that waits is left behind when the connection is closed.
func (c *lineConn) scan(in io.Reader) {
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

// readMessage reads a line, of which it keeps one byte more than maxMessage at most.
func readMessage(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxMessage+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Read returns the next message. What is none is answered here.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case line, ok := <-c.lines:
			if !ok {
				return nil, c.broken
			}
			if err := c.take(line); err != nil {
				return nil, err
			}
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	return next, nil
}

// take queues the messages of a line: one, or those of a batch, as versions before 2025-06-18 have them. Answers come one a line.
func (c *lineConn) take(line []byte) error {
	if len(line) > maxMessage {
		return c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message may have %d bytes", maxMessage))
	}
	all := []json.RawMessage{line}
	if line[0] == '[' {
		all = nil
		if json.Unmarshal(line, &all) == nil && len(all) == 0 {
			return c.refuse(nil, jsonrpc.CodeInvalidRequest, "an empty batch")
		}
	}
	if !json.Valid(line) {
		return c.refuse(nil, jsonrpc.CodeParseError, "this line is not JSON")
	}
	for _, one := range all {
		msg, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			if err := c.refuse(one, jsonrpc.CodeInvalidRequest, "not a message of JSON-RPC 2.0"); err != nil {
				return err
			}
			continue
		}
		if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() && !mcpMethod(req.Method) {
			if err := c.refuse(one, jsonrpc.CodeMethodNotFound, fmt.Sprintf("there is no method %q", cutText(req.Method, 100))); err != nil {
				return err
			}
			continue
		}
		c.queue = append(c.queue, msg)
	}
	return nil
}

// mcpMethod reports whether a call is one that a server of tools alone answers. Before a session has begun the SDK would give
// any other another error than that it is not known, by which clients find out which versions a server speaks.
func mcpMethod(name string) bool {
	switch name {
	case "initialize", "ping", "server/discover", "tools/list", "tools/call", "subscriptions/listen":
		return true
	}
	return false
}

// refuse answers what never becomes a call, under its id where it has one.
func (c *lineConn) refuse(message []byte, code int, why string) error {
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
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	if err != nil {
		return err
	}
	return c.line(answer)
}

// Write writes a message.
func (c *lineConn) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return c.line(data)
}

func (c *lineConn) line(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	return err
}

func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: there is one session.
func (c *lineConn) SessionID() string { return "" }
