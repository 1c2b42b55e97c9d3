package dream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts"
)

// ErrAnswer is returned when both answers of a model to a question were unreadable.
var ErrAnswer = errors.New("the model's answer cannot be read")

// Considered is a model's addition to a plan.
type Considered struct {
	Operations []record.Operation // each with How record.Model, so that no policy accepts it
	Joined     []record.Operation // pending ones that got the evidence of others
	Settled    []Settled          // pending ones that leave the inbox
	Read       []string           // ids of the new reflections that a model saw whole, sorted
	// asked about and settled: ids of operations, blobs of contested memories, and settledKey of
	// Settled; sorted
	Weighed []string
	Notes   []Note         // questions without a proposal, and why
	Refused map[string]int // requests of the model that are not proposed, by reason
	Asked   int            // questions that were answered
	Left    int            // candidates beyond this dream's room
	Prompts []string       // hashes of the prompts of those questions, sorted, each once
}

// wrongForm is the reason for dropping a malformed item of an answer.
const wrongForm = "has a wrong form"

// maxQuestions bounds the questions of one dream about candidates.
const maxQuestions = 8

// Consider asks a model what follows from the new reflections beyond Plan's result, and which of
// the contradictory statements hold. In.New holds the reflections that no model has considered;
// Plan may have considered them before.
//
// An agent as the model is shown the shared memory, and reflections on its own sessions.
//
// A model's answer is data. It refers to its input by short names that are valid for one question.
// Each request must pass the guards of this package; Refused counts the others. Accepted requests
// wait for a person.
//
// The result depends only on the arguments and the answers. A nil model adds nothing. An error
// means that there was no usable answer, and wraps ErrAnswer if that was the model's fault. Earlier
// findings are returned too, and the plan stays valid.
func Consider(ctx context.Context, m *prompts.Model, set prompts.Set, in Input, plan Result) (Considered, error) {
	if m == nil {
		return newConsidering(in, plan).out, nil
	}
	if m.Client != "" {
		in = in.onlyOf(m.Client)
	}
	c := newConsidering(in, plan)
	c.client, c.elsewhere = m.Client, m.Client != ""
	return c.consider(ctx, m, set)
}

func (c *considering) consider(ctx context.Context, m *prompts.Model, set prompts.Set) (Considered, error) {
	c.model = m.Name
	err := c.contradictions(ctx, m, set)
	if err == nil {
		err = c.candidates(ctx, m, set)
	}
	return c.result(), err
}

// onlyOf returns the input without reflections on the sessions of other agents, whose words an
// agent is not shown.
func (in Input) onlyOf(client string) Input {
	others := func(r record.Reflection) bool { return r.Client != client }
	in.New = slices.DeleteFunc(slices.Clone(in.New), others)
	in.Considered = slices.DeleteFunc(slices.Clone(in.Considered), others)
	return in
}

// Standing returns the part of a Considered that still holds on a newer input, ignoring that
// input's new reflections. It drops operations on anything changed, decided or proposed meanwhile.
func (d Considered) Standing(in Input, plan Result) Considered {
	c := newConsidering(in, plan)
	kept := d
	c.out.Refused = maps.Clone(d.Refused)
	settler{c}.again(d)
	for _, o := range d.Operations {
		if why := c.propose(o); why != "" {
			c.out.Refused[why]++
		}
	}
	for _, key := range d.Weighed {
		if !strings.HasPrefix(key, settledKey("")) {
			c.out.Weighed = append(c.out.Weighed, key)
		}
	}
	slices.Sort(c.out.Weighed)
	kept.Operations, kept.Joined, kept.Settled = c.out.Operations, c.out.Joined, c.out.Settled
	kept.Refused, kept.Weighed = c.out.Refused, c.out.Weighed
	return kept
}

// considering is the state of one Consider.
type considering struct {
	in       Input
	model    string  // its name
	known    []known // memories, a contested one once per text
	rejected rejections
	refused  map[string]bool // ids of operations that a person rejected
	pending  []pending
	before   int             // of pending, those from before this dream's answers
	waiting  map[string]bool // ids of memories that a pending operation changes
	touched  map[string]bool // ids of memories that an operation of this dream changes
	live     int
	retiring int // memories that pending operations, and those of this dream, retire
	asked    map[string]bool
	unread   map[string]bool // ids of new reflections that no model saw whole
	out      Considered

	elsewhere bool   // the model is on another machine: private text is not sent to it
	client    string // the agent that is the model; "": none
}

// mayShow reports whether a model may be shown a pending operation: an agent only one that nothing
// but its own sessions gave.
func mayShow(client string, o record.Operation) bool {
	others := func(s record.Sighting) bool { return s.Client != client }
	return client == "" || len(o.Sightings) > 0 && !slices.ContainsFunc(o.Sightings, others)
}

