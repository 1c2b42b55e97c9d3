package dream

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/prompts"
)

// Settled is a pending operation that a model takes out of the inbox. A person can return it.
type Settled struct {
	Operation record.Operation // as it waited
	Into      string           // id of the operation that gets its evidence; "" if none does
	Since     string           // the finding, in words of code: "1f2e3d4c says it"
	Why       string           // the model's reason, or ""
	By        record.Base      // the memory that says it, if one does
}

// Reason returns the reason for people.
func (s Settled) Reason() string { return strings.TrimSuffix(s.Since+": "+s.Why, ": ") }

// settledKey marks an operation as settled in a dream's Weighed. No model settles it again.
func settledKey(id string) string { return "settled " + id }

// A settler guards a model's requests about pending operations.
type settler struct{ *considering }

// apply turns a model's request about pending operations into a change of the inbox, or
// returns why not.
func (c settler) apply(q question, o prompts.DreamOperation) (why string) {
	var ops []record.Operation
	for _, ref := range o.Targets {
		p, shown := q.waiting[ref]
		switch {
		case !shown:
			return "names what it was not shown"
		case slices.ContainsFunc(ops, func(t record.Operation) bool { return t.ID == p.ID }):
			return "names an operation twice"
		}
		ops = append(ops, p)
	}
	var memories []record.Memory
	var groups []*group
	for _, ref := range o.Evidence {
		m, isMemory := q.memories[ref]
		g, isGroup := q.shown[ref]
		switch {
		case isMemory:
			memories = append(memories, m)
		case isGroup:
			groups = append(groups, g)
		default:
			return "names what it was not shown"
		}
	}
	switch join := o.Op == "join"; {
	case len(ops) > maxTargets:
		return "is about too many operations"
	case join && len(ops) >= 2 && len(memories) == 0:
		return c.join(ops, o.Why)
	case join || len(ops) != 1:
		return "is no operation"
	case len(memories) > 0:
		return c.closeKnown(ops[0], memories[0], o.Why)
	case len(groups) > 0:
		return c.closeCorrected(ops[0], groups, o.Why)
	}
	return c.closeOrder(ops[0], o.Why)
}

// settleable returns why a model may not settle a pending operation, or "". It must wait unchanged,
// and no person may have edited or published it.
func (c settler) settleable(o record.Operation) (why string) {
	switch i := c.waits(o); {
	case i < 0:
		return "settles what does not wait"
	case slices.ContainsFunc(c.out.Joined, func(k record.Operation) bool { return k.ID == o.ID }):
		return "settles an operation twice"
	case c.in.Agent:
		return "needs a person"
	case c.in.Weighed[settledKey(o.ID)]:
		return "settles what was settled before"
	case o.Op != record.Add || len(o.Base) > 0:
		return "settles a change of a memory"
	case o.How == record.Written:
		return "settles what a person wrote"
	case c.in.Proposed[o.ID] != "":
		return "settles what is proposed to the team"
	}
	return ""
}

// waits returns the place in c.pending of an operation with the same file, or -1.
func (c settler) waits(o record.Operation) int {
	return slices.IndexFunc(c.pending[:c.before], func(q pending) bool {
		return !q.withdrawn && q.op.ID == o.ID && q.op.File == o.File
	})
}

