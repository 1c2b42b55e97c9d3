package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Event is one event of an agent.
type Event struct {
	Agent   string `json:"agent"`
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"`    // the agent's name for it
	Session string `json:"session"` // the agent's id
	Parent  string `json:"parent,omitempty"`
	// Subagent is the owner of Transcript, if not the session itself.
	Subagent   string `json:"subagent,omitempty"`
	Dir        string `json:"dir,omitempty"`        // the agent's folder, absolute
	Transcript string `json:"transcript,omitempty"` // the agent's file
	Prompt     string `json:"prompt,omitempty"`     // for Prompt: the user's text
	// Source is the cause, in the agent's words: startup, resume, auto, …
	Source string `json:"source,omitempty"`
	// Shell is the shell's agent, as "<agent>/<session>" if the session is known, or "".
	Shell   string          `json:"shell,omitempty"`
	Plugin  bool            `json:"plugin,omitempty"`  // delivered by our plugin, not by hooks of init
	Time    time.Time       `json:"time"`              // of arrival, by this machine's clock
	Payload json.RawMessage `json:"payload,omitempty"` // unchanged, or shortened
	Call    *Call           `json:"-"`                 // for Calling and Called
}

// Key returns the session's name: "<agent>/<id>".
func (e Event) Key() string { return e.Agent + "/" + e.Session }

var (
	// ErrPayload means that an agent's payload is not a JSON object that names a session.
	ErrPayload = errors.New("not a hook's payload")
	// ErrUnasked means that Reverie does not ask the agent for an event.
	ErrUnasked = errors.New("an event that is not asked for")
)

const (
	maxPayload = 256 << 10 // maximum bytes of a payload in the spool
	maxField   = 32 << 10  // maximum bytes of a field in the spool
	maxRead    = 8 << 20   // bytes of a payload
)

// fields are the agents' names for the data of an event. The first present one counts.
var fields = struct{ session, parent, subagent, dir, transcript, name, prompt, source []string }{
	session: []string{"session_id", "sessionID", "thread-id", "conversation_id"}, parent: []string{"parent_id", "parentID"}, subagent: []string{"agent_id"},
	dir: []string{"cwd"}, transcript: []string{"agent_transcript_path", "transcript_path"}, name: []string{"hook_event_name", "event", "type"},
	prompt: []string{"prompt"}, source: []string{"source", "trigger", "reason"},
}

// notified is Codex's name for the end of a turn in a notification, as opposed to a hook.
const notified = "agent-turn-complete"

// Decode parses an agent's payload. name is the event's name from the command line, or "" to use
// the payload's. From a payload that is too long it reads only the fields of an Event. It ignores
// fields that are not text. Errors wrap ErrPayload or ErrUnasked.
func (a Agent) Decode(name string, from io.Reader, now time.Time) (Event, error) {
	doc, err := io.ReadAll(io.LimitReader(from, maxRead))
	if err != nil {
		return Event{}, fmt.Errorf("read the payload: %w", err)
	}
	if len(doc) == maxRead {
		io.Copy(io.Discard, from) // the agent must be able to write all of it
	}
	doc = bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf"))
	found, whole, err := topStrings(doc)
	if err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	get := func(names []string) string {
		for _, name := range names {
			if s := found[name]; s != "" {
				return s
			}
		}
		return ""
	}
	e := Event{Agent: a.Name, Name: cmp.Or(name, get(fields.name)), Session: get(fields.session), Parent: get(fields.parent), Subagent: get(fields.subagent), Dir: get(fields.dir),
		Transcript: get(fields.transcript), Prompt: get(fields.prompt), Source: get(fields.source), Time: now.UTC()}
	if e.Session == "" {
		return e, fmt.Errorf("%w: it names no session", ErrPayload)
	}
	if e.Dir == "" && a.Spooled {
		var p struct {
			Roots []string `json:"workspace_roots"`
		}
		if json.Unmarshal(doc, &p) == nil && len(p.Roots) > 0 {
			e.Dir = p.Roots[0]
		}
	}
	if !filepath.IsAbs(e.Dir) {
		e.Dir = ""
	}
	if !filepath.IsAbs(e.Transcript) || a.Spooled {
		e.Transcript = ""
	}
	d, asked := a.delivery(e.Name)
	switch {
	case e.Name == notified && a.Name == "codex":
		e.Kind = Stop
	case !asked:
		return e, fmt.Errorf("%w: %q of %s", ErrUnasked, e.Name, a.Title)
	case d.Kind == Prompt && whole && e.Prompt == "" && a.Name == "qwen":
		// It repeats the event after each call.
		return e, fmt.Errorf("%w: %q without a prompt", ErrUnasked, e.Name)
	case d.Kind == Start && e.Source == "compact":
		e.Kind = Compacted // some agents begin the session again with the summary
	default:
		e.Kind = d.Kind
	}
	if e.Kind != Prompt { // elsewhere a field of that name was not typed now
		e.Prompt = ""
	}
	if whole {
		e.Payload = bytes.TrimSpace(doc)
	}
	if e.Kind == Calling || e.Kind == Called {
		e.Call = a.call(doc)
	}
	return e, nil
}

