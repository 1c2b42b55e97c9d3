package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/worktree"
)

// eventWriter passes on what an agent prints as people read it, line by line: what eventReader makes of an event, any other line as it is.
type eventWriter struct {
	to     io.Writer
	line   []byte // that looks like an event, and has no end yet
	more   int    // bytes of it that are not kept
	within bool   // a line that is no event has no end yet
	r      eventReader
}

// maxEvent is the longest event that is read while it comes in, in bytes.
const maxEvent = 4 << 20

func (w *eventWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if !w.within && len(w.line) == 0 && p[0] != '{' {
			w.within = true
		}
		at := bytes.IndexByte(p, '\n')
		part := p[:at+1]
		if at < 0 {
			part = p
		}
		p = p[len(part):]
		if w.within {
			w.to.Write(append([]byte(w.r.close()), part...))
			w.within = at < 0
			continue
		}
		take := min(len(part), maxEvent-len(w.line))
		w.line = append(w.line, part[:take]...)
		w.more += len(part) - take
		if at < 0 {
			continue
		}
		if w.more > 0 {
			fmt.Fprintf(w.to, "%s[… an event of %d bytes]\n", w.r.close(), len(w.line)+w.more)
		} else {
			io.WriteString(w.to, w.r.read(string(w.line)))
		}
		w.line, w.more = w.line[:0], 0
		if cap(w.line) > 64<<10 {
			w.line = nil
		}
	}
	return n, nil
}

// readable is what an agent printed as people read it. Long lines are cut.
func readable(output string) string {
	var b strings.Builder
	var r eventReader
	for line := range strings.Lines(output) {
		for shown := range strings.Lines(r.read(line)) {
			text, end := strings.CutSuffix(shown, "\n")
			b.WriteString(worktree.CutLine(text, len(text)))
			if end {
				b.WriteByte('\n')
			}
		}
	}
	return b.String() + r.close()
}

// eventReader makes text of a stream of events: what the model says, and the commands and other tools that it has run. The forms are
// those of agentEvent, and besides
//
//	claude    {"type":"assistant","message":{"content":[{"type":"text","text":"…"},{"type":"tool_use","name":"Bash","input":{…}}]}}
//	          {"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"…"}]}}
//	codex     {"type":"item.started","item":{"type":"command_execution","command":"…"}}, then item.completed with exit_code
//	gemini    {"type":"tool_use","tool_name":"…","parameters":{…}}, {"type":"tool_result","status":"error","output":"…"}
//	opencode  {"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","input":{…}}}}
//	all       {"type":"error","message":"…"} or with error
type eventReader struct {
	within bool   // a text goes on
	said   string // last
}

// shownEvent is what is read of an event. A field of another form than here is passed over.
type shownEvent struct {
	Type       string
	Role       string
	Content    json.RawMessage
	Message    json.RawMessage
	Text       json.RawMessage
	Error      json.RawMessage
	Result     json.RawMessage
	Output     json.RawMessage
	Status     string
	IsError    bool   `json:"is_error"`
	ToolName   string `json:"tool_name"`
	Parameters map[string]any
	Item       struct {
		Type, Text, Message, Command, Server, Tool, Query string
		ExitCode                                          *int `json:"exit_code"`
		Changes                                           []struct{ Path, Kind string }
	}
	Part struct {
		Type, Text, Tool string
		State            struct {
			Status string
			Input  map[string]any
			Error  string
		}
	}
}

// messagePart is a part of a message of Claude's.
type messagePart struct {
	Type, Text, Name string
	Input            map[string]any
	Content          json.RawMessage
	IsError          bool `json:"is_error"`
}

