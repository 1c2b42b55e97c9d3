package dream

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/prompts"
)

// Bounds of a model's requests, beyond those of the schemas.
const (
	maxStatement = 240     // characters of a new statement, as for a candidate
	minStatement = 12      // characters
	maxReason    = 300     // bytes of a reason
	maxNewBody   = 4 << 10 // bytes of a body
	maxTargets   = 5       // memories that one answer's operation changes
	maxGrown     = 1.5     // maximum growth of a memory by an edit
	grownBy      = 120     // and by how many bytes more
	maxMerged    = 1.05    // maximum length of a merged memory, relative to its parts together
)

// apply turns a model's request into operations, or returns the reason to refuse it.
func (c *considering) apply(q question, o prompts.DreamOperation) (why string) {
	if o.Op == "join" || o.Op == "close" {
		return settler{c}.apply(q, o)
	}
	var targets []record.Memory
	for _, ref := range o.Targets {
		m, shown := q.memories[ref]
		switch {
		case !shown:
			return "names what it was not shown"
		case slices.ContainsFunc(targets, func(t record.Memory) bool { return t.ID == m.ID }):
			return "names a memory twice"
		case m.Status == record.Contested:
			return "is about a contested memory"
		}
		targets = append(targets, m)
	}
	var evidence []*group
	for _, ref := range o.Evidence {
		g, shown := q.shown[ref]
		if !shown {
			return "names what it was not shown"
		}
		if !slices.Contains(evidence, g) {
			evidence = append(evidence, g)
		}
	}
	switch {
	case len(evidence) == 0:
		return "rests on nothing"
	case len(targets) > maxTargets:
		return "is about too many memories"
	}
	op := record.Op(o.Op)
	switch n := len(targets); {
	case op == record.Add && n == 0, op == record.Edit && n == 1, op == record.Merge && n >= 2, op == record.Retire && n >= 1:
	default:
		return "is no operation"
	}
	w := wish{text: o.Text, body: o.Body, kind: record.Kind(o.Kind), why: o.Why, private: q.private, groups: evidence}
	for _, g := range evidence {
		w.voices = append(w.voices, &g.voice)
	}
	switch op {
	case record.Add:
		return c.add(w)
	case record.Edit:
		return c.edit(w, targets[0])
	case record.Merge:
		return c.merge(w, targets)
	}
	return c.retire(w, targets)
}

// wish is a change that a model requests, with its evidence.
type wish struct {
	text, body string
	kind       record.Kind
	why        string
	private    bool // all of the model's input stays in this clone, and so do the results
	voices     []*voice
	groups     []*group // of an answer about candidates
}

// sightings returns the evidence of a model's operation for its reviewer: each sighting unchanged,
// with its session's statement.
func (w wish) sightings(o record.Operation) []record.Sighting {
	var out []record.Sighting
	for _, v := range w.voices {
		for _, s := range v.sightings {
			if s.Says = v.Text; o.Op != record.Retire && s.Says == o.Memory.Text {
				s.Says = ""
			}
			out = join(out, s)
		}
	}
	return out
}

// onlyPrivate is the reason against deriving shared text from private text.
const onlyPrivate = "rests on what stays in this clone"

// weak returns why a wish may not change some memories, or "". The evidence must relate to each of
// them and come from two sessions or be a person's own words, even if only a model noticed them. A
// model's other readings do not count.
func (w wish) weak(targets ...record.Memory) (why string) {
	var all []record.Sighting
	for _, v := range w.voices {
		all = append(all, v.sightings...)
	}
	if !strong(all) {
		return "rests on too little"
	}
	for _, t := range targets {
		var about []record.Sighting
		for _, v := range w.voices {
			if v.about(t) {
				about = append(about, v.sightings...)
			}
		}
		if !strong(about) {
			return "rests on what is about something else"
		}
	}
	return ""
}

// strong reports whether sightings suffice to change a memory: two sessions, or a person's own
// words.
func strong(sightings []record.Sighting) bool {
	if slices.ContainsFunc(sightings, personsWords) {
		return true
	}
	sightings = slices.DeleteFunc(borne(sightings), unmarked)
	return record.Sessions(sightings) >= 2 || slices.ContainsFunc(sightings, func(s record.Sighting) bool { return s.How == record.Said })
}

// personsWords reports whether a sighting of a model quotes a person's own words, beyond doubt.
func personsWords(s record.Sighting) bool {
	return s.How == record.Model && !record.Offered(s.Session) &&
		slices.ContainsFunc(s.Evidence, func(e record.Evidence) bool { return e.By == record.ByPerson && e.Doubt == "" })
}

func (c *considering) add(w wish) (why string) {
	first := w.groups[0]
	m := record.Memory{Kind: w.kind, Text: w.text, Body: w.body, Topic: first.Topic, Paths: first.Paths, Source: first.source}
	for _, g := range w.groups {
		if g.Topic != m.Topic {
			m.Topic = ""
		}
		if !slices.Equal(g.Paths, m.Paths) {
			m.Paths = nil
		}
	}
	m.Private = w.private || c.private(m.Kind)
	if why := checkWords(w.text, w.body); why != "" {
		return why
	}
	if !m.Kind.Valid() {
		return "has no kind"
	}
	if utf8.RuneCountInString(w.text) > maxStatement {
		return "is too long"
	}
	return c.propose(c.complete(record.Operation{Op: record.Add, Memory: record.New(m)}, w))
}

