package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// codexItem is the payload of a response_item or an event_msg, or the item of item_completed, with
// all relevant fields.
type codexItem struct {
	Type      string
	Role      string
	ID        string
	Kind      string
	Name      string
	Namespace string
	CallID    string `json:"call_id"`
	Status    string
	Text      string
	Reason    string
	Message   string
	Content   codexContent
	Summary   []struct{ Text string }
	SumText   []string `json:"summary_text"`
	Passed    struct {
		Kinds []string `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`

	Arguments json.RawMessage // JSON in a string, or an object
	Input     string
	Output    codexOutput
	Action    struct {
		Command commandLine
		Dir     string `json:"working_directory"`
		Query   string
		URL     string
	}
	Query string

	Command    commandLine
	Cwd        string
	ExitCode   *int   `json:"exit_code"`
	Aggregated string `json:"aggregated_output"`
	Stdout     string
	Stderr     string
	Changes    map[string]struct {
		Type    string
		Diff    string `json:"unified_diff"`
		Content string
		MoveTo  string `json:"move_path"`
	}
	Success    *bool
	Server     string
	Tool       string
	Result     json.RawMessage
	Invocation struct {
		Server    string
		Tool      string
		Arguments json.RawMessage
	}

	Item *codexItem
}

// codexContent is a string or a list of parts.
type codexContent []struct{ Type, Text string }

func (c *codexContent) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = codexContent{{Text: text}}
		return nil
	}
	var parts []struct{ Type, Text string }
	_ = decode(b, &parts)
	*c = parts
	return nil
}

