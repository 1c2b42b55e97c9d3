package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
)

// openCode reads what OpenCode tells of sessions: an export, one JSON document; the messages alone,
// as its client gives them; or events, as a plugin or its bus sees them, in which parts of messages
// are updated in place and sessions mix. Sessions from events are held until the end.
type openCode struct {
	*run
	held     backlog
	order    []string
	sessions map[string]*ocSession
}

func newOpenCode(r *run) *openCode {
	return &openCode{run: r, held: backlog{cutter: r.cutter()}, sessions: map[string]*ocSession{}}
}

// ocSession is a session from events.
type ocSession struct {
	Session
	order    []string
	messages map[string]*ocMessage
	errors   []Event // told apart from messages
	deleted  *Event
}

// ocMessage is a message and its parts, in the order they were first seen.
type ocMessage struct {
	ocInfo
	order []string
	parts map[string]*ocPart
}

// ocInfo is the header of a message.
type ocInfo struct {
	ID        string
	SessionID string `json:"sessionID"`
	Role      string
	Agent     string
	Time      ocTime
	ModelID   string `json:"modelID"`
	Model     struct {
		ModelID string `json:"modelID"`
	}
	Path    struct{ Cwd string }
	Summary ocBool
	Error   *ocError
}

type ocTime struct {
	Created   float64
	Completed float64
	Updated   float64
	Start     float64
	End       float64
}

// ocBool is true for JSON's true only: a user's message has an object in place of it.
type ocBool bool

func (b *ocBool) UnmarshalJSON(raw []byte) error {
	*b = string(raw) == "true"
	return nil
}

type ocError struct {
	Name string
	Data struct{ Message string }
}

func (e *ocError) event(t ocTime) Event {
	ev := Event{Kind: Error, Time: millis(max(t.Completed, t.Created)), Outcome: Failed, Text: cmp.Or(e.Data.Message, e.Name)}
	if e.Name == "MessageAbortedError" || e.Name == "AbortError" {
		ev.Outcome = Aborted
	}
	return ev
}

// ocSessionInfo is the header of a session.
type ocSessionInfo struct {
	ID        string
	ParentID  string `json:"parentID"`
	Directory string
	Title     string
	Version   string
	Model     struct{ ID string }
	Time      ocTime
}

func (s *Session) openCode(i ocSessionInfo) {
	s.ID = cmp.Or(i.ID, s.ID)
	s.Parent = cmp.Or(i.ParentID, s.Parent)
	s.Dir = cmp.Or(i.Directory, s.Dir)
	s.Title = cmp.Or(i.Title, s.Title)
	s.Version = cmp.Or(i.Version, s.Version)
	s.Model = cmp.Or(i.Model.ID, s.Model)
	if s.Started.IsZero() {
		s.Started = millis(i.Time.Created)
	}
}

// ocPart is a part of a message, its texts cut.
type ocPart struct {
	kind     string
	text     string
	injected bool // by OpenCode or a plugin, in the user's role
	command  bool // a slash command stands for it
	time     ocTime
	call     Event
	result   *Event
	feedback string // what the user wrote in refusing the call, or in answer to its questions
	chosen   string // the options that the user chose
	full     bool   // more of the text is not held
	size     int    // bytes of text held
}

// document reads an export, or the messages alone.
func (p *openCode) document(d *document) error {
	if c, err := d.peekByte(); err == nil && c == '[' {
		return d.elements(p.run, p.exported)
	}
	return d.object(func(key string) error {
		if c, err := d.peekByte(); err == nil && key == "messages" && c == '[' {
			return d.elements(p.run, p.exported)
		}
		raw, err := d.element(p.run)
		var info ocSessionInfo
		if err == nil && raw != nil && key == "info" && p.parse(raw, &info) {
			p.Session.openCode(info)
		}
		return err
	})
}

// exported reads a message of an export and hands its events over.
func (p *openCode) exported(raw []byte) {
	var rec struct {
		Info  *ocInfo
		Parts []json.RawMessage
	}
	if !p.parse(raw, &rec) {
		return
	}
	if rec.Info == nil {
		p.bad(errors.New("info: missing"))
		return
	}
	m := &ocMessage{ocInfo: *rec.Info, parts: map[string]*ocPart{}}
	for _, raw := range rec.Parts {
		id, part, err := p.part(raw)
		if err != nil {
			p.bad(err)
			continue
		}
		m.put(cmp.Or(id.ID, string(raw[:min(len(raw), 64)])), part)
	}
	p.ID = cmp.Or(p.ID, m.SessionID)
	for _, e := range m.events(&p.Session) {
		p.emit(e)
	}
	p.held.size = 0
}

