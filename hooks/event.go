package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// Event is one delivery.
type Event struct {
	Agent      string          `json:"agent"`
	Kind       Kind            `json:"kind"`
	Name       string          `json:"name"`    // what the agent calls it
	Session    string          `json:"session"` // the agent's id
	Parent     string          `json:"parent,omitempty"`
	Subagent   string          `json:"subagent,omitempty"`   // whose transcript Transcript is, if not the session's own
	Dir        string          `json:"dir,omitempty"`        // where the agent works, absolute
	Transcript string          `json:"transcript,omitempty"` // file that the agent keeps, absolute
	Prompt     string          `json:"prompt,omitempty"`     // for Prompt: what the user typed
	Source     string          `json:"source,omitempty"`     // what brought it about, in the agent's words: startup, resume, auto, …
	Shell      string          `json:"shell,omitempty"`      // agent in whose shell the hook was called, "<agent>/<session>" where it tells its session; "" elsewhere
	Time       time.Time       `json:"time"`                 // of arrival, by this machine's clock
	Payload    json.RawMessage `json:"payload,omitempty"`    // as it came, if all of it could be read
}

// Key is the session's name: "<agent>/<id>".
func (e Event) Key() string { return e.Agent + "/" + e.Session }

var (
	// ErrPayload is returned when what an agent delivered is no JSON object that names a session.
	ErrPayload = errors.New("not a hook's payload")
	// ErrUnasked is returned for an event that Reverie does not ask the agent for.
	ErrUnasked = errors.New("an event that is not asked for")
)

const (
	maxPayload = 256 << 10 // bytes of one that the spool keeps
	maxField   = 32 << 10  // bytes that the spool keeps of a field
	maxRead    = 8 << 20   // bytes that are looked at
)

// fields are the names under which agents give what an event needs. The first that is there counts.
var fields = struct{ session, parent, subagent, dir, transcript, name, prompt, source []string }{
	session: []string{"session_id", "sessionID", "thread-id"}, parent: []string{"parent_id", "parentID"}, subagent: []string{"agent_id"},
	dir: []string{"cwd"}, transcript: []string{"agent_transcript_path", "transcript_path"}, name: []string{"hook_event_name", "event", "type"},
	prompt: []string{"prompt"}, source: []string{"source", "trigger", "reason"},
}

// notified is what Codex calls the end of a turn where it notifies instead of calling a hook.
const notified = "agent-turn-complete"

// Decode makes an Event of what the agent wrote to a hook. name is the event's name if the command
// line gives it, else the payload does. A payload that is too long is read for the fields of an
// Event alone. Fields of another type than text are as if they were not there. Errors wrap
// ErrPayload or ErrUnasked.
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
	e := Event{Agent: a.Name, Name: name, Session: get(fields.session), Parent: get(fields.parent), Subagent: get(fields.subagent), Dir: get(fields.dir),
		Transcript: get(fields.transcript), Prompt: get(fields.prompt), Source: get(fields.source), Time: now.UTC()}
	if e.Name == "" {
		e.Name = get(fields.name)
	}
	if e.Session == "" {
		return e, fmt.Errorf("%w: it names no session", ErrPayload)
	}
	if !filepath.IsAbs(e.Dir) {
		e.Dir = ""
	}
	if !filepath.IsAbs(e.Transcript) {
		e.Transcript = ""
	}
	d, asked := a.delivery(e.Name)
	switch {
	case e.Name == notified && a.Name == "codex":
		e.Kind = Stop
	case !asked:
		return e, fmt.Errorf("%w: %q of %s", ErrUnasked, e.Name, a.Title)
	case d.Kind == Start && e.Source == "compact":
		e.Kind = Compacted // some begin the session anew with the summary
	default:
		e.Kind = d.Kind
	}
	if e.Kind != Prompt { // what is in a field of that name elsewhere was not typed now
		e.Prompt = ""
	}
	if whole {
		e.Payload = bytes.TrimSpace(doc)
	}
	return e, nil
}

// topStrings are the texts at the top of a JSON object by name. whole says that all of the
// object was there; of one that is cut off, what stood before the cut is returned.
func topStrings(doc []byte) (found map[string]string, whole bool, err error) {
	found = map[string]string{}
	dec := json.NewDecoder(bytes.NewReader(doc))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false, errors.New("it is no JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return cut(found, doc, err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return cut(found, doc, err)
		}
		var s string
		if key, ok := name.(string); ok && len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil {
			found[key] = s
		}
	}
	if _, err := dec.Token(); err != nil {
		return cut(found, doc, err)
	}
	return found, true, nil
}

// cut forgives an object its end if it is only not there because no more was read.
func cut(found map[string]string, doc []byte, err error) (map[string]string, bool, error) {
	if len(doc) == maxRead {
		return found, false, nil
	}
	return nil, false, fmt.Errorf("it is no JSON object: %w", err)
}

// clip keeps the beginning of a text that is too long, in whole characters.
func clip(s string) string {
	if len(s) <= maxField {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s[:maxField]), nil))
}

// Encode returns what the hook prints: text for the agent, and a notice that its client shows to
// the person. It returns nil if the agent reads nothing, or if there is nothing to say. A text
// beyond the agent's limit is left out. Only agents that read an object show a notice.
func (a Agent) Encode(e Event, text, notice string) []byte {
	d, _ := a.delivery(e.Name)
	if text = strings.TrimRight(text, "\n"); len([]rune(text)) > a.Limit {
		text = ""
	}
	switch {
	case d.Answer == Plain && text != "":
		return []byte(text + "\n")
	case d.Answer == Object && text+notice != "":
		answer := map[string]any{}
		if text != "" {
			answer["hookSpecificOutput"] = map[string]string{"hookEventName": e.Name, "additionalContext": text}
		}
		if notice != "" {
			answer["systemMessage"] = notice
		}
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if enc.Encode(answer) == nil {
			return out.Bytes()
		}
	}
	return nil
}

// Answers reports whether the agent reads an answer to an event.
func (a Agent) Answers(e Event) bool {
	d, _ := a.delivery(e.Name)
	return d.Answer != Silent
}

// Patience is how long an agent waits for us at an event.
func (a Agent) Patience(e Event) time.Duration {
	if d, asked := a.delivery(e.Name); asked {
		return d.Timeout
	}
	return 5 * time.Second
}

// Said is what the agent said last, where it tells.
func (e Event) Said() string {
	var payload struct {
		Last     string `json:"last_assistant_message"`
		Notified string `json:"last-assistant-message"`
		Response string `json:"prompt_response"`
	}
	if json.Unmarshal(e.Payload, &payload) != nil {
		return ""
	}
	for _, text := range []string{payload.Last, payload.Notified, payload.Response} {
		if text != "" {
			return text
		}
	}
	return ""
}
