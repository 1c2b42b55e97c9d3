package cmd

import (
	"context"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// What a new memory is given of the code at which it was learned: the places it rests on, and the side
// branch on which alone it holds.

// How long the whole code is searched for what statements name, in one command.
const (
	grepTime  = time.Second
	typedTime = 500 * time.Millisecond // where a person waits for it
)

// settle completes the operations that a plan proposes anew. It asks git, so it is called once a plan and not for
// what waits already.
func (w *workspace) settle(ctx context.Context, plan *dream.Result, in dream.Input) {
	w.settleEach(ctx, plan.Operations, in)
	w.widen(ctx, plan, in)
}

// settleEach does what settle does to the operations that are there.
func (w *workspace) settleEach(ctx context.Context, ops []record.Operation, in dream.Input) {
	grep, stop := context.WithTimeout(ctx, grepTime)
	defer stop()
	waits := map[string]record.How{}
	for _, o := range in.Pending {
		waits[o.ID] = o.How
	}
	branches := map[string]string{} // of reflections
	for _, r := range in.New {
		branches[r.ID()] = r.Branch
	}
	for i, o := range ops {
		if how := waits[o.ID]; how == o.How || how != "" && how != record.Model { // else a session's own words take a model's place
			ops[i] = w.settleAgain(ctx, o, branches)
			continue
		}
		if o.Op == record.Edit { // other words may rest on other code
			if found, whole := w.Code.Here(ctx).Find(ctx, grep, o.Memory); whole || len(found) > 0 {
				o.Memory.Anchors = found
			}
			ops[i] = record.NewOperation(o)
			continue
		}
		if o.Op != record.Add && o.Op != record.Merge {
			continue
		}
		branch := ""
		if len(o.Sightings) > 0 {
			branch = branches[o.Sightings[0].Reflection]
		}
		c := w.Code.On(ctx, branch)
		o.Memory.Anchors, _ = c.Find(ctx, grep, o.Memory)
		if len(o.Memory.Supersedes) == 0 { // else nothing would hold on the default branch
			o.Memory.Branch = c.Side(ctx)
		}
		ops[i] = record.NewOperation(o)
	}
}

// widen proposes that what holds on a side branch alone holds everywhere, where a new session on the default branch
// says it too. What is withheld for its author waits for approval instead.
func (w *workspace) widen(ctx context.Context, plan *dream.Result, in dream.Input) {
	known := map[string]bool{} // operations that wait or were refused
	for _, o := range in.Pending {
		known[o.ID] = true
	}
	for _, r := range in.Rejected {
		known[r.ID] = known[r.ID] || r.How != record.Model
	}
	for _, m := range in.Memories {
		if m.Branch == "" || !m.Live(in.Now) || w.IsWithheld(m) {
			continue
		}
		print := record.Print(m.Text)
		o := record.Operation{Op: record.Edit, Memory: m, Why: "a session on the default branch says it too", Proposed: in.Now.UTC().Truncate(time.Second),
			Base: []record.Base{{ID: m.ID, Path: m.Path(), Blob: in.Blobs[m.ID]}}}
		o.Memory.Branch = ""
		for _, r := range in.New {
			i := slices.IndexFunc(r.Candidates, func(c record.Candidate) bool { return print.Same(record.Print(c.Text)) })
			if i >= 0 && w.Code.On(ctx, r.Branch).Side(ctx) == "" {
				c := r.Candidates[i]
				o.How = c.How
				o.Sightings = append(o.Sightings, record.Sighting{Reflection: r.ID(), Client: r.Client, Session: r.Session, Parent: r.Parent, How: c.How, Evidence: c.Evidence})
			}
		}
		if o = record.NewOperation(o); len(o.Sightings) > 0 && !known[o.ID] {
			plan.Operations = append(plan.Operations, o)
			plan.Proposed++
		}
	}
}

// settleAgain takes the side branch from an operation that waits when a new session on the default branch bore it
// out. What a person wrote stays.
func (w *workspace) settleAgain(ctx context.Context, o record.Operation, branches map[string]string) record.Operation {
	if o.Memory.Branch == "" || o.How == record.Written {
		return o
	}
	for _, s := range o.Sightings {
		if branch, isNew := branches[s.Reflection]; isNew && !record.Offered(s.Session) && w.Code.On(ctx, branch).Side(ctx) == "" {
			o.Memory.Branch = ""
			return record.NewOperation(o)
		}
	}
	return o
}
