package reader

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/attack"
)

// An agent's request to remember something waits in the inbox, which never leaves the clone. If the
// settings say so, that agent alone is given it meanwhile, as a note that binds nothing.

// MaxNotes bounds the notes that an agent is given: the newest.
const MaxNotes = 10

// Notes returns the notes of an agent that wait for review, the newest first.
func Notes(r *Reader, v *record.View, agent string) (all []record.Memory) {
	if agent == "" || !r.Settings.Config.AgentNotes {
		return nil
	}
	pending, err := v.Inbox().Operations()
	if r.Tolerate(err) != nil {
		return nil
	}
	for _, o := range pending {
		if m, ok := NoteOf(r, o, agent); ok {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b record.Memory) int { return b.Source.Time.Compare(a.Source.Time) })
	return all[:min(MaxNotes, len(all))]
}

// NoteOf returns the note in a pending operation, if an agent may be given it. It has the id of the
// operation, no kind of its own and no trigger.
func NoteOf(r *Reader, o record.Operation, agent string) (m record.Memory, ok bool) {
	by := o.Memory.Source.By
	client, _, _ := strings.Cut(by, "/")
	if agent == "" || client != agent || !r.Settings.Config.AgentNotes || o.Op != record.Add || o.Why != record.AgentWish+by ||
		len(attack.Find(o.Memory.Text)) > 0 || len(attack.Find(o.Memory.Body)) > 0 {
		return m, false
	}
	m = record.Memory{ID: o.ID, Kind: record.Note, Status: record.Active, Text: o.Memory.Text, Body: o.Memory.Body, Source: o.Memory.Source,
		Paths: o.Memory.Paths, Tags: o.Memory.Tags, Branch: o.Memory.Branch, Private: true, Noted: agent}
	return m, true
}

// FindBeside finds what an agent may have been given beside the memories of a view: one of the
// person's own, or a note that still waits. The error wraps record.ErrNoMemory if nothing matches.
func FindBeside(ctx context.Context, r *Reader, v *record.View, id string) (record.Memory, error) {
	m, err := FindOwn(ctx, r, id)
	if err == nil {
		return m, nil
	}
	pending, bad := v.Inbox().Operations()
	if o, found := record.FindOperation(pending, id); r.Tolerate(bad) == nil && found == nil {
		m, err = o.Memory, nil
	}
	return m, err
}

// WithNotes runs fn on an index with the notes of an agent.
func WithNotes(r *Reader, v *record.View, x *recall.Index, agent string, fn func(*recall.Index) error) error {
	all := Notes(r, v, agent)
	if len(all) == 0 {
		return fn(x)
	}
	y, err := recall.Of(all)
	if err != nil {
		return err
	}
	defer y.Close()
	return fn(x.With(y, func(m *record.Memory) { m.Noted = agent }))
}
