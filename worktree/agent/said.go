package agent

import "strings"

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
