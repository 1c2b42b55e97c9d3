package transcript

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// ours is the prefix of every tag around Reverie's text for an agent.
const ours = "reverie-"

// injectedTags names elements, in lower case, that clients and their hooks put into text of the
// user's role. Other compound names, such as unknown_context, count at the beginning of a line.
var injectedTags = pattern.NewWords(`
	system-reminder user-prompt-submit-hook ide_opened_file ide_selection ide_diagnostics
	new-diagnostics task-notification agent-notification bash-notification teammate-message
	local-command-caveat

	environment_context user_instructions turn_aborted skill subagent_notification hook_prompt
	model_switch collaboration_mode personality_spec apps_instructions plugins_instructions
	skills_instructions instructions

	hook_context session_context`)

// injectedStarts begin texts of the user's role that no person wrote: notices of clients and of
// widely used OpenCode plugins. The whole text is theirs, also behind an element.
var injectedStarts = []string{
	"Read the output file to retrieve the result: ", "Full transcript available at: ", "The user wants to clarify these questions.",
	"Operation stopped by hook:", "UserPromptSubmit operation blocked by hook", "Stop hook feedback:",
	"# AGENTS.md instructions for ", "[Image: source: ", "Base directory for this skill: ",
	"[SYSTEM DIRECTIVE:", "[Category+Skill Reminder]", "[EDIT ERROR - ", "[task CALL FAILED",
	"Implement the plan as specified, it is attached for your reference.", // of Cursor's button
	"[EMERGENCY CONTEXT WINDOW WARNING]", "<!-- OMO_INTERNAL_INITIATOR", "<qwen:",
}

// HeldUp begins the reason that Reverie's guards give for refusing a call, or for asking about it.
const HeldUp = "reverie: this call breaks a rule of this repository: "

