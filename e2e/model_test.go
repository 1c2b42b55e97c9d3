package e2e

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// model is a model server for the real agents. It plays turns in any of their protocols and records
// the requests. Its position in a turn depends on that turn alone, so the agents' side calls for
// titles and summaries disturb nothing.
type model struct {
	URL     string
	Stalled chan struct{} // receives once for each request that a stall step keeps waiting

	mu       sync.Mutex
	turns    []*turn
	bare     []*turn // for requests that offer no tools
	summary  string
	requests []request
}

// turn is the model's reaction to a user's text: each request gets the next step.
type turn struct {
	On    string // a part of the user's text; if several match, the last counts
	Steps []step
}

// step is one answer of the model. A step without calls ends the turn.
type step struct {
	Say   string
	Calls []call
	Used  int            // tokens that the answer claims to have read; 0 means a thousand
	Stall bool           // never answer
	Quote *regexp.Regexp // unless nil, also repeats the user's last text that it matches

	Before func()             // unless nil, called before the answer
	Decide func(request) step // unless nil, returns the step to take instead
}

type call struct {
	Tool string
	Args map[string]any
}

// request is a request to the model.
type request struct {
	Path  string
	Body  string
	Said  []said
	Tools int // how many were offered
	Kind  string
}

// Kinds of answers to a request.
const (
	stepped = "step"    // the next of a turn
	aside   = "aside"   // a title or the like
	summed  = "summary" // of what was said so far
	beyond  = "beyond"  // no turn had a step left
)

// said is one text of a conversation; Role is system, user, assistant or tool.
type said struct{ Role, Text string }

// text returns the words of the roles, or of all without any.
func (r request) text(roles ...string) string {
	var b strings.Builder
	for _, s := range r.Said {
		if len(roles) == 0 || slices.Contains(roles, s.Role) {
			b.WriteString(s.Text + "\n")
		}
	}
	return b.String()
}

// protocol is one protocol of requests to a model.
type protocol struct {
	path *regexp.Regexp
	// returns the conversation, the number of tools, and whether to stream
	read  func([]byte) ([]said, int, bool)
	write func(s step, id string) (stream []sent, whole any)
}

// sent is one of a stream of server-sent events.
type sent struct {
	name string
	data any
}

type (
	fields = map[string]any
	list   = []any
)

var protocols = []protocol{
	{regexp.MustCompile(`/chat/completions$`), readChat, writeChat},
	{regexp.MustCompile(`/responses$`), readResponses, writeResponses},
	{regexp.MustCompile(`/messages$`), readMessages, writeMessages},
	{regexp.MustCompile(`:(streamG|g)enerateContent$`), readContents, writeContents},
}

// summaryAsked matches the agents' request for a summary of the conversation.
var summaryAsked = regexp.MustCompile(`(?i)detailed summary|CONTEXT CHECKPOINT COMPACTION|anchored summary`)

// injected matches Reverie's context in a conversation; no turn begins with it.
var injected = regexp.MustCompile(`(?s)<reverie-memory.*?</reverie-memory>`)

// newModel serves the turns on a listener until the test ends.
func newModel(t *testing.T, l net.Listener, turns ...turn) *model {
	t.Helper()
	m := &model{URL: "http://" + l.Addr().String(), Stalled: make(chan struct{}, 100), summary: "It was summed up."}
	m.play(turns...)
	s := httptest.NewUnstartedServer(m)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return m
}

// play adds turns.
func (m *model) play(turns ...turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range turns {
		m.turns = append(m.turns, &t)
	}
}

// playBare sets the turn for requests that offer no tools.
func (m *model) playBare(t turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bare = []*turn{&t}
}

// forget drops the turns.
func (m *model) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns = nil
}