// put sets a part, in place of an earlier state of it.
func (m *ocMessage) put(id string, part *ocPart) {
	if _, found := m.parts[id]; !found {
		m.order = append(m.order, id)
	}
	m.parts[id] = part
}

// events turns a message into events, and takes what it tells about the session into s.
func (m *ocMessage) events(s *Session) []Event {
	s.Model = cmp.Or(m.ModelID, m.Model.ModelID, s.Model)
	s.Dir = cmp.Or(s.Dir, m.Path.Cwd)
	base := Event{Time: millis(m.Time.Created)}
	switch {
	case m.Role == "assistant" && bool(m.Summary):
		return m.compaction(base)
	case m.Role == "assistant":
		return m.assistant(base, s.Parent != "")
	}
	return m.user(base, s.Parent != "")
}

// compaction returns the summary that replaced earlier events.
func (m *ocMessage) compaction(base Event) []Event {
	var texts []string
	for _, id := range m.order {
		if part := m.parts[id]; part.kind == "text" {
			texts = append(texts, part.text)
		}
	}
	base.Kind, base.Text = Compaction, strings.Join(texts, "\n")
	events := []Event{base}
	if m.Error != nil {
		events = append(events, m.Error.event(m.Time))
	}
	return events
}

func (m *ocMessage) assistant(base Event, child bool) []Event {
	var events []Event
	for _, id := range m.order {
		part, e := m.parts[id], base
		if part.time.Start > 0 {
			e.Time = millis(part.time.Start)
		}
		switch {
		case part.kind == "tool":
			events = append(events, part.call)
			if part.result != nil {
				events = append(events, *part.result)
				e.Time = part.result.Time
			}
			e.Kind, e.Origin = User, wordsOf(child)
			for _, text := range []string{part.feedback, part.chosen} {
				if e.Text = text; text != "" {
					events = append(events, e)
				}
				e.Mixed = true // the words of an option are the agent's
			}
		case strings.TrimSpace(part.text) == "":
		case part.kind == "reasoning":
			e.Kind, e.Text = Reasoning, part.text
			events = append(events, e)
		case part.kind == "text":
			e.Kind, e.Text = Assistant, part.text
			events = append(events, e)
		}
	}
	if m.Error != nil {
		events = append(events, m.Error.event(m.Time))
	}
	return events
}

// user returns the events in the user's role. Parts of a message with an unknown role have no
// speaker.
func (m *ocMessage) user(base Event, child bool) []Event {
	var texts, injected []string
	command, mixed := false, false
	for _, id := range m.order {
		part := m.parts[id]
		command = command || part.command
		switch {
		case part.kind == "file" && part.text != "":
			injected = append(injected, part.text)
		case part.kind == "file":
			mixed = true
		case part.kind != "text" || strings.TrimSpace(part.text) == "":
		case part.injected || m.Role != "user":
			injected = append(injected, part.text)
			mixed = mixed || !onlyOurs(part.text)
		default:
			texts = append(texts, part.text)
		}
	}
	w := partMessage(texts...)
	injected = append(injected, w.injected...)
	for i, text := range w.own {
		w.own[i] = unquotePrompt(text)
	}
	var events []Event
	base.Kind = User
	if len(w.own) > 0 {
		base.Origin, base.Mixed, base.Text = wordsOf(child), mixed || w.mixed, strings.Join(w.own, "\n")
		if command && !child {
			base.Origin = Command
		}
		events = append(events, base)
	}
	base.Mixed = false
	for _, text := range injected {
		base.Origin, base.Text = Injected, text
		events = append(events, base)
	}
	return events
}

// unquotePrompt undoes what `opencode run` does to an argument with spaces: it puts it in quotes
// and a backslash before each quote inside.
func unquotePrompt(s string) string {
	inner := strings.TrimSpace(s)
	if len(inner) < 2 || inner[0] != '"' || inner[len(inner)-1] != '"' || !strings.Contains(inner, " ") {
		return s
	}
	inner = inner[1 : len(inner)-1]
	if plain := strings.ReplaceAll(inner, `\"`, ""); strings.Contains(plain, `"`) || strings.HasSuffix(plain, `\`) {
		return s
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}
