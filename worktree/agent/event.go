package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// event is one line of what an agent prints that is asked for a stream of events, as far as it is
// read. Each agent has its own way to say that the model has said something, and that it has called
// a tool:
//
//	claude    {"type":"result","result":"…"}                                        the last text of the session
//	          {"type":"assistant","message":{"content":[{"type":"text","text":"…"},{"type":"tool_use","name":"Bash","input":{…}}]}}
//	          {"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"…"}]}}
//	codex     {"type":"item.completed","item":{"type":"agent_message","text":"…"}}
//	          {"type":"item.started","item":{"type":"command_execution","command":"…"}}, then item.completed with exit_code
//	gemini    {"type":"message","role":"assistant","content":"…","delta":true}      a part of a text
//	          {"type":"tool_use","tool_name":"…","parameters":{…}}, {"type":"tool_result","status":"error","output":"…"}
//	opencode  {"type":"text","part":{"type":"text","text":"…"}}
//	          {"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","input":{…}}}}
//	all       {"type":"error","message":"…"} or with error
//
// A field of another form than here is passed over.
type event struct {
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

// messagePart is a part of a Claude message.
type messagePart struct {
	Type, Text, Name string
	Input            map[string]any
	Content          json.RawMessage
	IsError          bool `json:"is_error"`
}

// parse reads a line as an event, and reports whether it is one.
func parse(line string) (e event, is bool) {
	if !strings.HasPrefix(line, "{") {
		return e, false
	}
	var form *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(line), &e); err != nil && !errors.As(err, &form) {
		return e, false
	}
	return e, e.Type != ""
}

// plain returns a JSON value that is a text, or "".
func plain(raw json.RawMessage) string {
	var text string
	json.Unmarshal(raw, &text)
	return text
}

// stringOf returns a JSON value that is a text, has one as its message, or is a list of such; or
// "".
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

// Said returns the model's words to the user from an agent's event output, without the output of
// tools and the content of files. It considers only the named agent's events, or those of any agent
// if agent is "". Output without events is returned unchanged.
func Said(agent, output string) string {
	switch agent {
	case "", "claude", "codex", "gemini", "opencode":
	default:
		return output
	}
	var b strings.Builder
	events := false
	for line := range strings.Lines(output) {
		e, is := parse(strings.TrimSpace(line))
		if !is {
			continue
		}
		events = true
		text, part := e.said(agent)
		if b.Len() > 0 && !part && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	if !events {
		return output
	}
	return strings.TrimSpace(b.String())
}

// said returns the text of an event of an agent, or of any agent for "", and whether it continues
// the previous one on the same line.
func (e event) said(agent string) (text string, part bool) {
	of := func(name string) bool { return agent == "" || agent == name }
	switch {
	case of("gemini") && e.Type == "message" && e.Role == "assistant":
		return plain(e.Content), true
	case of("claude") && e.Type == "result":
		return plain(e.Result), false
	case of("codex") && e.Type == "item.completed" && e.Item.Type == "agent_message":
		return e.Item.Text, false
	case of("opencode") && e.Type == "text" && e.Part.Type == "text":
		return e.Part.Text, false
	}
	return "", false
}

// Promise returns the line by which a coder declares the work done; the nonce is the loop's.
func Promise(nonce string) string { return "<promise>" + nonce + "</promise>" }

// Promised reports whether a line of its own is the promise. It is false without a nonce.
func Promised(said, nonce string) bool {
	if nonce == "" {
		return false
	}
	for line := range strings.Lines(said) {
		if strings.TrimSpace(line) == Promise(nonce) {
			return true
		}
	}
	return false
}
