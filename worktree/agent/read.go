package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/reverie-memory/reverie/worktree"
)

// Writer passes on an agent's output in readable form, line by line: an event as in Readable, any
// other line unchanged. Its Write never returns an error, even if the next writer fails.
type Writer struct {
	to     io.Writer
	line   []byte // an unfinished line that looks like an event
	more   int    // bytes of it that were dropped
	within bool   // inside an unfinished line that is not an event
	r      reader
}

// Short shortens a text to one line of at most the given cells, and shows hidden characters.
type Short func(text string, cells int) string

// NewWriter returns a Writer that passes on to another.
func NewWriter(to io.Writer, short Short) *Writer { return &Writer{to: to, r: reader{short: short}} }

// maxEvent bounds an incoming event, in bytes.
const maxEvent = 4 << 20

func (w *Writer) Write(p []byte) (int, error) {
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

// Readable returns an agent's output in readable form. It cuts long lines.
func Readable(output string, short Short) string {
	var b strings.Builder
	r := reader{short: short}
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

// reader converts a stream of events to text: the model's words, its commands and other tool calls.
type reader struct {
	short  Short
	within bool   // a text goes on
	said   string // last
}

// read returns the readable form of a line, with its line feeds; "" for an event without text.
func (r *reader) read(line string) string {
	e, is := parse(line)
	if !is {
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

// close ends an unfinished text.
func (r *reader) close() string {
	if !r.within {
		return ""
	}
	r.within = false
	return "\n"
}

func (r *reader) say(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	r.said = text
	return r.close() + strings.TrimRight(text, "\n") + "\n"
}

// command shows a command, or the first lines of a long one.
func (r *reader) command(text string) string {
	const most = 4
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > most {
		lines = append(lines[:most], "…")
	}
	return r.close() + "$ " + strings.Join(lines, "\n  ") + "\n"
}

func (r *reader) failed(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return r.close() + "! " + r.short(text, 300) + "\n"
}

// tool shows a call of a tool: its name, and its file, pattern or address.
func (r *reader) tool(name string, input map[string]any) string {
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
	// of the loop's work tree
	if dir, inside, ok := strings.Cut(about, "/tree/"); ok && strings.Contains(dir, "/reverie/loops/") {
		about = inside
	}
	return r.close() + strings.TrimRight("* "+name+" "+r.short(about, 200), " ") + "\n"
}

// blocks shows the parts of a Claude message; of tool output only failures.
func (r *reader) blocks(message json.RawMessage) string {
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

// item shows a finished Codex item.
func (r *reader) item(e event) string {
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

// unwrapped returns a command without the shell with which Codex calls it.
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