// heard returns the requests so far and forgets them.
func (m *model) heard() []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.requests
	m.requests = nil
	return all
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	i := slices.IndexFunc(protocols, func(p protocol) bool { return p.path.MatchString(r.URL.Path) })
	if i < 0 || r.Method != http.MethodPost {
		m.mu.Lock()
		m.requests = append(m.requests, request{Path: r.URL.Path, Body: string(body), Kind: aside})
		m.mu.Unlock()
		countTokens(w, r)
		return
	}
	p := protocols[i]
	texts, tools, stream := p.read(body)
	s, id := m.answer(request{Path: r.URL.Path, Body: string(body), Said: texts, Tools: tools})
	if s.Before != nil {
		s.Before()
	}
	if s.Stall {
		m.Stalled <- struct{}{}
		<-r.Context().Done()
		return
	}
	events, whole := p.write(s, id)
	if stream || strings.Contains(r.URL.Path, ":stream") {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			if e.name != "" {
				fmt.Fprintf(w, "event: %s\n", e.name)
			}
			fmt.Fprintf(w, "data: %s\n\n", asJSON(e.data))
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(asJSON(whole))
}

// countTokens answers requests outside of the protocols.
func countTokens(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		w.Write(asJSON(fields{"input_tokens": 1000}))
	case strings.HasSuffix(r.URL.Path, ":countTokens"):
		w.Write(asJSON(fields{"totalTokens": 1000}))
	case strings.HasSuffix(r.URL.Path, "/models"):
		w.Write(asJSON(fields{"object": "list", "data": list{}}))
	default:
		w.WriteHeader(http.StatusNotFound)
		w.Write(asJSON(fields{"error": fields{"message": "no such thing"}}))
	}
}

// answer chooses the step for a request and records the request.
func (m *model) answer(r request) (step, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.choose(&r)
	if s.Quote != nil {
		if all := s.Quote.FindAllString(html.UnescapeString(r.text("user")), -1); len(all) > 0 {
			s.Say += all[len(all)-1]
		}
	}
	m.requests = append(m.requests, r)
	return s, fmt.Sprintf("scripted%d", len(m.requests)) + fmt.Sprintf("x%d", len(r.Body))
}

func (m *model) choose(r *request) step {
	if i := slices.IndexFunc(r.Said, func(s said) bool { return s.Role == "user" && summaryAsked.MatchString(s.Text) }); i >= 0 {
		r.Kind = summed
		return step{Say: m.summary}
	}
	user := injected.ReplaceAllString(html.UnescapeString(r.text("user")), "")
	var now *turn
	last := -1
	turns := m.turns
	if r.Tools == 0 {
		turns = m.bare
	}
	for _, t := range turns {
		if i := strings.LastIndex(user, t.On); i > last {
			now, last = t, i
		}
	}
	if r.Tools == 0 && now == nil {
		r.Kind = aside
		return step{Say: `{"title": "A talk"}`}
	}
	if now == nil || len(now.Steps) == 0 {
		r.Kind = beyond
		return step{Say: "There is nothing left to do."}
	}
	r.Kind = stepped
	s := now.Steps[0]
	now.Steps = now.Steps[1:]
	if s.Decide != nil {
		return s.Decide(*r)
	}
	return s
}

func (s step) used() int {
	if s.Used == 0 {
		return 1000
	}
	return s.Used
}

func asJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// texts finds the text in a field that is a string or a list of parts.
func texts(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var parts []struct {
		Text    string
		Content json.RawMessage
	}
	json.Unmarshal(raw, &parts)
	var all []string
	for _, p := range parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
		if len(p.Content) > 0 { // the result of a tool among the user's parts
			all = append(all, texts(p.Content))
		}
	}
	return strings.Join(all, "\n")
}

// OpenAI's chat completions, which OpenCode speaks.

func readChat(body []byte) ([]said, int, bool) {
	var q struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools  []json.RawMessage
		Stream bool
	}
	json.Unmarshal(body, &q)
	var all []said
	for _, m := range q.Messages {
		all = append(all, said{m.Role, texts(m.Content)})
	}
	return all, len(q.Tools), q.Stream
}

