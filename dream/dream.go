// Package dream consolidates: it holds what sessions taught (reflections) against what is
// known (memories, pending operations, rejections) and says which operations follow.
//
// Plan is the entry. It is pure: it reads no git, asks no clock and writes nothing, so the
// same input gives the same plan. Accepts says which of the operations a policy lets through
// without a person. Both are safe for concurrent use.
package dream

import (
	"cmp"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Input is everything a dream looks at.
type Input struct {
	Now        time.Time
	Memories   []record.Memory   // retired ones too
	Blobs      map[string]string // memory id → git's object id of its file, for pre-images
	Pending    []record.Operation
	Rejected   []record.Rejection
	Considered []record.Reflection // by earlier dreams: they count, but are not planned from
	New        []record.Reflection
	Private    []record.Kind // kinds that stay in this clone

	// What Consider wants to know besides.
	Withheld map[string]bool // ids of memories that agents, and so models, are not given
	Weighed  map[string]bool // what a model was asked about before: as in Considered
}

// Result is what follows from an Input.
type Result struct {
	Operations []record.Operation // new ones, and pending ones that changed
	Withdrawn  []string           // ids of pending operations that a correction took the place of
	Notes      []Note             // what was found and not proposed, and why
	Proposed   int                // how many of Operations are new
	BorneOut   int                // candidates that said what was already known or pending
}

// Note says why a candidate came to nothing.
type Note struct {
	Reflection string // id
	Text       string // the candidate's statement
	Why        string
}

// weakSessions is how many distinct sessions make an operation of a weak candidate.
const weakSessions = 3

// maxSightings is how many sessions an operation names; more prove nothing more.
const maxSightings = 40

// maxRetired is the share of live memories that one dream may propose to retire. A dream may
// always retire one.
const maxRetired = 0.3

// Plan holds new reflections against what is known.
func Plan(in Input) Result {
	p := newPlanner(in)
	reflections := slices.Clone(in.New)
	slices.SortFunc(reflections, func(a, b record.Reflection) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID(), b.ID()))
	})
	for _, r := range reflections {
		for _, c := range r.Candidates {
			p.consider(r, c)
		}
	}
	return p.result()
}

// planner is the state of one Plan.
type planner struct {
	in       Input
	known    []known // memories
	rejected []record.Fingerprint
	pending  []pending // from the inbox, and those planned here
	past     []past    // candidates of reflections considered before
	live     int
	retiring int
	res      Result
}

type known struct {
	record.Memory
	print record.Fingerprint
}

type pending struct {
	op        record.Operation
	print     record.Fingerprint
	fresh     bool // planned here
	changed   bool
	withdrawn bool
}

type past struct {
	sighting record.Sighting
	print    record.Fingerprint
}

func newPlanner(in Input) *planner {
	p := &planner{in: in}
	for _, m := range in.Memories {
		p.known = append(p.known, known{m, record.Print(m.Text)})
		for _, v := range m.Variants {
			p.known = append(p.known, known{m, record.Print(v.Text)})
		}
		if m.Live(in.Now) {
			p.live++
		}
	}
	for _, r := range in.Rejected {
		p.rejected = append(p.rejected, record.Print(r.Text))
	}
	for _, o := range in.Pending {
		if o.Op == record.Skill {
			continue // it says nothing about the code
		}
		p.pending = append(p.pending, pending{op: o, print: record.Print(o.Memory.Text)})
	}
	for _, r := range in.Considered {
		for _, c := range r.Candidates {
			p.past = append(p.past, past{sighting(r, c), record.Print(c.Text)})
		}
	}
	return p
}