// join moves the evidence of pending operations to the best proven one of them, which keeps its
// words. If several are proven equally, it is the first that can represent the others. These leave
// the inbox.
func (c settler) join(ops []record.Operation, why string) (refused string) {
	for i, o := range ops {
		if refused := c.settleable(o); refused != "" {
			return refused
		}
		ops[i] = c.pending[c.waits(o)].op
	}
	slices.SortStableFunc(ops, func(a, b record.Operation) int {
		return cmp.Or(cmp.Compare(proof(a), proof(b)), cmp.Compare(len(b.Memory.Trigger().Guards), len(a.Memory.Trigger().Guards)))
	})
	kept := ops[max(0, slices.IndexFunc(ops, func(k record.Operation) bool {
		return proof(k) == proof(ops[0]) && !slices.ContainsFunc(ops, func(o record.Operation) bool { return joins(k, o) != "" })
	}))]
	into := kept
	into.Sightings, into.Contradicts = slices.Clone(kept.Sightings), slices.Clone(kept.Contradicts)
	rest := slices.DeleteFunc(slices.Clone(ops), func(o record.Operation) bool { return o.ID == kept.ID })
	for _, o := range rest {
		if refused := joins(kept, o); refused != "" {
			return refused
		}
		for _, s := range o.Sightings {
			s.Says = cmp.Or(s.Says, o.Memory.Text)
			into.Sightings = append(into.Sightings, s)
		}
		for _, id := range o.Contradicts {
			if !slices.Contains(into.Contradicts, id) {
				into.Contradicts = append(into.Contradicts, id)
			}
		}
	}
	switch {
	case len(into.Sightings) > maxSightings:
		return "has too much evidence"
	case raises(kept, into):
		return "raises what is proven"
	}
	for _, o := range rest {
		c.remove(Settled{Operation: o, Into: kept.ID, Since: fmt.Sprintf("says the same as %s, %q", kept.ID[:8], kept.Memory.Text), Why: reason(why)})
	}
	c.pending[c.waits(kept)].op = into
	c.out.Joined = append(c.out.Joined, into)
	return ""
}

// proof ranks an operation by its evidence; less is better.
func proof(o record.Operation) int {
	n := 2 * rank(o.How)
	if o.How == record.Said && !slices.ContainsFunc(o.Sightings, plainlySaid(o.Memory.Text)) {
		n++
	}
	return n
}

// joins returns why one pending operation cannot represent another, or "".
func joins(kept, o record.Operation) (why string) {
	switch {
	case !saysToo(kept.Memory, o.Memory, oneProof(kept, o)):
		return "joins what says something else"
	case len(kept.Memory.Paths) > 0 && !slices.Equal(kept.Memory.Paths, o.Memory.Paths), kept.Memory.Branch != o.Memory.Branch, kept.Private != o.Private,
		!kept.Memory.Expires.Equal(o.Memory.Expires):
		return "joins what holds in different places"
	case slices.Contains(kept.Contradicts, o.Memory.ID), slices.Contains(o.Contradicts, kept.Memory.ID):
		return "joins a contradiction"
	}
	return loses(kept.Memory, o.Memory)
}

// saysToo reports whether a memory may represent another, if a model says that they mean the same.
func saysToo(kept, gone record.Memory, oneProof bool) bool {
	return kept.Text == gone.Text || wording.Restates(kept.Text, gone.Text, oneProof) && !phraseOf(kept.Text).opposes(phraseOf(gone.Text))
}

// oneProof reports whether two operations rest on the same words of a session.
func oneProof(a, b record.Operation) bool {
	return slices.ContainsFunc(a.Sightings, func(s record.Sighting) bool {
		return slices.ContainsFunc(b.Sightings, func(t record.Sighting) bool {
			return s.Client == t.Client && s.Session == t.Session && slices.ContainsFunc(s.Evidence, func(e record.Evidence) bool {
				return slices.ContainsFunc(t.Evidence, func(f record.Evidence) bool { return e.Event == f.Event && e.Quote == f.Quote })
			})
		})
	})
}

// loses returns the part of a memory that another one lacks, as a reason, or "".
func loses(kept, gone record.Memory) (why string) {
	was, is := gone.Trigger(), kept.Trigger()
	switch {
	case gone.Kind == record.Constraint && kept.Kind != record.Constraint:
		return "weakens a constraint"
	case was.Command != "" && was.Command != is.Command, len(was.Errors) > 0 && !slices.Equal(was.Errors, is.Errors),
		len(was.Guards) > 0 && (!slices.Equal(was.Guards, is.Guards) || was.Strength != is.Strength):
		return "loses a guard"
	}
	return ""
}

// raises reports whether an operation is accepted more easily after it got more sightings.
func raises(before, after record.Operation) bool {
	all := Policy{Accept: []record.How{record.Said, record.Seen, record.Model}}
	was, _ := all.Accepts(before)
	is, _ := all.Accepts(after)
	return is && !was || record.Sessions(saying(after)) > record.Sessions(saying(before))
}