func (c codexContent) text() string {
	var texts []string
	for _, part := range c {
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n")
}

// item reads an item to or from the model.
func (p *codex) item(b []byte, at time.Time, compaction bool) {
	var it codexItem
	if !p.parse(b, &it) {
		return
	}
	switch it.Type {
	case "message":
		p.message(&it, at, compaction)
	case "reasoning":
		for _, s := range it.Summary {
			p.say(fromItem, Reasoning, at, s.Text)
		}
	case "function_call", "custom_tool_call":
		switch {
		case it.Type == "custom_tool_call" && it.Name == "exec":
			p.startProgram(&it, at)
		case it.Name == "wait" && p.program != nil:
			p.resumeProgram(&it)
		default:
			p.call(it.CallID, it.callEvent(), at)
		}
	case "local_shell_call":
		e := Event{Kind: Call, Tool: "local_shell", Action: Run, Command: string(it.Action.Command), Dir: it.Action.Dir}
		p.call(cmp.Or(it.CallID, it.ID), e, at)
	case "web_search_call":
		e := Event{Kind: Call, Tool: "web_search", Action: Fetch, Text: cmp.Or(it.Action.Query, it.Action.URL)}
		p.call(it.ID, e, at)
	case "function_call_output", "custom_tool_call_output":
		p.output(&it, at)
	default:
		p.stats.Ignored++
	}
}

func (p *codex) message(it *codexItem, at time.Time, compaction bool) {
	switch it.Role {
	case "assistant":
		if !compaction { // the compacted record tells it
			p.say(fromItem, Assistant, at, it.Content.text())
		}
	case "user":
		var own []string
		mixed := false
		for i, part := range it.Content {
			kind := ""
			if i < len(it.Passed.Kinds) {
				kind = it.Passed.Kinds[i]
			}
			text := part.Text
			switch {
			case part.Type == "input_image" || strings.HasPrefix(text, "<image name=") || text == "</image>":
				continue
			case kind != "" && !strings.HasPrefix(kind, "user."), strings.HasPrefix(strings.TrimSpace(text), "<user_shell_command>"):
				p.injected(fromItem, at, text)
				mixed = mixed || !onlyOurs(text)
				continue
			}
			own = append(own, text)
		}
		p.words(fromItem, at, mixed, own...)
	case "developer", "system":
		p.injected(fromItem, at, it.Content.text())
	default:
		p.stats.Ignored++
	}
}

// callEvent builds the Call of a function_call or a custom_tool_call.
func (it *codexItem) callEvent() Event {
	input := it.Arguments
	var inner string
	if json.Unmarshal(input, &inner) == nil {
		input = json.RawMessage(inner)
	}
	if it.Type == "custom_tool_call" {
		input, _ = json.Marshal(map[string]string{"input": it.Input})
	}
	name := it.Name
	if it.Namespace != "" {
		name = it.Namespace + "__" + name
	}
	return call(string(Codex), name, input)
}

// event reads an event in the client's view.
func (p *codex) event(b []byte, at time.Time) {
	var it codexItem
	if !p.parse(b, &it) {
		return
	}
	switch it.Type {
	case "item_completed":
		if it.Item == nil {
			p.bad(errors.New("payload.item: missing"))
			return
		}
		p.completed(it.Item, at)
	case "user_message":
		if it.Kind == "" || it.Kind == "plain" { // the item has instructions and environment
			p.words(fromEvent, at, false, it.Message)
		}
	case "agent_message":
		p.say(fromEvent, Assistant, at, it.Message)
	case "agent_reasoning":
		p.say(fromEvent, Reasoning, at, it.Text)
	case "turn_aborted":
		p.emit(Event{Kind: Error, Time: at, Outcome: Aborted, Text: cmp.Or(it.Reason, "aborted")})
	case "error":
		p.emit(Event{Kind: Error, Time: at, Outcome: Failed, Text: it.Message})
	case "exec_command_begin", "patch_apply_begin", "mcp_tool_call_begin":
		p.call(it.CallID, it.seen(), at)
	case "exec_command_end", "patch_apply_end", "mcp_tool_call_end":
		p.result(it.CallID, &it, at)
	default:
		p.stats.Ignored++
	}
}

// completed reads an item of newer rollouts.
func (p *codex) completed(it *codexItem, at time.Time) {
	switch it.Type {
	case "UserMessage":
		var texts []string
		for _, part := range it.Content {
			if part.Text != "" {
				texts = append(texts, part.Text)
			}
		}
		p.words(fromCompleted, at, false, texts...)
	case "AgentMessage":
		p.say(fromCompleted, Assistant, at, it.Content.text())
	case "Reasoning":
		for _, s := range it.SumText {
			p.say(fromCompleted, Reasoning, at, s)
		}
	case "CommandExecution", "FileChange", "McpToolCall":
		if p.program != nil && p.tools[it.ID] == nil {
			p.program.recorded = true
		}
		p.result(it.ID, it, at)
	case "WebSearch":
		p.call(it.ID, Event{Kind: Call, Tool: "web_search", Action: Fetch, Text: cmp.Or(it.Query, it.Action.Query)}, at)
	default:
		p.stats.Ignored++
	}
}

// seen builds the Call of a client's action, for rollouts without the model's call.
func (it *codexItem) seen() Event {
	switch {
	case len(it.Changes) > 0:
		e := Event{Kind: Call, Tool: "apply_patch", Action: Edit}
		e.Paths = slices.Sorted(maps.Keys(it.Changes))
		var olds, news []string
		for _, path := range e.Paths {
			change := it.Changes[path]
			old, new := parseDiff(change.Diff)
			switch change.Type {
			case "add":
				new = change.Content
			case "delete":
				old = change.Content
			}
			olds, news = append(olds, old), append(news, new)
			if change.MoveTo != "" {
				e.Paths = append(e.Paths, change.MoveTo)
			}
		}
		e.Old, e.New = strings.Join(olds, "\n"), strings.Join(news, "\n")
		return e
	case cmp.Or(it.Tool, it.Invocation.Tool) != "":
		args := it.Arguments
		if it.Invocation.Tool != "" {
			args = it.Invocation.Arguments
		}
		name := "mcp__" + cmp.Or(it.Server, it.Invocation.Server) + "__" + cmp.Or(it.Tool, it.Invocation.Tool)
		return call(string(Codex), name, args)
	}
	e := Event{Kind: Call, Tool: "exec_command", Action: Run, Command: string(it.Command), Dir: localPath(it.Cwd)}
	if patch, found := patchOf(e.Command); found {
		e = Event{Kind: Call, Tool: e.Tool, Action: Edit}
		e.Paths, e.Old, e.New = parsePatch(patch)
	}
	return e
}