func (c *considering) edit(w wish, target record.Memory) (why string) {
	if w.body == "" {
		w.body = target.Body
	}
	if w.kind == "" {
		w.kind = target.Kind
	}
	m := target
	m.Text, m.Body, m.Kind = strings.TrimSpace(w.text), w.body, w.kind
	switch {
	case checkWords(w.text, w.body) != "":
		return checkWords(w.text, w.body)
	case !w.kind.Valid():
		return "has no kind"
	case float64(len(m.Text)+len(m.Body)) > maxGrown*float64(len(target.Text)+len(target.Body))+grownBy:
		return "makes a memory much longer"
	case m.Text == target.Text && m.Body == target.Body && m.Kind == target.Kind:
		return "changes nothing"
	case target.Kind == record.Constraint && m.Kind != record.Constraint:
		return "weakens a constraint"
	case w.weak(target) != "":
		return w.weak(target)
	case record.Print(m.Text).Alike(record.Print(target.Text)) < near:
		return "is about something else"
	case c.private(m.Kind) != c.private(target.Kind):
		return "moves a memory into or out of this clone"
	case w.private && !target.Private:
		return onlyPrivate
	}
	return c.propose(c.complete(record.Operation{Op: record.Edit, Memory: m}, w, target))
}

func (c *considering) merge(w wish, targets []record.Memory) (why string) {
	first := targets[0]
	m := record.Memory{Kind: w.kind, Text: w.text, Body: w.body, Topic: first.Topic, Branch: first.Branch, Expires: first.Expires, Private: first.Private}
	m.Source = record.Source{Time: c.in.Now, How: record.Model, By: first.Source.By, Commit: first.Source.Commit}
	if len(w.groups) > 0 {
		m.Source = w.groups[0].source
	}
	parts, everywhere, constraint := 0, false, false
	var bodies []string
	for _, t := range targets {
		if t.Branch != m.Branch || !t.Expires.Equal(m.Expires) {
			return "joins what holds in different places"
		}
		if t.Private != m.Private {
			return "moves a memory into or out of this clone"
		}
		if t.Topic != m.Topic {
			m.Topic = ""
		}
		if t.Body != "" && !slices.Contains(bodies, t.Body) {
			bodies = append(bodies, t.Body)
		}
		parts += len(t.Text) + len(t.Body)
		everywhere = everywhere || len(t.Paths) == 0
		constraint = constraint || t.Kind == record.Constraint
		m.Paths, m.Tags = append(m.Paths, t.Paths...), append(m.Tags, t.Tags...)
		m.Anchors = append(m.Anchors, t.Anchors...)
		m.Supersedes = append(m.Supersedes, t.ID)
	}
	if everywhere {
		m.Paths = nil
	}
	if m.Kind == "" {
		m.Kind = first.Kind
	}
	if m.Body == "" {
		m.Body = strings.Join(bodies, "\n\n")
	}
	slices.Sort(m.Supersedes)
	slices.Sort(m.Anchors)
	m.Anchors = slices.Compact(m.Anchors)
	switch {
	case checkWords(m.Text, m.Body) != "":
		return checkWords(m.Text, m.Body)
	case !m.Kind.Valid():
		return "has no kind"
	case float64(len(m.Text)+len(m.Body)) > maxMerged*float64(parts)+2*float64(len(bodies)): // the empty lines between bodies
		return "is longer than its parts"
	case w.weak(targets...) != "":
		return w.weak(targets...)
	case constraint && m.Kind != record.Constraint:
		return "weakens a constraint"
	case c.private(m.Kind) && !m.Private:
		return "moves a memory into or out of this clone"
	case w.private && !m.Private:
		return onlyPrivate
	}
	return c.propose(c.complete(record.Operation{Op: record.Merge, Memory: record.New(m)}, w, targets...))
}

// retire proposes to retire some memories: all of them, or none.
func (c *considering) retire(w wish, targets []record.Memory) (why string) {
	if why := w.weak(targets...); why != "" {
		return why
	}
	reason := reason(w.why)
	if reason == "" {
		reason = "A model found that it does not hold any more."
	}
	var ops []record.Operation
	for _, t := range targets {
		if w.private && !t.Private {
			return onlyPrivate
		}
		o := c.complete(record.Operation{Op: record.Retire, Memory: t.Retire(reason)}, w, t)
		if why := c.stops(o); why != "" {
			return why
		}
		ops = append(ops, o)
	}
	if c.retiring+len(ops) > c.mayRetire() {
		return "would retire too much"
	}
	for _, o := range ops {
		c.take(o)
	}
	return ""
}

// mayRetire bounds the memories that operations may be about to retire.
func (c *considering) mayRetire() int { return max(1, int(maxRetired*float64(c.live))) }

