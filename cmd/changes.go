package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/sergi/go-diff/diffmatchpatch"
)

// outlook is what a person has to see of an operation to decide it, beside the operation.
type outlook struct {
	model       string // the name of the one that proposed it, or ""
	changes     []change
	quotes      []quote
	contradicts []string          // ids: those of the operation, and what it takes the place of and says otherwise than
	retires     []string          // ids of the memories that accepting it retires
	texts       map[string]string // of the memories that it contradicts or that say nearly the same, by id
}

// change is what becomes of one memory.
type change struct {
	id    string
	held  bool // it is there; else the rest is empty
	was   record.Memory
	goes  bool     // it goes out of force
	words string   // its statement and the new one, word by word; "" where it stays, or goes
	lost  []string // fields that differ, each "name: before → after"
	body  bool     // its body is not in the new one
}

// looks are those of some operations, by id.
func (w *workspace) looks(ctx context.Context, ops ...record.Operation) (map[string]outlook, error) {
	all := map[string]outlook{}
	err := w.view(ctx, func(v *record.View) error {
		l := w.looker(v)
		for _, o := range ops {
			all[o.ID] = l.look(o)
		}
		return nil
	})
	return all, err
}

// looker remembers what it read for one look for the next.
type looker struct {
	w        *workspace
	v        *record.View
	sessions map[string][]transcript.Event
	dreams   map[string]string // id → model
	waits    map[string]string // id of the memory that an operation would make → its statement
}

func (w *workspace) looker(v *record.View) *looker {
	return &looker{w: w, v: v, sessions: map[string][]transcript.Event{}}
}

func (l *looker) look(o record.Operation) outlook {
	out := outlook{model: l.model(o), quotes: l.quotes(o), contradicts: slices.Clone(o.Contradicts), texts: map[string]string{}}
	if o.Op == record.Skill {
		return out
	}
	out.retires = dream.Overruled(l.v, o, l.w.env.Now())
	for _, base := range o.Base {
		c := change{id: base.ID, goes: o.Op == record.Retire || base.ID != o.Memory.ID}
		if m, err := l.v.Find(base.ID); err == nil {
			c.held, c.was = true, m
			c.compare(o)
			if !slices.Contains(out.contradicts, c.id) && (o.Op == record.Edit || o.Op == record.Merge) &&
				!slices.ContainsFunc(m.Texts(), func(t record.Variant) bool { return !dream.Overturns(t.Text, o.Memory.Text) }) {
				out.contradicts = append(out.contradicts, c.id)
			}
		}
		out.changes = append(out.changes, c)
	}
	for _, id := range append(slices.Clone(out.contradicts), o.Alike...) {
		if m, err := l.v.Find(id); err == nil {
			out.texts[id] = m.Text
		} else {
			out.texts[id] = l.proposed(id)
		}
	}
	return out
}

// proposed is the statement of an operation that waits, by the id that its memory would have, or "".
func (l *looker) proposed(id string) string {
	if l.waits == nil {
		l.waits = map[string]string{}
		ops, _ := l.v.Operations()
		for _, o := range ops {
			l.waits[o.Memory.ID] = o.Memory.Text
		}
	}
	return l.waits[id]
}

// compare finds what of a memory an operation would lose.
func (c *change) compare(o record.Operation) {
	was, now := c.was, o.Memory
	if o.Op == record.Retire {
		return
	}
	if was.Text != now.Text {
		c.words = wordDiff(was.Text, now.Text)
	}
	c.body = was.Body != "" && !strings.Contains(now.Body, was.Body)
	field := func(name, before, after string) {
		if before != after {
			c.lost = append(c.lost, name+": "+cmp.Or(before, "none")+" → "+cmp.Or(after, "none"))
		}
	}
	date := func(m record.Memory) string {
		if m.Expires.IsZero() {
			return ""
		}
		return m.Expires.Format("2006-01-02")
	}
	field("kind", string(was.Kind), string(now.Kind))
	field("status", string(was.Status), string(now.Status))
	field("paths", cmp.Or(strings.Join(was.Paths, " "), "everywhere"), cmp.Or(strings.Join(now.Paths, " "), "everywhere"))
	field("tags", strings.Join(was.Tags, " "), strings.Join(now.Tags, " "))
	field("topic", was.Topic, now.Topic)
	field("only on", sideText(was), sideText(now))
	field("expires", date(was), date(now))
	field("anchors", strings.Join(was.Anchors, ", "), strings.Join(now.Anchors, ", "))
	for _, v := range was.Variants {
		if v.Text != now.Text {
			c.lost = append(c.lost, "the other text: "+v.Text)
		}
	}
}