// closeKnown removes a pending operation that a memory in force says already.
func (c settler) closeKnown(o record.Operation, m record.Memory, why string) (refused string) {
	if refused := c.settleable(o); refused != "" {
		return refused
	}
	o = c.pending[c.waits(o)].op
	switch {
	case !m.Live(c.in.Now), m.Status == record.Contested, c.in.Withheld[m.ID]:
		return "rests on what is not in force"
	case !saysToo(m, o.Memory, false):
		return "closes what is not known"
	case len(m.Paths) > 0 && !slices.Equal(m.Paths, o.Memory.Paths), m.Branch != "" && m.Branch != o.Memory.Branch, m.Private && !o.Private,
		!m.Expires.IsZero():
		return "closes what holds in other places"
	case loses(m, o.Memory) != "":
		return loses(m, o.Memory)
	}
	return c.close(Settled{Operation: o, Since: fmt.Sprintf("%s says it, %q", m.ID[:8], m.Text), Why: reason(why),
		By: record.Base{ID: m.ID, Blob: c.in.Blobs[m.ID]}})
}

// closeCorrected removes a pending operation that later words of a person, or later sessions, made
// untrue. Only a person's later words that oppose a person's earlier ones close these.
func (c settler) closeCorrected(o record.Operation, evidence []*group, why string) (refused string) {
	if refused := c.settleable(o); refused != "" {
		return refused
	}
	o = c.pending[c.waits(o)].op
	last := o.Memory.Source.Time
	for _, s := range o.Sightings {
		last = latest(last, s.Evidence)
	}
	says := phraseOf(o.Memory.Text)
	var later []record.Sighting
	for _, g := range evidence {
		q := phraseOf(g.Text)
		if !g.about(o.Memory) || q.same(says) {
			return "rests on what is about something else"
		}
		contrary := q.opposes(says) || corrects(g.Candidate, o.Memory)
		for _, s := range g.sightings {
			if o.How == record.Said && (!contrary || !personsWords(s) && (s.How != record.Said || idle(s))) {
				continue
			}
			if latest(time.Time{}, s.Evidence).After(last) {
				later = append(later, s)
			}
		}
	}
	if !strong(later) {
		return "rests on too little"
	}
	return c.close(Settled{Operation: o, Since: fmt.Sprintf("no longer holds since %q", evidence[0].Text), Why: reason(why)})
}

// closeOrder removes a pending operation that a model takes for an order of one task. It must be a
// person's words of one session, not certain to last, and no constraint.
func (c settler) closeOrder(o record.Operation, why string) (refused string) {
	if refused := c.settleable(o); refused != "" {
		return refused
	}
	o = c.pending[c.waits(o)].op
	if !OnlyInPassing(o) || o.Memory.Kind == record.Constraint || record.Sessions(o.Sightings) > 1 {
		return "rests on nothing"
	}
	return c.close(Settled{Operation: o, Since: "asks for one task", Why: reason(why)})
}

// latest returns the latest time of some evidence, if it is after at.
func latest(at time.Time, evidence []record.Evidence) time.Time {
	for _, e := range evidence {
		if e.Time.After(at) {
			at = e.Time
		}
	}
	return at
}

// again repeats on newer input how another Consider settled pending operations.
func (c settler) again(d Considered) {
	refuse := func(why string) {
		if why != "" {
			c.out.Refused[why]++
		}
	}
	for _, kept := range d.Joined {
		ops, why := []record.Operation{kept}, ""
		for _, s := range d.Settled {
			if s.Into == kept.ID {
				ops, why = append(ops, s.Operation), s.Why
			}
		}
		refuse(c.join(ops, why))
	}
	for _, s := range d.Settled {
		switch why := c.settleable(s.Operation); {
		case s.Into != "":
		case why == "" && s.By.Blob != c.in.Blobs[s.By.ID]:
			refuse("rests on what has changed")
		case why == "":
			refuse(c.close(s))
		default:
			refuse(why)
		}
	}
}

// close removes a pending operation without a successor, if this dream may close more.
func (c settler) close(s Settled) (refused string) {
	closed := 0
	for _, t := range c.out.Settled {
		if t.Into == "" {
			closed++
		}
	}
	if closed >= max(1, int(maxRetired*float64(c.before))) {
		return "would close too much"
	}
	c.remove(s)
	return ""
}

func (c settler) remove(s Settled) {
	c.pending[c.waits(s.Operation)].withdrawn = true
	c.out.Settled = append(c.out.Settled, s)
	c.out.Weighed = append(c.out.Weighed, settledKey(s.Operation.ID))
}
