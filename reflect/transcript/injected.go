package transcript

import "strings"

// ours begins the name of every tag around text that Reverie gives to an agent.
const ours = "reverie-"

// injectedTag reports whether an element is one that clients and their hooks put into text of the user's role.
func injectedTag(name string) bool {
	switch name {
	case "system-reminder", "user-prompt-submit-hook", "ide_opened_file", "ide_selection",
		"ide_diagnostics", "new-diagnostics", "task-notification", "agent-notification",
		"bash-notification", "teammate-message", "local-command-caveat": // Claude Code
		return true
	case "environment_context", "user_instructions", "turn_aborted", "skill",
		"subagent_notification", "hook_prompt", "model_switch", "collaboration_mode",
		"personality_spec", "apps_instructions", "plugins_instructions", "skills_instructions",
		"permissions instructions", "INSTRUCTIONS": // Codex
		return true
	case "hook_context", "session_context": // Gemini CLI
		return true
	}
	return false
}

// injectedStarts begin texts of the user's role that no person wrote: notices of clients and of
// widely used OpenCode plugins. The whole text is theirs.
var injectedStarts = []string{
	"Operation stopped by hook:", "UserPromptSubmit operation blocked by hook", "Stop hook feedback:",
	"# AGENTS.md instructions for ",
	"[SYSTEM DIRECTIVE:", "[Category+Skill Reminder]", "[EDIT ERROR - ", "[task CALL FAILED",
	"[EMERGENCY CONTEXT WINDOW WARNING]", "<!-- OMO_INTERNAL_INITIATOR",
}

// outputTag reports whether an element is one that clients and hooks append to what a tool gave back.
func outputTag(name string) bool { return name == "system-reminder" || name == "hook_context" }

// split parts a text of the user's role: own is what is left when injected elements are cut out.
// Without any, own is s unchanged. An element that is not closed is taken to reach the end if it
// is ours or begins the text; elsewhere it may be something a person wrote about.
func split(s string) (own string, injected []string) {
	for _, start := range injectedStarts {
		if strings.HasPrefix(strings.TrimSpace(s), start) {
			return "", []string{strings.TrimSpace(s)}
		}
	}
	pieces, injected := excise(s, injectedTag, true)
	if len(injected) == 0 {
		return s, nil
	}
	var kept []string
	for _, piece := range pieces {
		if piece = strings.TrimSpace(piece); piece != "" {
			kept = append(kept, piece)
		}
	}
	return strings.Join(kept, "\n"), injected
}

// Own is what a person wrote of a text of the user's role: without what clients, hooks and we put into it.
func Own(text string) string {
	own, _ := split(text)
	return own
}

// withoutInjected returns s, a tool's output, without what clients and hooks added to it.
func withoutInjected(s string) string {
	pieces, added := excise(s, outputTag, false)
	if len(added) == 0 {
		return s
	}
	return strings.TrimRight(strings.Join(pieces, ""), "\r\n")
}

// excise cuts elements with the given tags, and ours, out of s: what is left, and what was cut.
// With leading, one that begins s need not be closed. The cost is linear in s for each kind of tag.
func excise(s string, tags func(string) bool, leading bool) (left, cut []string) {
	unclosed := map[string]bool{}
	from := 0 // start of the piece not yet kept
	for i := 0; i < len(s); {
		at := strings.IndexByte(s[i:], '<')
		if at < 0 {
			break
		}
		i += at
		name := tagName(s[i+1:], tags)
		if name == "" || unclosed[name] {
			i++
			continue
		}
		end := strings.Index(s[i:], "</"+name+">")
		if strings.HasPrefix(name, ours) {
			end = strings.LastIndex(s[i:], "</"+name+">") // whatever is inside cannot close it early
		}
		switch {
		case end >= 0:
			end += i + len("</"+name+">")
		case strings.HasPrefix(name, ours), leading && strings.TrimSpace(s[:i]) == "":
			end = len(s)
		default:
			unclosed[name] = true
			i++
			continue
		}
		left, cut = append(left, s[from:i]), append(cut, s[i:end])
		i, from = end, end
	}
	return append(left, s[from:]), cut
}

// tagName returns the name of the element that begins after a '<', if it is one of tags or ours.
func tagName(s string, tags func(string) bool) string {
	s = s[:min(len(s), maxName)]
	if end := strings.IndexByte(s, '>'); end >= 0 {
		s = s[:end]
	}
	if tags(s) {
		return s
	}
	if i := strings.IndexAny(s, " \t\r\n/"); i >= 0 {
		s = s[:i]
	}
	if tags(s) || strings.HasPrefix(s, ours) {
		return s
	}
	return ""
}

// element returns what stands inside the first <name>…</name> of s. Not closed, it reaches to the end.
func element(s, name string) (string, bool) {
	_, rest, found := strings.Cut(s, "<"+name+">")
	if !found {
		return "", false
	}
	inner, _, _ := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(inner), true
}
