package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
)

// gemini reads Gemini CLI's chats. In newer versions they are a log: a message is rewritten in full
// whenever it grows, $set patches the header, and $rewindTo removes messages. In older ones they
// are a single JSON document. Messages are held as events until the end.
type gemini struct {
	*run
	held     backlog
	order    []string // message ids, as first seen
	messages map[string][]Event
	seed     maphash.Seed
	said     map[uint64]bool // type and text of messages
	sub      bool            // the chat is a sub-agent's
}

func newGemini(r *run) *gemini {
	return &gemini{run: r, held: backlog{cutter: r.cutter()}, messages: map[string][]Event{}, seed: maphash.MakeSeed(), said: map[uint64]bool{}}
}

// geminiHeader is the first record of a log, the part of a document besides the messages, and the
// object of a $set patch.
type geminiHeader struct {
	SessionID   string `json:"sessionId"`
	ProjectHash string `json:"projectHash"`
	StartTime   string `json:"startTime"`
	Kind        string
	Summary     string
	Directories []string
	Messages    []json.RawMessage
}

type geminiMessage struct {
	ID        string
	Timestamp string
	Type      string
	Content   geminiContent
	Display   geminiContent `json:"displayContent"`
	Thoughts  []struct{ Subject, Description string }
	Model     string
	ToolCalls []struct {
		ID        string
		Name      string
		Args      json.RawMessage
		Status    string
		Timestamp string
		Display   json.RawMessage `json:"resultDisplay"`
		Result    []struct {
			FunctionResponse struct {
				Response struct{ Output, Error string }
			}
		}
	}
}

// geminiContent is a string or a list of parts.
type geminiContent []geminiPart

type geminiPart struct {
	Text   string
	Inline *struct{} `json:"inlineData"`
}

func (c *geminiContent) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = geminiContent{{Text: text}}
		return nil
	}
	var parts []geminiPart
	if len(b) > 0 && b[0] == '{' {
		parts = make([]geminiPart, 1)
		_ = decode(b, &parts[0])
	} else {
		_ = decode(b, &parts)
	}
	*c = parts
	return nil
}