// heldUp reports whether the result of a call is the word of a hook that refused it: the call never
// ran, and no person spoke.
func heldUp(text string) bool {
	text = strings.TrimSpace(text)
	for _, start := range []string{HeldUp, "Command blocked by PreToolUse hook:", "Tool execution blocked:", "Denied by preToolUse hook:"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	tool, rest, ok := strings.Cut(strings.TrimPrefix(text, "PreToolUse:"), " hook error:")
	return ok && strings.HasPrefix(text, "PreToolUse:") && rest != "" && !strings.Contains(tool, " ")
}

// outputTag reports whether clients and hooks append an element to a tool's output.
func outputTag(name string) bool { return name == "system-reminder" || name == "hook_context" }

// wrote holds the parts of one message in the user's role.
type wrote struct {
	own      []string // the rest without injected elements, none blank
	injected []string
	mixed    bool // foreign text was injected, so the client decides the borders of own
}

// partMessage splits the texts of one message in the user's role. Quoted content, such as a file or
// another agent's answer, may hold tags itself. So an element ends at the last tag that closes it.
// A text in which its tag appears again, in any spelling, is injected as a whole.
//
// The same goes for a text with an unmatched closing tag, and for every text up to the one that
// closes an earlier text's element. An unclosed element extends to the end if it is ours or begins
// the text. The cost is linear in the texts.
func partMessage(texts ...string) (w wrote) {
	parts := make([]parted, len(texts))
	for i, t := range texts {
		parts[i] = part(t)
	}
	for i, p := range parts {
		for name := range p.open {
			for j := len(parts) - 1; j > i; j-- {
				if parts[j].closed[name] {
					for k := i; k <= j; k++ {
						parts[k].whole = true
					}
					break
				}
			}
		}
	}
	for i, p := range parts {
		if p.whole {
			if t := strings.TrimSpace(texts[i]); t != "" {
				w.injected, w.mixed = append(w.injected, t), true
			}
			continue
		}
		w.mixed = w.mixed || p.mixed
		w.injected = append(w.injected, p.injected...)
		own := texts[i]
		if len(p.injected) > 0 {
			own = strings.Join(p.own, "\n")
		}
		statement, command := typedCommand(own)
		switch {
		case statement != "":
			w.own = append(w.own, statement)
		case command, noticed(own):
			w.injected = append(w.injected, own)
		case strings.TrimSpace(own) != "":
			w.own = append(w.own, own)
		}
	}
	return w
}

// events returns the events of a message, as run.user emits them.
func (w wrote) events(base Event, origin Origin) (all []Event) {
	mixed := base.Mixed || w.mixed
	base.Kind, base.Mixed = User, false
	if len(w.injected) > 0 {
		base.Origin, base.Text = Injected, strings.Join(w.injected, "\n")
		all = append(all, base)
	}
	if len(w.own) > 0 {
		base.Origin, base.Mixed, base.Text = origin, mixed, strings.Join(w.own, "\n")
		all = append(all, base)
	}
	return all
}

// typedCommand reports whether a text is a command of Reverie's that a person typed to an agent:
// "/reverie:recall words", "$reverie recall words" in Codex, or "/reverie recall words" in Copilot
// CLI. Only the words of remember are a statement.
func typedCommand(text string) (statement string, command bool) {
	text = strings.TrimSpace(text)
	rest, command := strings.CutPrefix(text, "/reverie:")
	if !command {
		rest, command = strings.CutPrefix(text, "$reverie ")
	}
	if !command {
		rest, command = strings.CutPrefix(text, "/reverie ")
	}
	if words, remember := strings.CutPrefix(rest, "remember "); command && remember {
		statement = strings.TrimSpace(words)
	}
	return statement, command
}

// parted is one text of a message.
type parted struct {
	own, injected []string
	whole         bool            // all of it is injected
	mixed         bool            // as in wrote
	open, closed  map[string]bool // names of unclosed elements, and all names with a closing tag
}

// noticed reports whether a text is a client's notice, by its beginning.
func noticed(s string) bool {
	s = strings.TrimSpace(s)
	return slices.ContainsFunc(injectedStarts, func(start string) bool { return strings.HasPrefix(s, start) })
}

// part splits one text.
func part(s string) (p parted) {
	if noticed(s) {
		return parted{whole: true}
	}
	all := tags(s)
	if len(all) == 0 {
		return p
	}
	p.open, p.closed = map[string]bool{}, map[string]bool{}
	after := map[string]int{}     // remaining tags of a name
	lastEnd := map[string]int{}   // after its last regular closing tag; 0: none
	starting := map[string]bool{} // possible element names in the text
	for _, t := range all {
		after[t.name]++
		if t.closing {
			p.closed[t.name] = true
		}
		if t.closing && t.plain {
			lastEnd[t.name] = t.end
		}
		if t.starts() {
			starting[t.name] = true
		}
	}
	from := 0
	for _, t := range all {
		after[t.name]--
		if t.at < from {
			continue // inside an element
		}
		own := strings.HasPrefix(t.name, ours)
		end := lastEnd[t.name]
		switch {
		case t.closing && (t.known || starting[t.name]) && !own:
			p.whole = true
			return p
		case !t.starts():
			continue
		case end > t.at && (own || after[t.name] == 1):
			p.mixed = p.mixed || !own
		case own, !p.closed[t.name] && strings.TrimSpace(s[:t.at]) == "":
			end, p.mixed = len(s), true
			p.open[t.name] = true
		case p.closed[t.name]:
			p.whole = true
			return p
		default: // a person's text about it, or a truncated one
			p.mixed, p.open[t.name] = true, true
			continue
		}
		p.keep(s[from:t.at])
		p.injected = append(p.injected, s[t.at:end])
		from = end
	}
	p.keep(s[from:])
	return p
}

func (p *parted) keep(s string) {
	if s = strings.TrimSpace(s); s != "" {
		p.own = append(p.own, s)
	}
}

// tag is a tag in a text, or text that a model may read as one.
type tag struct {
	at, end int    // end is after the name, or after a plain closing tag
	name    string // in lower case
	closing bool
	plain   bool // spelled as clients do
	known   bool // in injectedTags, or ours
	leads   bool // first on its line
}

// starts reports whether the tag begins an element.
func (t tag) starts() bool { return !t.closing && t.plain && (t.known || t.leads) }

// openers lists the spellings of "<", each with whether it is the plain one.
var openers = []string{"<", "&lt;", "&lt", "&#60;", "&#060;", "&#x3c;", "&#x03c;", `\u003c`, `\x3c`}

// tags returns the tags in s whose names clients use, or may come to use.
func tags(s string) (all []tag) {
	leads := true // only blanks precede this on its line
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n', '\r':
			leads = true
			continue
		case ' ', '\t':
			continue
		case '<', '&', '\\':
			if t, ok := tagAt(s, i); ok {
				t.leads = leads
				all = append(all, t)
			}
		}
		leads = false
	}
	return all
}