func newConsidering(in Input, plan Result) *considering {
	c := &considering{in: in, refused: map[string]bool{}, waiting: map[string]bool{}, touched: map[string]bool{},
		asked: map[string]bool{}, unread: map[string]bool{}, out: Considered{Refused: map[string]int{}}}
	for _, m := range in.Memories {
		for _, v := range m.Texts() {
			c.known = append(c.known, known{m, phraseOf(v.Text)})
		}
		if m.Live(in.Now) {
			c.live++
		}
	}
	c.rejected = newRejections(in.Rejected)
	for _, r := range in.Rejected {
		c.refused[r.ID] = true
	}
	planned := map[string]bool{}
	for _, o := range plan.Operations {
		planned[o.ID] = true
		c.await(o)
	}
	for _, o := range in.Pending {
		if !planned[o.ID] && !slices.Contains(plan.Withdrawn, o.ID) {
			c.await(o)
		}
	}
	c.before = len(c.pending)
	return c
}

// await takes a pending operation into account.
func (c *considering) await(o record.Operation) {
	if o.Op == record.Skill {
		return
	}
	c.pending = append(c.pending, pending{op: o, phrase: phraseOf(o.Memory.Text)})
	for _, b := range o.Base {
		c.waiting[b.ID] = true
	}
	c.retiring += retires(o)
}

// retires returns by how many an operation reduces the statements; a merge leaves one.
func retires(o record.Operation) int {
	switch o.Op {
	case record.Retire:
		return 1
	case record.Merge:
		return len(o.Memory.Supersedes) - 1
	case record.Edit:
		return 0 // the memory that it replaced is gone
	}
	return len(o.Memory.Supersedes)
}

// result returns the findings and the ids of the reflections that are done.
func (c *considering) result() Considered {
	for _, r := range c.in.New {
		if !c.unread[r.ID()] {
			c.out.Read = append(c.out.Read, r.ID())
		}
	}
	slices.Sort(c.out.Read)
	slices.Sort(c.out.Weighed)
	c.out.Prompts = slices.Sorted(maps.Keys(c.asked))
	return c.out
}

// candidates asks about the new candidates, in as many questions as they need and one dream may
// ask.
func (c *considering) candidates(ctx context.Context, m *prompts.Model, set prompts.Set) error {
	rest := c.groups()
	if c.elsewhere {
		rest = slices.DeleteFunc(rest, func(g *group) bool {
			if g.private {
				c.leave(g)
			}
			return g.private
		})
	}
	defer func() {
		for _, g := range rest {
			c.leave(g)
		}
		c.out.Left += len(rest)
	}()
	for questions := 0; len(rest) > 0 && questions < maxQuestions; {
		q, err := c.question(m, set, rest)
		if err != nil {
			return fmt.Errorf("dream: %w", err)
		}
		if len(q.groups) == 0 {
			c.out.Notes = append(c.out.Notes, Note{Reflection: rest[0].sightings[0].Reflection, Text: rest[0].Text, Why: "does not fit into a question to this model"})
			rest = rest[1:]
			continue
		}
		questions++
		answer, err := ask(ctx, m, q.rendered, prompts.DecodeDream)
		if err != nil {
			return fmt.Errorf("dream: %w", err)
		}
		c.answered(q.rendered)
		if n := len(answer.Dropped); n > 0 {
			c.out.Refused[wrongForm] += n
		}
		for _, o := range answer.Operations {
			if why := c.apply(q, o); why != "" {
				c.out.Refused[why]++
			}
		}
		rest = rest[len(q.groups):]
	}
	return nil
}

// leave keeps the reflections of a group new.
func (c *considering) leave(g *group) {
	for id := range g.from {
		c.unread[id] = true
	}
}

func (c *considering) answered(r prompts.Rendered) {
	c.out.Asked++
	c.asked[r.Hash] = true
}

// ask asks a question, and once more with the faults of the answer if it is unreadable.
func ask[T any](ctx context.Context, m *prompts.Model, r prompts.Rendered, decode func(json.RawMessage) (T, error)) (T, error) {
	var none T
	again := r
	for try := 1; ; try++ {
		answer, err := m.Ask(ctx, again)
		if err != nil {
			return none, err
		}
		v, err := decode(answer.Text)
		if err == nil {
			return v, nil
		}
		if try == 2 {
			return none, fmt.Errorf("%w: %s: %w", ErrAnswer, r.Name, err)
		}
		again = r.Again([]string{err.Error()}, string(answer.Text))
	}
}
