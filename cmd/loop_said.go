package cmd

import (
	"encoding/json"
	"strings"
)

// agentEvent is one line of what an agent prints that is asked for a stream of events. Each agent has its own way to say that the
// model has said something:
//
//	claude    {"type":"result","result":"…"}                                        the last text of the session
//	codex     {"type":"item.completed","item":{"type":"agent_message","text":"…"}}
//	gemini    {"type":"message","role":"assistant","content":"…","delta":true}      a part of a text
//	opencode  {"type":"text","part":{"type":"text","text":"…"}}
type agentEvent struct {
	Type    string
	Result  string
	Role    string
	Content any
	Item    agentText
	Part    agentText
}

type agentText struct{ Type, Text string }

// agentSaid is what the model said to the user, of the output of an agent with events: what its tools printed, and what it wrote into files, is
// not. Only that agent's own events say something; those of any where a command has no name, "". An output without events is that text itself.
func agentSaid(agent, output string) string {
	switch agent {
	case "", "claude", "codex", "gemini", "opencode":
	default:
		return output
	}
	var b strings.Builder
	events := false
	for line := range strings.Lines(output) {
		var e agentEvent
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, `{`) || json.Unmarshal([]byte(line), &e) != nil || e.Type == "" {
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

// said is the text of an event of an agent's, or of any agent's for "", and whether it follows the one before without a line between.
func (e agentEvent) said(agent string) (text string, part bool) {
	of := func(name string) bool { return agent == "" || agent == name }
	switch {
	case of("gemini") && e.Type == "message" && e.Role == "assistant":
		text, _ = e.Content.(string)
		return text, true
	case of("claude") && e.Type == "result":
		return e.Result, false
	case of("codex") && e.Type == "item.completed" && e.Item.Type == "agent_message":
		return e.Item.Text, false
	case of("opencode") && e.Type == "text" && e.Part.Type == "text":
		return e.Part.Text, false
	}
	return "", false
}
