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

// agentSaid is what the model said to the user, of an output with events: what its tools printed, and what it wrote into files, is not.
// An output without events is that text itself.
func agentSaid(output string) string {
	var b strings.Builder
	events := false
	for line := range strings.Lines(output) {
		var e agentEvent
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, `{`) || json.Unmarshal([]byte(line), &e) != nil || e.Type == "" {
			continue
		}
		events = true
		text, _ := e.Content.(string)
		switch {
		case e.Type == "message" && e.Role == "assistant":
			b.WriteString(text) // the parts of one text follow each other
			continue
		case e.Type == "result" && e.Result != "":
			text = e.Result
		case e.Type == "item.completed" && e.Item.Type == "agent_message":
			text = e.Item.Text
		case e.Type == "text" && e.Part.Type == "text":
			text = e.Part.Text
		default:
			text = ""
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	if !events {
		return output
	}
	return strings.TrimSpace(b.String())
}
