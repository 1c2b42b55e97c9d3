package inbox

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Outlook holds the information, besides an operation, that a person needs to decide it.
type Outlook struct {
	Model       string // the model that proposed it, or ""
	Attack      string // the apparent attack in its words, or ""
	Changes     []Change
	Quotes      []Quote
	Contradicts []string          // ids that the operation names, replaces or contradicts
	Retires     []string          // ids of the memories that accepting it retires
	Texts       map[string]string // statements that it contradicts or nearly repeats, by memory id
}

// Change describes how an operation changes one memory.
type Change struct {
	ID    string
	Held  bool // the memory exists; otherwise the rest is empty
	Was   record.Memory
	Goes  bool     // it is retired or replaced
	Words string   // a word diff of its statement and the new one; "" if unchanged or retired
	Lost  []string // fields that differ, each "name: before → after"
	Body  bool     // the new body lacks its body
}

// A Viewer makes the outlooks of operations on one view, and reads each session once.
type Viewer struct {
	c        *clone.Clone
	v        *record.View
	sessions map[string][]transcript.Event
	dreams   map[string]string // id → model
	waits    map[string]string // id of a pending operation's memory → its statement
}

// NewViewer makes a Viewer for a view of a clone.
func NewViewer(c *clone.Clone, v *record.View) *Viewer {
	return &Viewer{c: c, v: v, sessions: map[string][]transcript.Event{}}
}

// Look returns the outlook of an operation.
func (l *Viewer) Look(o record.Operation) Outlook {
	out := Outlook{Model: l.model(o), Attack: dream.Suspicious(o), Quotes: l.quotes(o), Contradicts: slices.Clone(o.Contradicts), Texts: map[string]string{}}
	if o.Op == record.Skill {
		return out
	}
	out.Retires = dream.Overruled(l.v, o, l.c.Now())
	for _, base := range o.Base {
		c := Change{ID: base.ID, Goes: o.Op == record.Retire || base.ID != o.Memory.ID}
		if m, err := l.v.Find(base.ID); err == nil {
			c.Held, c.Was = true, m
			if o.Op != record.Retire {
				c.compare(o.Memory)
			}
			if !slices.Contains(out.Contradicts, c.ID) && (o.Op == record.Edit || o.Op == record.Merge) &&
				!slices.ContainsFunc(m.Texts(), func(t record.Variant) bool { return !dream.Overturns(t.Text, o.Memory.Text) }) {
				out.Contradicts = append(out.Contradicts, c.ID)
			}
		}
		out.Changes = append(out.Changes, c)
	}
	for _, id := range append(slices.Clone(out.Contradicts), o.Alike...) {
		if m, err := l.v.Find(id); err == nil {
			out.Texts[id] = m.Text
		} else {
			out.Texts[id] = l.proposed(id)
		}
	}
	return out
}

// proposed returns the statement of a pending operation, by the id of its future memory, or "".
func (l *Viewer) proposed(id string) string {
	if l.waits == nil {
		l.waits = map[string]string{}
		ops, _ := l.v.Inbox().Operations()
		for _, o := range ops {
			l.waits[o.Memory.ID] = o.Memory.Text
		}
	}
	return l.waits[id]
}

// Compare describes the change from one state of a memory to another.
func Compare(was, now record.Memory) Change {
	c := Change{ID: was.ID, Held: true, Was: was}
	c.compare(now)
	return c
}

// compare finds the parts of a memory that another state lacks.
func (c *Change) compare(now record.Memory) {
	was := c.Was
	if was.Text != now.Text {
		c.Words = marked(Words(was.Text, now.Text))
	}
	c.Body = was.Body != "" && !strings.Contains(now.Body, was.Body)
	after := fieldsOf(now)
	for i, f := range fieldsOf(was) {
		if f.value != after[i].value {
			c.Lost = append(c.Lost, f.name+": "+cmp.Or(f.value, f.none)+" → "+cmp.Or(after[i].value, f.none))
		}
	}
	for _, v := range was.Variants {
		if v.Text != now.Text {
			c.Lost = append(c.Lost, "the other text: "+v.Text)
		}
	}
}

// field is a part of a memory beside its statement and body. none describes an empty value.
type field struct{ name, value, none string }