// complete fills in the derived fields: the pre-images of an operation, and related knowledge.
func (c *considering) complete(o record.Operation, w wish, targets ...record.Memory) record.Operation {
	o.How, o.Model, o.Why, o.Proposed = record.Model, c.model, reason(w.why), c.in.Now.UTC().Truncate(time.Second)
	o.Sightings = w.sightings(o)
	for _, t := range targets {
		o.Base = append(o.Base, record.Base{ID: t.ID, Path: t.Path(), Blob: c.in.Blobs[t.ID]})
		if o.Op != record.Retire && !slices.ContainsFunc(t.Texts(), func(v record.Variant) bool { return !Overturns(v.Text, o.Memory.Text) }) {
			o.Contradicts = append(o.Contradicts, t.ID)
		}
	}
	if o.Op != record.Retire {
		says := phraseOf(o.Memory.Text)
		for _, k := range c.known {
			switch {
			case !k.Live(c.in.Now), changes(o, k.ID), slices.Contains(o.Contradicts, k.ID), slices.Contains(o.Alike, k.ID):
			case c.in.Withheld[k.ID], k.Private && !o.Memory.Private:
			case contradict(o.Memory, k.Memory, says, k.phrase):
				o.Contradicts = append(o.Contradicts, k.ID)
			case k.resembles(says):
				o.Alike = append(o.Alike, k.ID)
			}
		}
	}
	return record.NewOperation(o)
}

// changes reports whether an operation is about a memory.
func changes(o record.Operation, id string) bool {
	return slices.ContainsFunc(o.Base, func(b record.Base) bool { return b.ID == id })
}

// propose adds an operation to those of this dream, or returns why not.
func (c *considering) propose(o record.Operation) (why string) {
	if why := c.stops(o); why != "" {
		return why
	}
	if n := retires(o); n > 0 && c.retiring+n > c.mayRetire() {
		return "would retire too much"
	}
	c.take(o)
	return ""
}

func (c *considering) take(o record.Operation) {
	for _, b := range o.Base {
		c.touched[b.ID] = true
	}
	c.await(o)
	c.out.Operations = append(c.out.Operations, o)
}

// stops returns the known, pending or rejected item that forbids an operation, or "".
func (c *considering) stops(o record.Operation) (why string) {
	if o.How != record.Model || o.Op != record.Add && len(o.Base) == 0 {
		return "is no operation"
	}
	if o.Op != record.Edit && c.refused[o.ID] {
		return "was rejected before"
	}
	for _, b := range o.Base {
		switch {
		case c.touched[b.ID]:
			return "changes a memory twice"
		case c.waiting[b.ID]:
			return "changes what waits to be changed"
		case c.in.Withheld[b.ID]:
			return "changes what is withheld"
		case b.Blob == "" || b.Blob != c.in.Blobs[b.ID]:
			return "changes what has changed"
		case !slices.ContainsFunc(c.known, func(k known) bool { return k.ID == b.ID && k.Live(c.in.Now) }):
			return "changes what is not in force"
		}
	}
	if o.Op == record.Retire {
		return ""
	}
	if len(o.Memory.Format()) > record.MaxMemory {
		return "is too long"
	}
	says := phraseOf(o.Memory.Text)
	if c.rejected.stop(record.Model, says) {
		return "was rejected before"
	}
	for _, k := range c.known {
		switch {
		case changes(o, k.ID) || !k.same(says):
		case k.Status == record.Retired:
			return "was retired"
		default:
			return "restates a memory"
		}
	}
	if o.Op != record.Edit && slices.ContainsFunc(c.known, func(k known) bool { return k.ID == o.Memory.ID }) {
		return "says what a memory said before"
	}
	if slices.ContainsFunc(c.pending, func(q pending) bool {
		return q.op.Op != record.Retire && (q.op.ID == o.ID || q.same(says))
	}) {
		return "waits already"
	}
	return ""
}

// checkWords returns a fault in the form of a text, or "". It does not check the length.
func checkWords(text, body string) (why string) {
	least := minStatement
	if len(text) > utf8.RuneCountInString(text)*2 { // a script whose characters are words
		least = minStatement / 3
	}
	switch {
	case strings.ContainsAny(strings.TrimSpace(text), "\r\n"):
		return "is not one line"
	case utf8.RuneCountInString(strings.TrimSpace(text)) < least:
		return "is too short"
	case len(text) > record.MaxText, len(body) > maxNewBody:
		return "is too long"
	case strings.ContainsFunc(text+body, hidden):
		return "hides characters"
	case strings.Contains(text, "[redacted:"):
		return "is redacted"
	}
	return ""
}

// hidden reports whether a character moves, hides or reverses its neighbours.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\r', '\u200c', '\u200d': // Persian and emoji need the last two
		return false
	}
	return unseen.Control(r) || r == unicode.ReplacementChar
}

// reason returns a model's reason on one line, bounded, or "" if it hides characters.
func reason(why string) string {
	why = strings.Join(strings.Fields(why), " ")
	if strings.ContainsFunc(why, hidden) {
		return ""
	}
	return clip(why, maxReason)
}
