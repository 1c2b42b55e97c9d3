// Package dream consolidates knowledge: it compares the lessons of sessions (reflections) with
// memories, pending operations and rejections, and returns the resulting operations.
//
// Begin with Plan. It reads no git and no clock, and writes nothing, so equal input gives an equal
// plan. It asks only which files the work tree has. Policy.Accepts decides which operations
// need no person. Both are safe for concurrent use.
package dream

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Input is the complete input of a dream.
type Input struct {
	Now        time.Time
	Memories   []record.Memory   // retired ones too
	Blobs      map[string]string // memory id → git's object id of its file, for pre-images
	Pending    []record.Operation
	Rejected   []record.Rejection
	Considered []record.Reflection // by earlier dreams: they count, but cause no operations
	New        []record.Reflection
	Private    []record.Kind   // kinds that stay in this clone
	Own        []record.Memory // the person's own memories, which every repository has

	// Tree is the work tree, whose files and folders statements name. It may be nil.
	Tree fs.FS

	// Written names the place of the repository that states a memory, or returns "". It may be nil.
	Written func(record.Memory) string

	// Further input of Consider.
	Withheld map[string]bool   // ids of memories that agents, and so models, must not see
	Weighed  map[string]bool   // items that a model has considered: as in Considered
	Agent    bool              // an agent may have written the answers: they settle nothing that waits
	Proposed map[string]string // branches that propose pending operations to the team, by their ids
}

// Result is the result of Plan.
type Result struct {
	Operations []record.Operation // new ones, and pending ones that changed
	Withdrawn  []string           // ids of pending operations that a correction replaced
	Notes      []Note             // findings that were not proposed, and why
	Proposed   int                // how many of Operations are new
	BorneOut   int                // candidates that repeated known or pending statements
	Written    []string           // places that state candidates, which were therefore dropped
}

// Note gives the reason why a candidate was dropped.
type Note struct {
	Reflection string // id
	Text       string // the candidate's statement
	Why        string
}

// weakSessions is the number of distinct sessions that turn a weak candidate into an operation.
const weakSessions = 3

// maxSightings bounds the sessions that an operation names; more add no proof.
const maxSightings = 40

// maxRetired is the share of live memories that one dream may propose to retire. One is always
// allowed.
const maxRetired = 0.3

// Plan compares new reflections with the known memories and operations.
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
	own      []known
	rejected rejections
	pending  []pending         // from the inbox, and those planned here
	past     []past            // candidates of reflections considered before
	orders   map[string][]past // by orderKey, nil until one is counted
	live     int
	retiring int
	res      Result
}

type known struct {
	record.Memory
	phrase
}

type pending struct {
	op record.Operation
	phrase
	fresh     bool // planned here
	changed   bool
	withdrawn bool
}

type past struct {
	sighting record.Sighting
	phrase
}

func newPlanner(in Input) *planner {
	p := &planner{in: in}
	for _, m := range in.Memories {
		p.known = append(p.known, known{m, phraseOf(m.Text)})
		for _, v := range m.Variants {
			p.known = append(p.known, known{m, phraseOf(v.Text)})
		}
		if m.Live(in.Now) {
			p.live++
		}
	}
	for _, m := range in.Own {
		p.own = append(p.own, known{m, phraseOf(m.Text)})
	}
	p.rejected = newRejections(in.Rejected)
	for _, o := range in.Pending {
		if o.Op == record.Skill {
			continue // it says nothing about the code
		}
		o.Sightings = slices.Clone(o.Sightings)
		p.pending = append(p.pending, pending{op: o, phrase: phraseOf(o.Memory.Text)})
	}
	for _, r := range in.Considered {
		for _, c := range r.Candidates {
			if c.Detector == record.Order {
				continue
			}
			p.past = append(p.past, past{sighting(r, c), phraseOf(c.Text)})
		}
	}
	return p
}