// fieldsOf returns the fields of a memory: the same names in the same order for each.
func fieldsOf(m record.Memory) []field {
	expires := ""
	if !m.Expires.IsZero() {
		expires = m.Expires.Format("2006-01-02")
	}
	t := m.Trigger()
	return []field{
		{"kind", string(m.Kind), "none"},
		{"status", string(m.Status), "none"},
		{"paths", strings.Join(m.Paths, " "), "everywhere"},
		{"guards", strings.Join(t.Guards, ", "), "none"},
		{"strength", string(t.Strength), "none"},
		{"tags", strings.Join(m.Tags, " "), "none"},
		{"topic", m.Topic, "none"},
		{"only on", record.ParseSide(m.Branch).Label(), "none"},
		{"expires", expires, "none"},
		{"anchors", strings.Join(m.Anchors, ", "), "none"},
	}
}

// Fields describes the fields that a memory has, each as "name: value", except kind and status.
func Fields(m record.Memory) (lines []string) {
	for _, f := range fieldsOf(m) {
		if f.value != "" && f.name != "kind" && f.name != "status" {
			lines = append(lines, f.name+": "+f.value)
		}
	}
	return lines
}

// model returns the name of the model that proposed an operation, or "".
func (l *Viewer) model(o record.Operation) string {
	if o.Model != "" || o.How != record.Model {
		return o.Model
	}
	for _, s := range o.Sightings {
		if s.Model != "" {
			return s.Model
		}
	}
	if l.dreams == nil {
		l.dreams = map[string]string{}
		dreams, _ := l.v.Journal().Dreams()
		for _, d := range dreams {
			l.dreams[d.ID] = d.Model
		}
	}
	return l.dreams[o.Dream]
}

// quotes returns the evidence of an operation, each event once. Several readings of a session may
// quote the same event, and so may sessions that begin with a copy of another. A person's words and
// the output of commands then come before a model's reading.
func (l *Viewer) quotes(o record.Operation) []Quote {
	var out []Quote
	for _, s := range o.Sightings {
		for _, e := range s.Evidence {
			q := Quote{Client: s.Client, Session: s.Session, Event: e.Event, Quote: e.Quote, How: string(s.How), Model: s.Model, Says: s.Says, at: e.Time}
			i := slices.IndexFunc(out, func(p Quote) bool {
				return p.Quote == q.Quote && p.Client == q.Client &&
					(p.Session == q.Session && p.Event == q.Event || !q.at.IsZero() && p.at.Equal(q.at))
			})
			switch {
			case i < 0:
				out = append(out, q)
			case out[i].How == string(record.Model), record.Offered(out[i].Session):
				out[i] = q
			}
		}
	}
	for i := range out {
		out[i].By = l.whose(out[i])
	}
	return out
}

// whose returns the speaker of a quote: person, tool, agent, or "" if unknown. Said evidence comes
// from a person and seen evidence from a tool. For a model's quote the kept session decides. A
// transcript that an agent named proves nothing.
func (l *Viewer) whose(q Quote) string {
	if record.Offered(q.Session) {
		return ""
	}
	switch record.How(q.How) {
	case record.Said, record.Written:
		return "person"
	case record.Seen:
		return "tool"
	}
	name := q.Client + "/" + q.Session
	events, ok := l.sessions[name]
	if !ok {
		_, events, _ = l.c.Sessions.Load(name)
		l.sessions[name] = events
	}
	i := slices.IndexFunc(events, func(e transcript.Event) bool { return e.N == q.Event })
	if i < 0 {
		return ""
	}
	e := events[i]
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if !slices.ContainsFunc([]string{e.Text, e.Command, e.Old, e.New}, func(s string) bool { return strings.Contains(words(s), words(q.Quote)) }) {
		return ""
	}
	switch {
	case e.Kind == transcript.User && e.Origin == transcript.Typed:
		return "person"
	case e.Kind == transcript.User && (e.Origin == transcript.Injected || e.Origin == transcript.Command), e.Kind == transcript.Result, e.Kind == transcript.Error:
		return "tool"
	}
	return "agent"
}

// Quote is a passage of an operation's evidence, once per event.
type Quote struct {
	Client  string `json:"client"`
	Session string `json:"session"`
	Event   int    `json:"event"`
	Quote   string `json:"quote"`
	How     string `json:"how"`
	// the speaker: person, agent or tool; empty: no longer known
	By    string `json:"by"`
	Model string `json:"model,omitempty"` // that found them
	Says  string `json:"says,omitempty"`  // the session's own statement, if the operation's differs

	at time.Time
}