func (c change) json() changeJSON {
	j := changeJSON{ID: c.id, Goes: c.goes, Words: c.words, Lost: list(c.lost)}
	if c.held {
		m := newMemoryJSON(c.was)
		j.Was = &m
	}
	return j
}

// model is the name of the model that proposed an operation, or "".
func (l *looker) model(o record.Operation) string {
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
		dreams, _ := l.v.Dreams()
		for _, d := range dreams {
			l.dreams[d.ID] = d.Model
		}
	}
	return l.dreams[o.Dream]
}

// quotes are the words that an operation rests on. Several readings of a session quote the same event, and so do sessions that
// begin with a copy of another: a person's words and what commands showed come before what a model read there.
func (l *looker) quotes(o record.Operation) []quote {
	var out []quote
	for _, s := range o.Sightings {
		for _, e := range s.Evidence {
			q := quote{Client: s.Client, Session: s.Session, Event: e.Event, Quote: e.Quote, How: string(s.How), Model: s.Model, Says: s.Says, at: e.Time}
			i := slices.IndexFunc(out, func(p quote) bool {
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

// whose says whose words a quote is. What was said is a person's, and what was seen a tool's; where a model quotes, the
// session tells, if it is still kept here. Nobody can tell of a transcript that an agent named.
func (l *looker) whose(q quote) string {
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
		_, events, _ = l.w.Sessions.Load(name)
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

// wordDiff is two statements as one, word by word: [-gone-] and {+new+}.
func wordDiff(before, after string) string {
	lines := func(s string) string {
		var b strings.Builder
		for _, word := range strings.Fields(s) {
			b.WriteString(word + "\n")
		}
		return b.String()
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // the answer must not depend on the clock
	a, b, words := d.DiffLinesToRunes(lines(before), lines(after))
	var out []string
	for _, part := range d.DiffMainRunes(a, b, false) {
		var text []string
		for _, r := range part.Text {
			text = append(text, strings.TrimSuffix(words[r], "\n"))
		}
		run := strings.Join(text, " ")
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			run = "[-" + run + "-]"
		case diffmatchpatch.DiffInsert:
			run = "{+" + run + "+}"
		}
		out = append(out, run)
	}
	return strings.Join(out, " ")
}

// maxShownQuotes is how many quotes of an operation are shown; JSON has them all.
const maxShownQuotes = 8

// maxShownQuote is how much of a quote is shown, in cells.
const maxShownQuote = 240

// showOperation writes an operation with what it rests on and what it would change.
func (w *workspace) showOperation(o record.Operation, waits string, l outlook) {
	env := w.env
	m := o.Memory
	env.Lay(2, term.Span(term.Bold, o.ID[:8]), term.Span("", fmt.Sprintf(" %s %s · %s%s", o.Verb(), m.Kind, o.How, seenIn(o))))
	tell := func(name, text string) { env.Labelled(2, term.Dim, name, text) }
	if l.model != "" {
		edited := ""
		if o.How == record.Written {
			edited = ", then edited"
		}
		tell("proposed by", l.model+", a model"+edited)
	}
	if o.Op == record.Retire {
		if reasons := m.Reasons(); len(reasons) > 0 {
			tell("reason", strings.Join(reasons, " "))
		}
	} else {
		env.LayIn(min(env.Width, term.MaxMeasure), 2, "", []term.Styled{term.Span("", "  "), term.Span(term.Bold, term.Visible(m.Text))})
		if m.Body != "" {
			env.Indent("  ", m.Body)
		}
	}
	if o.Op == record.Skill {
		tell("file", o.Path)
		env.Indent("    ", strings.TrimSuffix(o.File, "\n"))
	}
	if len(m.Paths) > 0 && o.Op != record.Retire {
		tell("paths", strings.Join(m.Paths, " "))
	}
	if m.Branch != "" {
		tell("only on", sideText(m))
	}
	if !m.Expires.IsZero() && o.Op != record.Retire {
		tell("until", m.Expires.Format("2006-01-02"))
	}
	w.showChanges(l.changes)
	w.showGrounds(o, waits, l, maxShownQuotes)
}

// showGrounds writes what an operation rests on, with at most so many quotes, and what speaks against it.
func (w *workspace) showGrounds(o record.Operation, waits string, l outlook, quotes int) {
	env := w.env
	tell := func(name, text string) { env.Labelled(2, term.Dim, name, text) }
	says := ""
	for i, q := range l.quotes {
		if i == quotes {
			env.Lay(4, term.Span("", "  "), term.Span(term.Dim, "… and "+term.Count(len(l.quotes)-i, "more quote", "more quotes")))
			break
		}
		if q.Says != says && q.Says != "" {
			tell("a session's own words", q.Says)
		}
		says = q.Says
		by := cmp.Or(q.By, "somebody") + ", " + q.How
		if q.Model != "" {
			by += " " + q.Model
		}
		tell(q.Client+"/"+short(q.Session)+" "+eventMark(q.Event)+": "+by, term.OneLine(q.Quote, max(maxShownQuote, env.Width)))
	}
	if o.Why != "" {
		tell("because", o.Why)
	}
	for _, id := range l.contradicts {
		env.Labelled(2, term.Red, "contradicts", id[:8]+" "+l.texts[id])
		if slices.Contains(l.retires, id) {
			env.Labelled(2, term.Red, "accepting retires", id[:8])
		}
	}
	for _, id := range o.Alike {
		tell("much like", id[:8]+" "+l.texts[id])
	}
	if waits != "" {
		tell("waits because", waits)
	}
}

// seenIn says in how many sessions, where it was one at all.
func seenIn(o record.Operation) string {
	n := record.Sessions(o.Sightings)
	if n == 0 {
		return ""
	}
	return ", " + term.Count(n, "session", "sessions")
}

// showChanges writes what becomes of the memories that an operation is about: all that they would lose.
func (w *workspace) showChanges(changes []change) {
	env := w.env
	for _, c := range changes {
		what := "changes"
		if c.goes {
			what = "takes out of force"
		}
		if !c.held {
			env.Labelled(2, term.Dim, what, c.id[:8]+", which is not here")
			continue
		}
		env.Labelled(2, term.Dim, what, c.id[:8]+" "+string(c.was.Kind))
		env.Lay(6, term.Span("", "    "), term.Span(term.Red, "-"), term.Span("", " "+term.Visible(c.was.Text)))
		if c.words != "" {
			env.Labelled(4, term.Dim, "words", c.words)
		}
		if c.goes && c.words == "" && c.was.Body != "" || c.body {
			env.Indent("    - ", c.was.Body)
		}
		if c.goes && c.words == "" && len(c.was.Paths) > 0 {
			env.Labelled(4, term.Dim, "paths", strings.Join(c.was.Paths, " "))
		}
		for _, field := range c.lost {
			env.Lay(6, term.Span("", "    "+term.Visible(field)))
		}
	}
}

// lookJSON is an operation with all that a person has to see of it.
func lookJSON(o record.Operation, waits string, l outlook) operationJSON {
	j := newOperationJSON(o, waits)
	j.Model, j.Quotes, j.Contradicts = l.model, l.quotes, list(l.contradicts)
	for _, c := range l.changes {
		j.Changes = append(j.Changes, c.json())
	}
	return j
}