// consider compares a candidate with the memories, then with the pending operations, and makes an
// operation of it if neither has it.
func (p *planner) consider(r record.Reflection, c record.Candidate) {
	if c.Detector == record.Order {
		p.order(r, c)
		return
	}
	says, m, seen := phraseOf(c.Text), p.memory(r, c), sighting(r, c)
	note := func(why string) {
		p.res.Notes = append(p.res.Notes, Note{Reflection: r.ID(), Text: c.Text, Why: why})
	}
	switch against, repeats := p.settled(c, m, says); {
	case against != "":
		note(against)
		return
	case repeats:
		p.res.BorneOut++
		return
	}
	if q := p.supported(seen, m, says); q != nil {
		p.bearOut(q, r, c)
		p.res.BorneOut++
		return
	}
	op := record.Operation{Op: record.Add, How: c.How, Memory: m, Proposed: p.in.Now.UTC().Truncate(time.Second), Sightings: p.sightings(seen, says)}
	bearing := op.Sightings
	if c.How != record.Model {
		bearing = borne(bearing) // a model makes nothing less weak
	}
	if c.Weak && record.Sessions(bearing) < weakSessions && !p.restates(c, says) {
		p.past = append(p.past, past{seen, says})
		return
	}
	if where := p.written(c, m); where != "" {
		note(where + " says it already")
		// it counts once the repository no longer states it
		p.past = append(p.past, past{seen, says})
		p.res.Written = append(p.res.Written, where)
		return
	}
	if !p.relate(&op, r, c, says) {
		note("would retire more than three tenths of what is known at once")
		return
	}
	op = record.NewOperation(op)
	p.overtake(op, says)
	p.pending = append(p.pending, pending{op: op, phrase: says, fresh: true, changed: true})
}

// settled compares a candidate with the rejections and the memories. against is the reason to drop
// it, or "". repeats reports whether a memory says it.
func (p *planner) settled(c record.Candidate, m record.Memory, says phrase) (against string, repeats bool) {
	switch {
	case p.rejected.stop(c.How, says):
		return "was rejected before", false
	case c.Weak && p.repairs(c, says): // the failure and its remedy are known
		return "", true
	case slices.ContainsFunc(p.known, func(k known) bool { return k.ID == m.ID && !k.same(says) }):
		return "says what " + m.ID + " said before it was edited", false
	}
	if i := slices.IndexFunc(p.known, func(k known) bool { return k.same(says) }); i >= 0 {
		if k := p.known[i]; k.Status == record.Retired {
			return "was retired: " + k.ID, false
		}
		return "", true
	}
	if why := p.outdated(c, m, says); why != "" {
		return why, false
	}
	inForce := func(k known) bool { return k.Live(p.in.Now) && overlap(k.Paths, c.Paths) }
	return "", slices.ContainsFunc(p.known, func(k known) bool { return inForce(k) && k.covers(says) }) ||
		slices.ContainsFunc(p.own, func(k known) bool { return inForce(k) && (k.same(says) || k.covers(says)) })
}

// supported returns the pending operation that a sighting of a statement supports, or nil.
func (p *planner) supported(seen record.Sighting, m record.Memory, says phrase) *pending {
	for _, fits := range []func(pending) bool{
		func(q pending) bool { return q.op.Memory.ID == m.ID || q.same(says) },
		func(q pending) bool { return q.joined(says.text) },
	} {
		for i, q := range p.pending {
			if !q.withdrawn && q.takes(seen, says.text) && fits(q) {
				return &p.pending[i]
			}
		}
	}
	return nil
}

// sightings returns a sighting of a statement and the earlier ones.
func (p *planner) sightings(seen record.Sighting, says phrase) []record.Sighting {
	all := []record.Sighting{seen}
	for _, old := range p.past {
		if old.same(says) {
			s := old.sighting
			if old.text != says.text && s.How == record.Said && record.Doubtful(seen.Evidence) {
				s.Says = old.text // that was beyond doubt, this wording is not
			}
			all = join(all, s)
		}
	}
	return all
}

// relate finds related knowledge for an operation: statements that it corrects and thus supersedes,
// opposed statements on the same topic, which a person must weigh, and similar statements. It
// returns false if the operation would retire too much.
func (p *planner) relate(op *record.Operation, r record.Reflection, c record.Candidate, says phrase) bool {
	for _, k := range p.known {
		if !k.Live(p.in.Now) || slices.Contains(op.Memory.Supersedes, k.ID) || slices.Contains(op.Contradicts, k.ID) || slices.Contains(op.Alike, k.ID) {
			continue // a contested memory occurs once per variant
		}
		switch {
		case corrects(c, k.Memory), c.How == record.Said && says.covers(k.phrase) && overlap(c.Paths, k.Paths):
			op.Memory.Supersedes = append(op.Memory.Supersedes, k.ID)
			op.Base = append(op.Base, record.Base{ID: k.ID, Path: k.Path(), Blob: p.in.Blobs[k.ID]})
		case contradict(op.Memory, k.Memory, says, k.phrase):
			op.Contradicts = append(op.Contradicts, k.ID)
		case k.resembles(says):
			op.Alike = append(op.Alike, k.ID)
		}
	}
	if n := len(op.Memory.Supersedes); n > 0 {
		if p.retiring+n > max(1, int(maxRetired*float64(p.live))) {
			return false
		}
		p.retiring += n
	}
	slices.Sort(op.Memory.Supersedes)
	for i := range p.pending {
		q := &p.pending[i]
		if q.withdrawn {
			continue
		}
		switch replaces := (!record.Offered(r.Session) || q.hearsay()) && !q.outranks(c); {
		case corrects(c, q.op.Memory) && (!record.Offered(r.Session) || q.hearsay()):
			q.withdrawn = true
		case c.How == record.Said && replaces && q.op.Op == record.Add && overlap(c.Paths, q.op.Memory.Paths) && (says.replaces(q.phrase) || says.covers(q.phrase)):
			q.withdrawn = true
			op.Why = replaced(q.text, q.op.Sightings)
		case q.takes(sighting(r, c), c.Text) && contradict(op.Memory, q.op.Memory, says, q.phrase):
			op.Contradicts = append(op.Contradicts, q.op.Memory.ID)
		}
	}
	for _, old := range p.past {
		if op.Why == "" && c.How == record.Said && old.sighting.How == record.Said && old.sighting.Reflection != r.ID() && says.opposes(old.phrase) {
			op.Why = replaced(old.text, []record.Sighting{old.sighting})
		}
	}
	return true
}