func (c geminiContent) texts() []string {
	var texts []string
	for _, part := range c {
		if part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	return texts
}

func (p *gemini) line(b []byte) {
	var rec struct {
		geminiHeader
		ID     string
		Type   string
		Set    *geminiHeader `json:"$set"`
		Rewind *string       `json:"$rewindTo"`
	}
	if !p.read(b, &rec) {
		return
	}
	switch {
	case rec.Set != nil:
		p.header(*rec.Set)
	case rec.Rewind != nil:
		if i := slices.Index(p.order, *rec.Rewind); i >= 0 {
			for _, id := range p.order[i:] {
				for _, e := range p.messages[id] {
					p.held.drop(&e)
				}
				delete(p.messages, id)
			}
			p.order = p.order[:i]
		}
	case rec.SessionID != "":
		if p.ID != "" && p.ID != rec.SessionID {
			p.end()
		}
		p.header(rec.geminiHeader)
	case rec.ID != "" && rec.Type != "":
		p.message(b, false)
	default:
		p.bad(errors.New("id, type: missing"))
	}
}

// document reads a chat that is one JSON document.
func (p *gemini) document(d *document) error {
	return d.object(func(key string) error {
		if c, err := d.peekByte(); err == nil && key == "messages" && c == '[' {
			return d.elements(p.run, func(raw []byte) { p.message(raw, false) })
		}
		raw, err := d.element(p.run)
		if err != nil || raw == nil {
			return err
		}
		field, err := json.Marshal(map[string]json.RawMessage{key: raw})
		var h geminiHeader
		if err == nil {
			err = decode(field, &h)
		}
		if err != nil {
			p.bad(fmt.Errorf("%s: not JSON", key))
			return nil
		}
		p.header(h)
		return nil
	})
}

func (p *gemini) header(h geminiHeader) {
	p.ID = cmp.Or(p.ID, h.SessionID)
	p.Title = cmp.Or(h.Summary, p.Title)
	if t := parseTime(h.StartTime); p.Started.IsZero() {
		p.Started = t
	}
	if len(h.Directories) > 0 {
		p.Dir = cmp.Or(p.Dir, h.Directories[0])
	}
	p.sub = p.sub || h.Kind == "subagent"
	for _, raw := range h.Messages {
		p.message(raw, true)
	}
}

// message holds the events of a message, replacing those of its earlier record. It skips a patched
// message (from a compression, or at the start) that repeats one.
func (p *gemini) message(b []byte, patched bool) {
	var m geminiMessage
	if !p.parse(b, &m) {
		return
	}
	key := maphash.String(p.seed, m.Type+"\x00"+strings.Join(m.Content.texts(), "\n"))
	_, known := p.messages[m.ID]
	if patched && (known || p.said[key] || len(m.Content.texts()) == 0) {
		return
	}
	p.said[key] = true
	p.Model = cmp.Or(m.Model, p.Model)
	for _, e := range p.messages[m.ID] {
		p.held.drop(&e)
	}
	events := p.events(&m)
	for i := range events {
		p.held.hold(&events[i])
	}
	if m.ID == "" {
		m.ID = "line " + strconv.Itoa(p.run.line)
	}
	if !known {
		p.order = append(p.order, m.ID)
	}
	p.messages[m.ID] = events
}

// events turns a message into events.
func (p *gemini) events(m *geminiMessage) []Event {
	base := Event{Time: parseTime(m.Timestamp)}
	switch m.Type {
	case "user":
		return p.userEvents(m, base)
	case "gemini":
		var events []Event
		add := func(kind Kind, text string) {
			if strings.TrimSpace(text) != "" {
				events = append(events, Event{Kind: kind, Time: base.Time, Text: text})
			}
		}
		for _, t := range m.Thoughts {
			add(Reasoning, strings.TrimSpace(t.Subject+"\n"+t.Description))
		}
		add(Assistant, strings.Join(m.Content.texts(), "\n"))
		return append(events, p.toolEvents(m)...)
	case "error":
		base.Kind, base.Outcome, base.Text = Error, Failed, strings.Join(m.Content.texts(), "\n")
		return []Event{base}
	case "info":
		text := strings.Join(m.Content.texts(), "\n")
		if strings.HasPrefix(text, "Request cancelled") {
			base.Kind, base.Outcome, base.Text = Error, Aborted, text
			return []Event{base}
		}
	}
	p.stats.Ignored++
	return nil
}

// fileContents begins the part after the user's words if they name files by "@": the files, in
// separate parts or not, and a closing line. A file may hold any line, even that one, and no typed
// text comes after them.
const fileContents = "--- Content from referenced files ---"

// userEvents splits a user's message. If the record holds the input as the client showed it, that
// is the typed text; the client added the rest of the content.
func (p *gemini) userEvents(m *geminiMessage, base Event) []Event {
	var texts, injected []string
	mixed := false
	for i, all := 0, m.Content.texts(); i < len(all); i++ {
		text := all[i]
		if strings.HasPrefix(strings.TrimSpace(text), "<state_snapshot>") {
			base.Kind, base.Text = Compaction, text
			return []Event{base}
		}
		if at := strings.Index(text, fileContents); at >= 0 {
			files := strings.Join(append([]string{text[at:]}, all[i+1:]...), "\n")
			injected, mixed = append(injected, strings.TrimSpace(files)), true
			text, i = strings.TrimRight(text[:at], " \t\r\n"), len(all)
		}
		texts = append(texts, text)
	}
	w := partMessage(texts...)
	w.injected, w.mixed = append(w.injected, injected...), mixed || w.mixed
	if texts := m.Display.texts(); len(texts) > 0 { // a separate field, which quoted text cannot reach
		shown := partMessage(texts...)
		w.own, w.mixed = shown.own, shown.mixed
	}
	for _, part := range m.Content {
		if part.Inline != nil {
			w.injected = append(w.injected, "[image]")
		}
	}
	return w.events(base, wordsOf(p.sub))
}

// end emits the session.
func (p *gemini) end() {
	for _, id := range p.order {
		for _, e := range p.messages[id] {
			p.emit(e)
		}
	}
	p.order, p.messages, p.said, p.held, p.sub = nil, map[string][]Event{}, map[uint64]bool{}, backlog{cutter: p.cutter()}, false
	p.run.end()
}
