package transcript

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// generic reads agent-independent transcripts: JSONL, each line one session with agent, started_at
// and messages. A line with a missing or wrong field is skipped as a whole.
type generic struct{ *run }

// field is a JSON field of a required type: ok means that it is present and has the type.
type field[T any] struct {
	value T
	ok    bool
	wrong bool // there, of another type
}

func (f *field[T]) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	f.ok = json.Unmarshal(b, &f.value) == nil
	f.wrong = !f.ok
	return nil
}

type genericSession struct {
	Agent        field[string]
	StartedAt    field[string] `json:"started_at"`
	EndedAt      field[string] `json:"ended_at"`
	Task         string        `json:"task_description"`
	Messages     []genericMessage
	OutcomeKnown bool        `json:"outcome_known"`
	Success      field[bool] `json:"outcome_success"`
	Metadata     struct {
		OpenDream string `json:"opendream_session_id"`
		OpenCode  string `json:"opencode_session_id"`
	}
}

type genericMessage struct {
	Index     field[float64]
	Role      field[string]
	Content   field[string]
	ToolName  string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	Output    json.RawMessage `json:"tool_output"`
	Timestamp field[string]
}

// maxProblems bounds the problems named for one line.
const maxProblems = 5

func (p *generic) line(b []byte) {
	var s genericSession
	if !p.read(b, &s) {
		return
	}
	if problems := s.problems(); len(problems) > 0 {
		if more := len(problems) - maxProblems; more > 0 {
			problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", more))
		}
		p.bad(errors.New(strings.Join(problems, "; ")))
		return
	}
	p.Session = Session{Client: s.Agent.value, Title: s.Task, Started: parseTime(s.StartedAt.value)}
	p.ID = cmp.Or(s.Metadata.OpenDream, s.Metadata.OpenCode, p.unnamed(&s))
	if p.closed[SafeID(p.ID)] {
		p.bad(fmt.Errorf("metadata: session id %q was used by an earlier line", p.ID))
		return
	}
	p.begin()
	p.messages(s.Messages)
	end := Event{Kind: End}
	if s.EndedAt.ok {
		end.Time = parseTime(s.EndedAt.value)
	}
	if s.OutcomeKnown && s.Success.ok {
		end.Outcome = Failed
		if s.Success.value {
			end.Outcome = OK
		}
	}
	if s.EndedAt.ok || end.Outcome != Unknown {
		p.emit(end)
	}
	p.end()
}

// unnamed makes an id of a session's beginning, up to the first message of a person, so that it
// stays the same when the session grows or its file is copied. Later lines that begin alike get
// their numbers.
func (p *generic) unnamed(s *genericSession) string {
	beginning := s.Agent.value + "\x00" + s.StartedAt.value
	for _, m := range s.Messages {
		if beginning += "\x00" + m.Content.value; m.Role.value == "user" {
			break
		}
	}
	sum := sha256.Sum256([]byte(beginning))
	id := fmt.Sprintf("%x", sum[:8])
	if p.closed[id] {
		id += "-" + strconv.Itoa(p.run.line)
	}
	return id
}

// problems names each missing or wrong field.
func (s *genericSession) problems() []string {
	var out []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	isTime := func(t field[string]) bool {
		_, err := time.Parse(time.RFC3339Nano, t.value)
		return t.ok && err == nil
	}
	check(s.Agent.value != "", "agent: missing or not a string")
	check(isTime(s.StartedAt), "started_at: missing or not a time as in 2006-01-02T15:04:05Z")
	check(!s.EndedAt.ok && !s.EndedAt.wrong || isTime(s.EndedAt), "ended_at: not a time as in 2006-01-02T15:04:05Z")
	check(len(s.Messages) > 0, "messages: missing or empty")
	for i, m := range s.Messages {
		check(m.Index.ok, "messages[%d].index: missing or not a number", i)
		check(m.Content.ok, "messages[%d].content: missing or not a string", i)
		check(!m.Timestamp.ok && !m.Timestamp.wrong || isTime(m.Timestamp), "messages[%d].timestamp: not a time as in 2006-01-02T15:04:05Z", i)
		check(isNull(m.ToolInput) || m.ToolInput[0] == '{', "messages[%d].tool_input: not an object", i)
		switch {
		case !m.Role.ok:
			check(false, "messages[%d].role: missing or not a string", i)
		case !genericRoles.Has(m.Role.value):
			check(false, "messages[%d].role: %q is not user, assistant, tool, system or unknown", i, m.Role.value)
		}
	}
	return out
}

var genericRoles = pattern.NewWords("user assistant tool system unknown")

func (p *generic) messages(messages []genericMessage) {
	var open Event // the last call without a result
	for i, m := range messages {
		base := Event{Time: parseTime(m.Timestamp.value)}
		p.words(m, base)
		if m.ToolName == "" && m.Role.value != "tool" {
			continue
		}
		answers := m.Role.value == "tool" && open.CallID != "" && isNull(m.ToolInput) && (m.ToolName == "" || m.ToolName == open.Tool)
		if !answers {
			open = call(p.Client, m.ToolName, m.ToolInput)
			open.Time, open.CallID = base.Time, "call-"+strconv.Itoa(i)
			p.emit(open)
		}
		if m.Role.value == "tool" || !isNull(m.Output) {
			p.emit(m.result(base.Time, open))
			open = Event{}
		}
	}
}

// words emits the text of a message.
func (p *generic) words(m genericMessage, base Event) {
	switch m.Role.value {
	case "user":
		p.user(base, Typed, m.Content.value)
	case "system", "unknown":
		base.Kind, base.Origin, base.Text = User, Injected, m.Content.value
		p.emitText(base)
	case "assistant":
		base.Kind, base.Text = Assistant, m.Content.value
		p.emitText(base)
	}
}

// result returns the Result of a call. Its outcome is known only if the output has an exit code.
func (m genericMessage) result(at time.Time, c Event) Event {
	e := Event{Kind: Result, Time: at, CallID: c.CallID}
	var object struct {
		Output, Stdout, Stderr     string
		Exit, ExitCode, ReturnCode *int
		ExitCode2                  *int `json:"exit_code"`
	}
	var text string
	switch {
	case isNull(m.Output):
		e.Text = m.Content.value
	case json.Unmarshal(m.Output, &text) == nil:
		e.Text = text
	case decode(m.Output, &object) == nil:
		for _, exit := range []*int{object.ReturnCode, object.Exit, object.ExitCode, object.ExitCode2} {
			if exit != nil {
				e.Exit = exit
			}
		}
		e.Text = cmp.Or(object.Output, strings.TrimSpace(object.Stdout+"\n"+object.Stderr), compact(m.Output))
	default:
		e.Text = compact(m.Output)
	}
	if e.Exit == nil {
		e.Exit, e.Text = cutExit(e.Text)
	}
	e.Outcome = outcomeOf(e.Exit)
	if c.Action != Run {
		e.Exit = nil
	}
	return e
}

func isNull(b []byte) bool { return len(b) == 0 || string(b) == "null" }
