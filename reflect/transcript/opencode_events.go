package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
)

// ocRecord is a line of events: a plugin's hook call {hook,input,output}, a bus event
// {type,properties}, or what `opencode run --format json` prints {type,timestamp,sessionID,part}.
type ocRecord struct {
	Hook   string
	Input  json.RawMessage
	Output struct {
		Message *ocInfo
		Parts   []json.RawMessage
	}
	Event *ocRecord // as a plugin's event hook wraps it

	Type       string
	Properties *ocProperties

	Timestamp float64
	SessionID string `json:"sessionID"`
	Part      json.RawMessage
	Error     *ocError
}

type ocProperties struct {
	SessionID string `json:"sessionID"`
	Info      json.RawMessage
	Part      json.RawMessage
	PartID    string `json:"partID"`
	MessageID string `json:"messageID"`
	Field     string
	Delta     string
	Time      float64
	Error     *ocError
}

func (p *openCode) line(b []byte) {
	var rec ocRecord
	if !p.read(b, &rec) {
		return
	}
	switch {
	case rec.Hook == "event":
		var inner ocRecord
		if !p.parse(rec.Input, &inner) {
			return
		}
		rec = inner
	case rec.Hook == "chat.message" && rec.Output.Message != nil:
		p.info(*rec.Output.Message)
		for _, raw := range rec.Output.Parts {
			p.putPart(raw, "")
		}
		return
	case rec.Hook != "":
		p.stats.Ignored++
		return
	}
	if rec.Event != nil {
		rec = *rec.Event
	}
	switch {
	case rec.Type == "":
		p.bad(errors.New("type: missing"))
	case rec.Properties != nil:
		p.event(rec.Type, rec.Properties)
	case rec.SessionID != "":
		p.printed(&rec)
	default:
		p.bad(errors.New("properties: missing"))
	}
}

// event takes in an event of the bus. In the database of events, types have a version at the end.
func (p *openCode) event(kind string, props *ocProperties) {
	kind = strings.TrimRight(kind, "0123456789")
	switch strings.TrimSuffix(kind, ".") {
	case "session.created", "session.updated":
		var info ocSessionInfo
		if p.parse(props.Info, &info) {
			p.session(cmp.Or(info.ID, props.SessionID)).openCode(info)
		}
	case "session.deleted":
		var info ocSessionInfo
		_ = decode(props.Info, &info)
		s := p.session(cmp.Or(props.SessionID, info.ID))
		s.deleted = &Event{Kind: End, Text: "deleted"}
	case "session.error":
		if s := p.session(props.SessionID); props.Error != nil {
			s.errors = append(s.errors, props.Error.event(ocTime{}))
		}
	case "message.updated":
		var info ocInfo
		if p.parse(props.Info, &info) {
			info.SessionID = cmp.Or(info.SessionID, props.SessionID)
			p.info(info)
		}
	case "message.part.updated":
		p.putPart(props.Part, props.SessionID)
	case "message.part.delta":
		m := p.message(props.SessionID, props.MessageID)
		if part := m.parts[props.PartID]; part != nil && props.Field == "text" && !part.full {
			p.held.size += len(props.Delta)
			part.size += len(props.Delta)
			part.text += props.Delta
			if len(part.text) >= 4*MaxText { // no more is held, and what would go on must not stay
				part.text, part.full = withoutLast(part.text), true
			}
		}
	case "message.part.removed":
		m := p.message(props.SessionID, props.MessageID)
		if part := m.parts[props.PartID]; part != nil {
			p.held.size -= part.size
			m.parts[props.PartID] = &ocPart{}
		}
	default:
		p.stats.Ignored++
	}
}

// printed takes in a line of `opencode run --format json`, which tells finished parts of the
// assistant's only.
func (p *openCode) printed(rec *ocRecord) {
	s := p.session(rec.SessionID)
	if rec.Error != nil {
		s.errors = append(s.errors, rec.Error.event(ocTime{Created: rec.Timestamp}))
		return
	}
	var at struct {
		MessageID string `json:"messageID"`
	}
	if decode(rec.Part, &at) != nil {
		p.bad(errors.New("part: missing"))
		return
	}
	if m := p.message(rec.SessionID, at.MessageID); m.Role == "" {
		m.Role, m.Time.Created = "assistant", rec.Timestamp
	}
	p.putPart(rec.Part, rec.SessionID)
}

// session returns the session with an id, which may be new.
func (p *openCode) session(id string) *ocSession {
	s := p.sessions[id]
	if s == nil {
		s = &ocSession{messages: map[string]*ocMessage{}}
		s.Client, s.ID = string(OpenCode), id
		p.sessions[id] = s
		p.order = append(p.order, id)
	}
	return s
}

// message returns the message with an id, which may be new, its role not told yet.
func (p *openCode) message(session, id string) *ocMessage {
	s := p.session(session)
	m := s.messages[id]
	if m == nil {
		m = &ocMessage{parts: map[string]*ocPart{}}
		s.messages[id] = m
		s.order = append(s.order, id)
	}
	return m
}

func (p *openCode) info(info ocInfo) {
	m := p.message(info.SessionID, info.ID)
	info.ModelID = cmp.Or(info.ModelID, m.ModelID)
	m.ocInfo = info
}

func (p *openCode) putPart(raw []byte, session string) {
	rec, part, err := p.part(raw)
	if err != nil {
		p.bad(err)
		return
	}
	m := p.message(cmp.Or(rec.SessionID, session), rec.MessageID)
	if old := m.parts[rec.ID]; old != nil {
		p.held.size -= old.size
	}
	m.put(rec.ID, part)
}

// end hands over the sessions, in the order they were first seen.
func (p *openCode) end() {
	for _, id := range p.order {
		s := p.sessions[id]
		delete(p.sessions, id)
		var all []Event
		told := map[string]bool{}
		for _, id := range s.order {
			for _, e := range s.messages[id].events(&s.Session) {
				told[string(e.Kind)+e.Text] = true
				all = append(all, e)
			}
		}
		for _, e := range s.errors {
			if !told[string(Error)+e.Text] {
				all = append(all, e)
			}
		}
		if s.deleted != nil {
			all = append(all, *s.deleted)
		}
		if len(all) == 0 {
			continue
		}
		p.Session = s.Session
		for _, e := range all {
			p.emit(e)
		}
		p.run.end()
	}
	p.run.end() // that of a document
}
