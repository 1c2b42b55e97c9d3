package dream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts"
)

// maxContradictions bounds the questions of one dream about contradictory statements, oldest first.
const maxContradictions = 6

// maxStatements bounds the statements of one such question.
const maxStatements = 6

// dispute is a set of contradictory statements: a pending operation and the memories that it
// contradicts, or the texts of one contested memory.
type dispute struct {
	key      string // the operation's id, or the memory's blob
	since    time.Time
	op       *record.Operation // nil for a contested memory
	memories []record.Memory   // one if it is contested
}

// contradictions asks about contradictory statements. All results wait for a person.
func (c *considering) contradictions(ctx context.Context, m *prompts.Model, set prompts.Set) error {
	for _, d := range c.disputes() {
		var in prompts.Contradiction
		state := func(kind record.Kind, text, body string) {
			in.Statements = append(in.Statements, prompts.Known{Ref: "m" + strconv.Itoa(len(in.Statements)+1), Kind: string(kind), Text: text, Body: clip(body, maxBody)})
		}
		if d.op != nil {
			state(d.op.Memory.Kind, d.op.Memory.Text, d.op.Memory.Body)
			in.Quotes = quotes(d.op.Sightings)
		}
		for _, k := range d.memories {
			for _, v := range k.Texts() {
				state(k.Kind, v.Text, v.Body)
			}
		}
		r, err := set.Contradiction(in)
		if err != nil {
			return fmt.Errorf("dream: %w", err)
		}
		if !fits(m, r) {
			c.note(d, "does not fit into a question to this model")
			c.out.Weighed = append(c.out.Weighed, d.key)
			continue
		}
		answer, err := ask(ctx, m, r, prompts.DecodeContradiction)
		if err != nil {
			return fmt.Errorf("dream: %w", err)
		}
		c.answered(r)
		c.out.Weighed = append(c.out.Weighed, d.key)
		why := ""
		if keep := refIndex(answer.Keep, len(in.Statements)); d.op != nil {
			why = c.weighOperation(d, answer, keep)
		} else {
			why = c.weighTexts(d, answer, keep)
		}
		if why != "" {
			c.out.Refused[why]++
		}
	}
	return nil
}

// disputes lists the contradictions that no model was asked about yet, oldest first.
func (c *considering) disputes() []dispute {
	var all []dispute
	open := func(m record.Memory) bool {
		return m.Live(c.in.Now) && !c.in.Withheld[m.ID] && !c.waiting[m.ID] && !(c.elsewhere && m.Private)
	}
	for _, q := range c.pending {
		if !mayShow(c.client, q.op) {
			continue
		}
		d := dispute{key: q.op.ID, since: q.op.Proposed, op: &q.op}
		for _, m := range c.in.Memories {
			if slices.Contains(q.op.Contradicts, m.ID) && m.Status != record.Contested && m.Private == q.op.Private && open(m) && len(d.memories) < maxStatements-1 {
				d.memories = append(d.memories, m)
			}
		}
		if len(d.memories) > 0 {
			all = append(all, d)
		}
	}
	for _, m := range c.in.Memories {
		if m.Status == record.Contested && open(m) && len(m.Texts()) <= maxStatements {
			all = append(all, dispute{key: c.in.Blobs[m.ID], since: m.Source.Time, memories: []record.Memory{m}})
		}
	}
	all = slices.DeleteFunc(all, func(d dispute) bool { return c.in.Weighed[d.key] })
	slices.SortFunc(all, func(a, b dispute) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.key, b.key)) })
	return all[:min(len(all), maxContradictions)]
}

// refIndex returns the index for a short name m1, m2, …, or -1.
func refIndex(ref string, n int) int {
	i, err := strconv.Atoi(strings.TrimPrefix(ref, "m"))
	if err != nil || ref != "m"+strconv.Itoa(i) || i < 1 || i > n {
		return -1
	}
	return i - 1
}

func (c *considering) note(d dispute, why string) {
	n := Note{Why: why}
	if d.op != nil {
		n.Text = d.op.Memory.Text
		if len(d.op.Sightings) > 0 {
			n.Reflection = d.op.Sightings[0].Reflection
		}
	} else {
		n.Text = d.memories[0].Text
	}
	c.out.Notes = append(c.out.Notes, n)
}

// weighOperation turns an answer about a pending operation, statement 0, and the memories after it
// into a proposal.
func (c *considering) weighOperation(d dispute, a prompts.ContradictionAnswer, keep int) (why string) {
	w := wish{text: a.Text, body: a.Body, why: a.Why, private: d.op.Private, voices: voices(*d.op)}
	switch a.Verdict {
	case "keep":
		switch {
		case keep < 0:
			return "names what it was not shown"
		case keep > 0:
			c.note(d, "contradicts "+d.memories[keep-1].ID+", which holds as a model reads them: reject "+d.op.ID+" if it does")
			return ""
		}
		return c.retire(w, d.memories)
	case "join":
		if len(d.memories) == 1 {
			return c.edit(w, d.memories[0])
		}
		return c.merge(w, d.memories)
	case "both":
		if keep > 0 && a.Text != "" {
			return c.edit(w, d.memories[keep-1])
		}
		c.note(d, "and what it contradicts both hold as a model reads them, each in its own place: say in each where")
		return ""
	}
	c.note(d, "contradicts what is known, and a model cannot tell which holds")
	return ""
}

// voices returns the evidence of an operation.
func voices(o record.Operation) []*voice {
	var out []*voice
	for _, s := range o.Sightings {
		says := cmp.Or(s.Says, o.Memory.Text)
		s.Says = ""
		i := slices.IndexFunc(out, func(v *voice) bool { return v.Text == says })
		if i < 0 {
			v := &voice{Candidate: record.Candidate{Text: says}, print: record.Print(says)}
			if says == o.Memory.Text {
				v.Topic = o.Memory.Topic
			}
			out, i = append(out, v), len(out)
		}
		out[i].sightings = append(out[i].sightings, s)
	}
	return out
}

// weighTexts turns an answer about the texts of a contested memory into a proposal.
func (c *considering) weighTexts(d dispute, a prompts.ContradictionAnswer, keep int) (why string) {
	m := d.memories[0]
	texts := m.Texts()
	after := m
	after.Status, after.Variants = record.Active, nil
	switch a.Verdict {
	case "keep":
		if keep < 0 {
			return "names what it was not shown"
		}
		after.Text, after.Body = texts[keep].Text, texts[keep].Body
	case "join":
		parts := 0
		for _, t := range texts {
			parts += len(t.Text) + len(t.Body)
		}
		after.Text, after.Body = strings.TrimSpace(a.Text), a.Body
		if why := checkWords(after.Text, after.Body); why != "" {
			return why
		}
		if float64(len(after.Text)+len(after.Body)) > maxMerged*float64(parts) {
			return "is longer than its parts"
		}
		print := record.Print(after.Text)
		if slices.ContainsFunc(texts, func(t record.Variant) bool { return print.Alike(record.Print(t.Text)) < related }) {
			return "is about something else"
		}
	default:
		c.note(d, "is contested, and a model cannot tell which text holds: reverie conflicts")
		return ""
	}
	return c.propose(c.complete(record.Operation{Op: record.Edit, Memory: after}, wish{why: a.Why}, m))
}