// outranks reports whether an operation has better evidence than a candidate, which so cannot
// replace it.
func (q pending) outranks(c record.Candidate) bool {
	return rank(q.op.How) < rank(c.How) || record.Doubtful(c.Evidence) && slices.ContainsFunc(q.op.Sightings, plainlySaid(q.op.Memory.Text))
}

// replaced returns the earlier statement that a later one replaces, in its original words.
func replaced(text string, said []record.Sighting) string {
	when := ""
	if len(said) > 0 && len(said[0].Evidence) > 0 {
		e := said[0].Evidence[0]
		text = e.Quote
		if !e.Time.IsZero() {
			when = " of " + e.Time.UTC().Format(time.DateOnly)
		}
	}
	return fmt.Sprintf("it takes the place of %q%s", text, when)
}

// outdated returns why a person's words no longer count, because the person has since said
// otherwise; or "". An imported statement outdates nothing: its time is often that of the import.
func (p *planner) outdated(c record.Candidate, m record.Memory, says phrase) string {
	if c.How != record.Said {
		return ""
	}
	for _, k := range p.known {
		if k.Live(p.in.Now) && k.Source.How != record.Model && !k.Imported() && k.Source.Time.After(m.Source.Time) && overlap(k.Paths, c.Paths) && k.replaces(says) {
			return k.ID + " says otherwise since"
		}
	}
	for _, q := range p.pending {
		if later := q.op.Memory.Source; !q.withdrawn && later.How == record.Said && !q.op.Memory.Imported() && later.Time.After(m.Source.Time) && q.outranks(c) && q.replaces(says) {
			return q.op.ID + " says otherwise since"
		}
	}
	return ""
}

// restates reports whether a person's weak words replace a value of an earlier statement.
func (p *planner) restates(c record.Candidate, says phrase) bool {
	return c.How == record.Said &&
		(slices.ContainsFunc(p.known, func(k known) bool { return k.Live(p.in.Now) && k.opposes(says) }) ||
			slices.ContainsFunc(p.pending, func(q pending) bool { return !q.withdrawn && q.opposes(says) }))
}

// repairs reports whether a live memory, or a pending operation, has the error of a candidate as
// its trigger, but another remedy.
func (p *planner) repairs(c record.Candidate, says phrase) bool {
	about := func(m record.Memory) bool {
		t := m.Trigger()
		return c.Command != "" && len(c.Errors) > 0 && t.Command == c.Command && slices.Equal(t.Errors, c.Errors) && !says.same(phraseOf(m.Text))
	}
	return slices.ContainsFunc(p.known, func(k known) bool { return k.Live(p.in.Now) && about(k.Memory) }) ||
		slices.ContainsFunc(p.pending, func(q pending) bool { return !q.withdrawn && q.op.Op == record.Add && about(q.op.Memory) })
}

// written names the place of the repository that states a candidate, or returns "". A person who
// repeats it has a reason, so those words still count.
func (p *planner) written(c record.Candidate, m record.Memory) string {
	if p.in.Written == nil || c.How == record.Said {
		return ""
	}
	return p.in.Written(m)
}

// overtake removes pending additions that say the same as an operation with better evidence: a
// model's wording, an agent's offer, and doubtful words. A model's proposed changes to a memory
// stay.
func (p *planner) overtake(op record.Operation, says phrase) {
	for i := range p.pending {
		q := &p.pending[i]
		if !q.takes(op.Sightings[0], op.Memory.Text) && q.op.Op == record.Add && (q.op.ID == op.ID || q.same(says)) {
			q.withdrawn = true
		}
	}
}