// read is what a line comes to, with its line feeds; "" for an event that has nothing to read.
func (r *eventReader) read(line string) string {
	var e shownEvent
	var form *json.UnmarshalTypeError
	if !strings.HasPrefix(line, "{") {
		return r.close() + line
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil && !errors.As(err, &form) || e.Type == "" {
		return r.close() + line
	}
	switch e.Type {
	case "assistant", "user":
		return r.blocks(e.Message)
	case "message":
		if e.Role != "assistant" {
			return ""
		}
		text := stringOf(e.Content)
		r.within = text != "" && !strings.HasSuffix(text, "\n") || text == "" && r.within
		return text
	case "text":
		if e.Part.Type == "text" {
			return r.say(e.Part.Text)
		}
	case "item.started":
		if e.Item.Type == "command_execution" {
			return r.command(unwrapped(e.Item.Command))
		}
		return ""
	case "item.completed":
		return r.item(e)
	case "tool_use":
		if e.Part.Tool != "" {
			return r.tool(e.Part.Tool, e.Part.State.Input) + r.failed(e.Part.State.Error)
		}
		return r.tool(e.ToolName, e.Parameters)
	case "tool_result":
		if e.Status == "error" {
			return r.failed(cmp.Or(stringOf(e.Output), stringOf(e.Error), "failed"))
		}
		return ""
	case "result":
		text := stringOf(e.Result)
		switch {
		case e.IsError:
			return r.failed(cmp.Or(text, "failed"))
		case e.Status == "error":
			return r.failed(cmp.Or(stringOf(e.Error), "failed"))
		case strings.TrimSpace(text) == strings.TrimSpace(r.said): // it repeats it
			return r.close()
		}
		return r.say(text)
	case "error", "turn.failed":
		return r.failed(cmp.Or(stringOf(e.Message), stringOf(e.Error), "failed"))
	case "system", "init", "thread.started", "turn.started", "turn.completed", "item.updated", "step_start", "step_finish", "reasoning", "stream_event", "rate_limit_event":
		return ""
	}
	if text := cmp.Or(stringOf(e.Message), stringOf(e.Text), stringOf(e.Content)); text != "" {
		return r.say(text)
	}
	return r.close() + line
}

// close ends a text that goes on.
func (r *eventReader) close() string {
	if !r.within {
		return ""
	}
	r.within = false
	return "\n"
}

func (r *eventReader) say(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	r.said = text
	return r.close() + strings.TrimRight(text, "\n") + "\n"
}

// command shows a command, of a long one the first lines.
func (r *eventReader) command(text string) string {
	const most = 4
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > most {
		lines = append(lines[:most], "…")
	}
	return r.close() + "$ " + strings.Join(lines, "\n  ") + "\n"
}

func (r *eventReader) failed(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return r.close() + "! " + oneLine(text, 300) + "\n"
}

// tool shows a call of a tool: its name, and which file, pattern or address it is about.
func (r *eventReader) tool(name string, input map[string]any) string {
	text := func(keys ...string) string {
		for _, key := range keys {
			if s, ok := input[key].(string); ok && strings.TrimSpace(s) != "" {
				return s
			}
		}
		return ""
	}
	if command := text("command", "cmd"); command != "" {
		return r.command(command)
	}
	about := text("file_path", "filePath", "absolute_path", "path", "dir_path", "pattern", "query", "url", "description", "name")
	if dir, inside, ok := strings.Cut(about, "/tree/"); ok && strings.Contains(dir, "/reverie/loops/") { // of the loop's work tree
		about = inside
	}
	return r.close() + strings.TrimRight("* "+name+" "+oneLine(about, 200), " ") + "\n"
}

// blocks are the parts of a message of Claude's: of what its tools printed, that they failed.
func (r *eventReader) blocks(message json.RawMessage) string {
	var m struct {
		Role    string
		Content json.RawMessage
	}
	json.Unmarshal(message, &m)
	var parts []messagePart
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Type == "text" && m.Role == "assistant":
			b.WriteString(r.say(p.Text))
		case p.Type == "tool_use":
			b.WriteString(r.tool(p.Name, p.Input))
		case p.Type == "tool_result" && p.IsError:
			b.WriteString(r.failed(cmp.Or(stringOf(p.Content), "failed")))
		}
	}
	return b.String()
}

// item is one of Codex's that is done.
func (r *eventReader) item(e shownEvent) string {
	switch e.Item.Type {
	case "agent_message":
		return r.say(e.Item.Text)
	case "command_execution":
		if code := e.Item.ExitCode; code != nil && *code != 0 {
			return r.failed(fmt.Sprintf("exit code %d", *code))
		}
	case "file_change":
		var b strings.Builder
		for _, c := range e.Item.Changes {
			b.WriteString(r.tool(c.Kind, map[string]any{"path": c.Path}))
		}
		return b.String()
	case "mcp_tool_call":
		return r.tool(e.Item.Server+"."+e.Item.Tool, nil)
	case "web_search":
		return r.tool("search", map[string]any{"query": e.Item.Query})
	case "error":
		return r.failed(e.Item.Message)
	}
	return ""
}

// stringOf is a JSON value that is a text, or has one as its message, or is a list of such; else "".
func stringOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message, Text, Name string
		Data                struct{ Message string }
	}
	if json.Unmarshal(raw, &object) == nil {
		return cmp.Or(object.Message, object.Data.Message, object.Text, object.Name)
	}
	var parts []json.RawMessage
	json.Unmarshal(raw, &parts)
	var all []string
	for _, p := range parts {
		all = append(all, stringOf(p))
	}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "\n")
}

// unwrapped is a command without the shell that Codex calls for it.
func unwrapped(command string) string {
	shell, rest, ok := strings.Cut(command, " ")
	flag, inner, ok2 := strings.Cut(rest, " ")
	inner = strings.TrimSpace(inner)
	if !ok || !ok2 || !strings.HasSuffix(path.Base(shell), "sh") || flag != "-lc" && flag != "-c" {
		return command
	}
	if n := len(inner); n > 1 && inner[0] == inner[n-1] && (inner[0] == '\'' || inner[0] == '"') && !strings.ContainsRune(inner[1:n-1], rune(inner[0])) {
		return inner[1 : n-1]
	}
	return inner
}