func (p *planner) consider(r record.Reflection, c record.Candidate) {
	print := record.Print(c.Text)
	note := func(why string) {
		p.res.Notes = append(p.res.Notes, Note{Reflection: r.ID(), Text: c.Text, Why: why})
	}
	if slices.ContainsFunc(p.rejected, print.Same) {
		note("was rejected before")
		return
	}
	m := p.memory(r, c)
	if i := slices.IndexFunc(p.known, func(k known) bool { return k.ID == m.ID && !k.print.Same(print) }); i >= 0 {
		note("says what " + m.ID + " said before it was edited")
		return
	}
	if i := slices.IndexFunc(p.known, func(k known) bool { return k.print.Same(print) }); i >= 0 {
		if p.known[i].Status == record.Retired {
			note("was retired: " + p.known[i].ID)
			return
		}
		p.res.BorneOut++
		return
	}
	if i := slices.IndexFunc(p.pending, func(q pending) bool { return !q.withdrawn && (q.op.Memory.ID == m.ID || q.print.Same(print)) }); i >= 0 {
		p.bearOut(&p.pending[i], r, c)
		p.res.BorneOut++
		return
	}
	op := record.Operation{Op: record.Add, How: c.How, Memory: m, Proposed: p.in.Now.UTC().Truncate(time.Second)}
	op.Sightings = append(op.Sightings, sighting(r, c))
	for _, old := range p.past {
		if len(op.Sightings) < maxSightings && old.print.Same(print) {
			op.Sightings = append(op.Sightings, old.sighting)
		}
	}
	if c.Weak && record.Sessions(op.Sightings) < weakSessions {
		p.past = append(p.past, past{sighting(r, c), print})
		return
	}
	if !p.relate(&op, c, print) {
		note("would retire more than three tenths of what is known at once")
		return
	}
	op = record.NewOperation(op)
	p.pending = append(p.pending, pending{op: op, print: print, fresh: true, changed: true})
}

// memory is what a candidate becomes if it is accepted.
func (p *planner) memory(r record.Reflection, c record.Candidate) record.Memory {
	at := r.Started
	if len(c.Evidence) > 0 && !c.Evidence[0].Time.IsZero() {
		at = c.Evidence[0].Time
	}
	if at.IsZero() {
		at = p.in.Now
	}
	return record.New(record.Memory{
		Kind: c.Kind, Text: c.Text, Body: c.Body, Paths: c.Paths, Tags: c.Tags, Topic: c.Topic,
		Source:  record.Source{Time: at, By: r.Client + "/" + r.Session, Commit: r.Commit, How: c.How},
		Private: slices.Contains(p.in.Private, c.Kind),
	})
}

func sighting(r record.Reflection, c record.Candidate) record.Sighting {
	s := record.Sighting{Reflection: r.ID(), Client: r.Client, Session: r.Session, Parent: r.Parent, How: c.How, Evidence: c.Evidence}
	if c.How == record.Model {
		s.Model = r.Model
	}
	return s
}

// bearOut adds a sighting to a pending operation. A person's own words outrank what commands
// showed, and that outranks a model's reading.
func (p *planner) bearOut(q *pending, r record.Reflection, c record.Candidate) {
	s := sighting(r, c)
	same := func(t record.Sighting) bool { return t.Client == s.Client && t.Session == s.Session }
	if i := slices.IndexFunc(q.op.Sightings, same); i >= 0 {
		if slices.EqualFunc(q.op.Sightings[i].Evidence, s.Evidence, func(a, b record.Evidence) bool { return a.Quote == b.Quote }) && rank(c.How) >= rank(q.op.How) {
			return // the session grew, and says what it said before
		}
		q.op.Sightings[i] = s
	} else if len(q.op.Sightings) < maxSightings {
		q.op.Sightings = append(q.op.Sightings, s)
	}
	q.changed = true
	switch {
	case rank(c.How) >= rank(q.op.How):
	case q.op.How == record.Model:
		p.overtake(q, r, c)
	default:
		q.op.How = c.How
		q.op.Memory.Source.How = c.How
		q.op = record.NewOperation(q.op)
	}
}

// overtake proposes what a model said in the words of the session that says it too: those a policy may let through, a
// model's never. What a model would change of a memory stays its own.
func (p *planner) overtake(q *pending, r record.Reflection, c record.Candidate) {
	if q.op.Op != record.Add {
		return
	}
	op := record.Operation{Op: record.Add, How: c.How, Memory: p.memory(r, c), Sightings: q.op.Sightings, Proposed: p.in.Now.UTC().Truncate(time.Second)}
	print := record.Print(c.Text)
	q.withdrawn = true
	if !p.relate(&op, c, print) {
		q.withdrawn = false
		return
	}
	op = record.NewOperation(op)
	if op.ID == q.op.ID {
		q.op, q.withdrawn = op, false
		return
	}
	p.pending = append(p.pending, pending{op: op, print: print, fresh: true, changed: true})
}

func rank(h record.How) int {
	return slices.Index([]record.How{record.Written, record.Said, record.Seen, record.Model}, h)
}

func (p *planner) result() Result {
	res := p.res
	for _, q := range p.pending {
		switch {
		case q.withdrawn && !q.fresh:
			res.Withdrawn = append(res.Withdrawn, q.op.ID)
		case q.changed && !q.withdrawn:
			res.Operations = append(res.Operations, q.op)
			if q.fresh {
				res.Proposed++
			}
		}
	}
	return res
}