// tagAt reads the tag that begins at i.
func tagAt(s string, i int) (t tag, ok bool) {
	rest := s[i:min(len(s), i+maxName)]
	head := ""
	for _, o := range openers {
		if len(rest) > len(o) && strings.EqualFold(rest[:len(o)], o) && len(o) > len(head) {
			head = o
		}
	}
	if head == "" {
		return t, false
	}
	inner := rest[len(head):]
	name := strings.TrimLeft(inner, " \t\r\n/\\")
	t.closing = strings.Contains(inner[:len(inner)-len(name)], "/")
	n := 0
	for n < len(name) && isNameByte(name[n]) {
		n++
	}
	written := name[:n]
	t.at, t.name = i, strings.ToLower(written)
	t.end = i + len(rest) - len(name) + n
	t.known = injectedTags.Has(t.name) || strings.HasPrefix(t.name, ours)
	t.plain = head == "<"
	switch {
	case t.name == "permissions" && strings.HasPrefix(name[n:], " instructions"):
		t.known = true
	case t.known:
	case !strings.ContainsAny(strings.Trim(t.name, "-_"), "-_"):
		return t, false
	}
	if t.closing {
		close := name[n:]
		if t.name == "permissions" {
			close = strings.TrimPrefix(close, " instructions")
		}
		t.plain = t.plain && inner[:len(inner)-len(name)] == "/" && strings.HasPrefix(close, ">")
		if t.plain {
			t.end = i + len(rest) - len(close) + 1
		}
	}
	return t, true
}

func isNameByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' || c == ':'
}

// onlyOurs reports whether an injected text is exactly one whole element of Reverie's.
func onlyOurs(text string) bool {
	p := part(text)
	return !p.whole && !p.mixed && len(p.injected) > 0 && len(p.own) == 0
}

// Bare returns a text of any role without the known elements of clients, their hooks and Reverie.
// Only Own returns a person's words.
func Bare(text string) string {
	pieces, _ := excise(text, knownTag, true)
	return strings.Join(pieces, "\n")
}

func knownTag(name string) bool {
	name = strings.ToLower(name)
	return injectedTags.Has(name) || name == "permissions instructions"
}

// Own returns the person's words in a text of the user's role, without the additions of clients,
// hooks and Reverie.
func Own(text string) string {
	own, _ := Prompt(text)
	return own
}

// Prompt returns Own, and whether the text was mixed in the sense of Event.Mixed.
func Prompt(text string) (own string, mixed bool) {
	w := partMessage(text)
	return strings.Join(w.own, "\n"), w.mixed
}

// withoutInjected returns s, a tool's output, without the additions of clients and hooks.
func withoutInjected(s string) string {
	pieces, added := excise(s, outputTag, false)
	if len(added) == 0 {
		return s
	}
	return strings.TrimRight(strings.Join(pieces, ""), "\r\n")
}

// excise cuts elements with the given tags, and Reverie's, out of s, and returns the rest and the
// cut parts. With leading, one that begins s need not be closed. The cost is linear in s for each
// kind of tag.
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
			end = strings.LastIndex(s[i:], "</"+name+">") // so that nothing inside can close it early
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

// tagName returns the name of the element that begins after a '<', if it is in tags or Reverie's.
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

// element returns the content of the first <name>…</name> of s. An unclosed one extends to the end.
func element(s, name string) (string, bool) {
	_, rest, found := strings.Cut(s, "<"+name+">")
	if !found {
		return "", false
	}
	inner, _, _ := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(inner), true
}