// takes reports whether a sighting may support an operation with that text. An idle sighting may
// always be added. Plain words of a person and observed commands do not support an operation that a
// model worded or an agent offered. Plain words do not support other doubtful ones either.
func (q pending) takes(s record.Sighting, text string) bool {
	switch {
	case idle(s):
		return true
	case q.hearsay():
		return false
	}
	return s.How != record.Said || q.op.How != record.Said || q.op.Memory.Text == text ||
		slices.ContainsFunc(q.op.Sightings, plainlySaid(q.op.Memory.Text))
}

// joined reports whether an operation that sessions support got the evidence of another one, with
// that text.
func (q pending) joined(text string) bool {
	return !q.hearsay() && !q.same(phraseOf(text)) && slices.ContainsFunc(q.op.Sightings, func(s record.Sighting) bool { return s.Says == text })
}

// hearsay reports whether none of this clone's own sessions supports an operation, only a model, an
// agent or a file.
func (q pending) hearsay() bool {
	return q.op.How == record.Model || onlyOffered(q.op) || q.op.Memory.Imported()
}

// join adds a sighting if there is room. It drops an idle sighting first.
func join(all []record.Sighting, s record.Sighting) []record.Sighting {
	if len(all) < maxSightings {
		return append(all, s)
	}
	if i := slices.IndexFunc(all, idle); i >= 0 && !idle(s) {
		return append(slices.Delete(slices.Clone(all), i, i+1), s)
	}
	return all
}

// memory returns the memory that a candidate becomes if accepted.
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
	}).WithTrigger(record.Trigger{Command: c.Command, Errors: c.Errors, Guards: p.guards(c)})
}

// guards returns the calls at which the memory of a candidate acts. Facts and lessons of failures
// refuse nothing.
func (p *planner) guards(c record.Candidate) []string {
	switch c.Kind {
	case record.Constraint, record.Convention, record.Decision, record.Preference, record.Workflow:
		return guard.Propose(c.Text, p.in.Tree)
	}
	return nil
}

func sighting(r record.Reflection, c record.Candidate) record.Sighting {
	s := record.Sighting{Reflection: r.ID(), Client: r.Client, Session: r.Session, Parent: r.Parent, How: c.How, Evidence: c.Evidence}
	if c.How == record.Model {
		s.Model = r.Model
	}
	return s
}

// bearOut adds a sighting to a pending operation. A person's own words, beyond doubt, outrank
// observed commands, which outrank a model's reading.
func (p *planner) bearOut(q *pending, r record.Reflection, c record.Candidate) {
	s := sighting(r, c)
	joined := q.joined(c.Text)
	if joined {
		s.Says = c.Text
	}
	same := func(t record.Sighting) bool {
		return t.Client == s.Client && t.Session == s.Session && byModel(t) == byModel(s) && (!joined || t.Says == s.Says)
	}
	if i := slices.IndexFunc(q.op.Sightings, same); i >= 0 {
		if slices.EqualFunc(q.op.Sightings[i].Evidence, s.Evidence, func(a, b record.Evidence) bool { return a.Quote == b.Quote && a.Doubt == b.Doubt }) && rank(c.How) >= rank(q.op.How) {
			return // the session grew, but states the same
		}
		q.op.Sightings[i] = s
	} else {
		q.op.Sightings = join(q.op.Sightings, s)
	}
	q.changed = true
	if !joined && rank(c.How) < rank(q.op.How) && (!idle(s) || q.hearsay()) {
		q.op.How = c.How
		q.op.Memory.Source.How = c.How
		q.op = record.NewOperation(q.op)
	}
}

func rank(h record.How) int {
	return slices.Index([]record.How{record.Written, record.Said, record.Seen, record.Model}, h)
}

func (p *planner) result() Result {
	res := p.res
	for _, q := range p.pending {
		switch {
		case q.withdrawn && !q.fresh && !p.planned(q.op.ID):
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

// planned reports whether an operation comes from this plan.
func (p *planner) planned(id string) bool {
	return slices.ContainsFunc(p.pending, func(q pending) bool { return q.fresh && !q.withdrawn && q.op.ID == id })
}

// rejections holds the phrases that were rejected.
type rejections struct {
	all    []phrase
	others []phrase // that persons rejected, without a model's words
}

func newRejections(rejected []record.Rejection) rejections {
	var out rejections
	for _, r := range rejected {
		for _, text := range r.Statements() {
			says := phraseOf(text)
			out.all = append(out.all, says)
			if r.How != record.Model && r.Model == "" {
				out.others = append(out.others, says)
			}
		}
	}
	return out
}

// stop reports whether a candidate's statement was rejected. Rejecting a model's wording does not
// reject a person's words or observed commands.
func (r rejections) stop(how record.How, says phrase) bool {
	if how == record.Model {
		return slices.ContainsFunc(r.all, says.same)
	}
	return slices.ContainsFunc(r.others, says.same)
}