func writeChat(s step, id string) ([]sent, any) {
	message := fields{"role": "assistant", "content": s.Say}
	finish := "stop"
	var calls list
	for i, c := range s.Calls {
		finish = "tool_calls"
		calls = append(calls, fields{"index": i, "id": fmt.Sprintf("call_%s_%d", id, i), "type": "function",
			"function": fields{"name": c.Tool, "arguments": string(asJSON(c.Args))}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	usage := fields{"prompt_tokens": s.used(), "completion_tokens": 50, "total_tokens": s.used() + 50}
	chunk := func(choices list, usage any) sent {
		return sent{data: fields{"id": id, "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": choices, "usage": usage}}
	}
	return []sent{
			chunk(list{fields{"index": 0, "delta": message, "finish_reason": nil}}, nil),
			chunk(list{fields{"index": 0, "delta": fields{}, "finish_reason": finish}}, nil),
			chunk(list{}, usage),
		}, fields{"id": id, "object": "chat.completion", "created": 1, "model": "scripted", "usage": usage,
			"choices": list{fields{"index": 0, "message": message, "finish_reason": finish}}}
}

// OpenAI's responses, which Codex speaks. Like most of Codex's newer models ours calls tools from
// JavaScript programs.

// programTool matches a tool of programs in the description of exec.
var programTool = regexp.MustCompile("(?m)^### `(\\w+)`")

// reachNothing are the tools that Codex cannot turn off. Its sandbox refuses the patches.
var reachNothing = []string{"wait", "apply_patch", "clock__curr_time", "list_mcp_resource_templates", "list_mcp_resources", "read_mcp_resource"}

func readResponses(body []byte) ([]said, int, bool) {
	var q struct {
		Instructions string
		Input        []struct {
			Type, Role string
			Content    json.RawMessage
			Output     json.RawMessage
			Tools      []struct {
				Tools []struct{ Name, Description string }
			}
		}
		Tools  []json.RawMessage
		Stream bool
	}
	json.Unmarshal(body, &q)
	all, tools := []said{{"system", q.Instructions}}, len(q.Tools)
	for _, i := range q.Input {
		switch {
		case i.Role == "developer":
			all = append(all, said{"system", texts(i.Content)})
		case i.Role != "":
			all = append(all, said{i.Role, texts(i.Content)})
		case len(i.Output) > 0:
			all = append(all, said{"tool", texts(i.Output)})
		}
		for _, space := range i.Tools {
			for _, tool := range space.Tools {
				names := [][]string{{"", tool.Name}}
				if tool.Name == "exec" {
					names = programTool.FindAllStringSubmatch(tool.Description, -1)
				}
				for _, name := range names {
					if !slices.Contains(reachNothing, name[1]) {
						tools++
					}
				}
			}
		}
	}
	return all, tools, q.Stream
}

func writeResponses(s step, id string) ([]sent, any) {
	var items list
	if s.Say != "" {
		items = append(items, fields{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
			"content": list{fields{"type": "output_text", "text": s.Say, "annotations": list{}}}})
	}
	if len(s.Calls) > 0 {
		var calls []string
		for _, c := range s.Calls {
			args := asJSON(c.Args)
			if input, free := c.Args["input"]; free { // of a tool without named arguments
				args = asJSON(input)
			}
			calls = append(calls, fmt.Sprintf("tools.%s(%s)", c.Tool, args))
		}
		items = append(items, fields{"type": "custom_tool_call", "id": "fc_" + id, "status": "completed", "call_id": "call_" + id, "name": "exec",
			"input": fmt.Sprintf("for (const r of await Promise.all([%s])) text(r.output ?? r);", strings.Join(calls, ", "))})
	}
	response := fields{"id": "resp_" + id, "object": "response", "created_at": 1, "model": "scripted", "status": "completed",
		"output": items, "usage": fields{"input_tokens": s.used(), "output_tokens": 50, "total_tokens": s.used() + 50,
			"input_tokens_details": fields{"cached_tokens": 0}, "output_tokens_details": fields{"reasoning_tokens": 0}}}
	events := []sent{{"response.created", fields{"type": "response.created", "response": fields{"id": "resp_" + id}}}}
	for i, item := range items {
		events = append(events,
			sent{"response.output_item.added", fields{"type": "response.output_item.added", "output_index": i, "item": item}},
			sent{"response.output_item.done", fields{"type": "response.output_item.done", "output_index": i, "item": item}})
	}
	return append(events, sent{"response.completed", fields{"type": "response.completed", "response": response}}), response
}

// Anthropic's messages, which Claude Code speaks.

func readMessages(body []byte) ([]said, int, bool) {
	var q struct {
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools  []json.RawMessage
		Stream bool
	}
	json.Unmarshal(body, &q)
	all := []said{{"system", texts(q.System)}}
	for _, m := range q.Messages {
		all = append(all, said{m.Role, texts(m.Content)})
	}
	return all, len(q.Tools), q.Stream
}

func writeMessages(s step, id string) ([]sent, any) {
	var blocks list
	var parts []sent
	part := func(block fields, delta fields, full fields) {
		i := len(blocks)
		blocks = append(blocks, full)
		parts = append(parts,
			sent{"content_block_start", fields{"type": "content_block_start", "index": i, "content_block": block}},
			sent{"content_block_delta", fields{"type": "content_block_delta", "index": i, "delta": delta}},
			sent{"content_block_stop", fields{"type": "content_block_stop", "index": i}})
	}
	reason := "end_turn"
	if s.Say != "" {
		part(fields{"type": "text", "text": ""}, fields{"type": "text_delta", "text": s.Say}, fields{"type": "text", "text": s.Say})
	}
	for i, c := range s.Calls {
		reason = "tool_use"
		use := fields{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", id, i), "name": c.Tool, "input": fields{}}
		full := fields{"type": "tool_use", "id": use["id"], "name": c.Tool, "input": c.Args}
		part(use, fields{"type": "input_json_delta", "partial_json": string(asJSON(c.Args))}, full)
	}
	usage := fields{"input_tokens": s.used(), "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	message := fields{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "scripted", "content": list{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage}
	events := append([]sent{{"message_start", fields{"type": "message_start", "message": message}}}, parts...)
	events = append(events,
		sent{"message_delta", fields{"type": "message_delta", "delta": fields{"stop_reason": reason, "stop_sequence": nil}, "usage": usage}},
		sent{"message_stop", fields{"type": "message_stop"}})
	return events, fields{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "scripted", "content": blocks,
		"stop_reason": reason, "stop_sequence": nil, "usage": usage}
}

// Google's generateContent, which Gemini CLI speaks.

func readContents(body []byte) ([]said, int, bool) {
	type content struct {
		Role  string
		Parts []struct {
			Text             string
			FunctionResponse json.RawMessage
		}
	}
	var q struct {
		SystemInstruction content
		Contents          []content
		Tools             []struct{ FunctionDeclarations []json.RawMessage }
	}
	json.Unmarshal(body, &q)
	tools := 0
	for _, t := range q.Tools {
		tools += len(t.FunctionDeclarations)
	}
	var all []said
	for _, c := range append([]content{q.SystemInstruction}, q.Contents...) {
		role := c.Role
		switch {
		case len(all) == 0:
			role = "system"
		case role == "model":
			role = "assistant"
		}
		var parts []string
		for _, p := range c.Parts {
			if len(p.FunctionResponse) > 0 {
				all = append(all, said{"tool", string(p.FunctionResponse)})
				continue
			}
			parts = append(parts, p.Text)
		}
		all = append(all, said{role, strings.Join(parts, "\n")})
	}
	return all, tools, false
}

func writeContents(s step, id string) ([]sent, any) {
	var parts list
	if s.Say != "" {
		parts = append(parts, fields{"text": s.Say})
	}
	for i, c := range s.Calls {
		parts = append(parts, fields{"functionCall": fields{"id": fmt.Sprintf("call_%s_%d", id, i), "name": c.Tool, "args": c.Args}})
	}
	whole := fields{"responseId": id, "modelVersion": "scripted",
		"candidates":    list{fields{"index": 0, "finishReason": "STOP", "content": fields{"role": "model", "parts": parts}}},
		"usageMetadata": fields{"promptTokenCount": s.used(), "candidatesTokenCount": 50, "totalTokenCount": s.used() + 50}}
	return []sent{{data: whole}}, whole
}