// topStrings returns the texts at the top of a JSON object by name. whole reports that the object
// was complete; from a truncated one it returns the texts before the cut.
func topStrings(doc []byte) (found map[string]string, whole bool, err error) {
	found = map[string]string{}
	dec := json.NewDecoder(bytes.NewReader(doc))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false, errors.New("not a JSON object")
	}
	for err == nil && dec.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = dec.Token(); err == nil {
			err = dec.Decode(&value)
		}
		var s string
		if key, ok := name.(string); err == nil && ok && value[0] == '"' && json.Unmarshal(value, &s) == nil {
			found[key] = s
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	switch {
	case err == nil:
		return found, true, nil
	case len(doc) == maxRead:
		return found, false, nil
	}
	return nil, false, fmt.Errorf("not a JSON object: %w", err)
}

// Reply answers an event.
type Reply struct {
	Text   string // for the agent
	Notice string // shown to the person by the client, if it can
	Ruling Ruling // on a call
	Reason string // for a ruling, to the agent
}

// Ruling is a verdict on a call that an agent is about to make.
type Ruling string

const (
	Pass Ruling = ""     // the agent's own rules decide
	Ask  Ruling = "ask"  // a person is asked
	Deny Ruling = "deny" // the call is refused
)

// Encode returns the hook's output, or nil if the agent reads none or the reply is empty. A text
// beyond the agent's limit is left out. Only agents that read an object show a notice. An agent
// that cannot ask a person refuses the call.
func (a Agent) Encode(e Event, r Reply) []byte {
	d, _ := a.delivery(e.Name)
	text := strings.TrimRight(r.Text, "\n")
	if len([]rune(text)) > a.Limit {
		text = ""
	}
	if r.Ruling == Ask && (!a.Asks || d.Unasked) {
		r.Ruling, r.Reason = Deny, r.Reason+"; a person may run it, so ask them to"
	}
	answer := map[string]any{}
	specific := answer
	switch d.Answer {
	case Plain:
		if text == "" {
			return nil
		}
		return []byte(text + "\n")
	case Decision:
		if r.Ruling != Pass {
			answer["decision"], answer["reason"] = r.Ruling, r.Reason
		}
	case Permit:
		if r.Ruling != Pass {
			answer["permission"], answer["agent_message"], answer["user_message"] = r.Ruling, r.Reason, r.Reason
		}
	case Context:
		if text != "" {
			answer["additional_context"] = text
		}
	case Object, Flat:
		if d.Answer == Object {
			specific = map[string]any{}
		}
		if text != "" {
			specific["additionalContext"] = text
		}
		if r.Ruling != Pass && e.Kind == Calling {
			specific["permissionDecision"], specific["permissionDecisionReason"] = r.Ruling, r.Reason
		}
		if d.Answer == Object && len(specific) > 0 {
			specific["hookEventName"] = e.Name
			answer["hookSpecificOutput"] = specific
		}
		if r.Notice != "" {
			answer["systemMessage"] = r.Notice
		}
	}
	if len(answer) == 0 {
		return nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(answer) != nil {
		return nil
	}
	return out.Bytes()
}

// Tells reports whether the agent reads a text in the answer to an event.
func (a Agent) Tells(e Event) bool {
	d, _ := a.delivery(e.Name)
	return d.Answer.tells()
}

func (f Form) tells() bool { return f == Object || f == Flat || f == Plain || f == Context }

// Spools reports whether an event goes to the spool. A call of a tool does not, because the
// transcript has it, unless the agent's calls are Spooled. An edit's change is in the event that
// takes no answer.
func (a Agent) Spools(e Event) bool {
	d, _ := a.delivery(e.Name)
	return e.Call == nil || a.Spooled && e.Kind == Called && (e.Call.Tool == Bash || d.Answer == Silent)
}

// TellsBefore reports whether a text in the answer to a call that is about to be made reaches the
// model.
func (a Agent) TellsBefore() bool {
	return slices.ContainsFunc(a.Calls, func(d Delivery) bool { return d.Kind == Calling && d.Answer.tells() })
}

// Patience returns the time that an agent waits for us at an event.
func (a Agent) Patience(e Event) time.Duration {
	if d, asked := a.delivery(e.Name); asked {
		return d.Timeout
	}
	return 5 * time.Second
}

// Said returns the agent's last message, if known.
func (e Event) Said() string {
	var payload struct {
		Last     string `json:"last_assistant_message"`
		Notified string `json:"last-assistant-message"`
		Response string `json:"prompt_response"`
		Text     string // of an Answered
	}
	if json.Unmarshal(e.Payload, &payload) != nil {
		return ""
	}
	return cmp.Or(payload.Last, payload.Notified, payload.Response, payload.Text)
}
