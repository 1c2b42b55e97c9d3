package dreams

import (
	"context"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// anchorNew anchors proposed operations in the code, and limits them to a side branch if needed. It
// asks git, so it is called once per plan, and it skips pending operations.
func anchorNew(ctx context.Context, code *anchor.Code, ops []record.Operation, in dream.Input) {
	grep, stop := context.WithTimeout(ctx, anchor.GrepTime)
	defer stop()
	pending := map[string]record.How{}
	for _, o := range in.Pending {
		pending[o.ID] = o.How
	}
	sessions := map[string]anchor.Session{} // by reflection
	for _, r := range in.New {
		sessions[r.ID()] = session(r)
	}
	for i, o := range ops {
		// A session's own words replace those of a model.
		if how := pending[o.ID]; how == o.How || how != "" && how != record.Model {
			ops[i] = unlimit(ctx, code, o, sessions)
			continue
		}
		if o.Op == record.Edit { // other words may belong to other code
			if found, whole := code.Here(ctx).Find(ctx, grep, o.Memory); whole || len(found) > 0 {
				o.Memory.Anchors = found
			}
			ops[i] = record.NewOperation(o)
			continue
		}
		if o.Op != record.Add && o.Op != record.Merge {
			continue
		}
		var s anchor.Session
		if len(o.Sightings) > 0 {
			s = sessions[o.Sightings[0].Reflection]
		}
		side, c := s.Side(ctx, code)
		o.Memory.Anchors, _ = c.Find(ctx, grep, o.Memory)
		if len(o.Memory.Supersedes) == 0 { // otherwise nothing would hold on the default branch
			o.Memory.Branch = side
		}
		ops[i] = record.NewOperation(o)
	}
}

func session(r record.Reflection) anchor.Session {
	return anchor.Session{Branch: r.Branch, Began: r.Started, Ended: r.Ended}
}

// unlimit removes the side branch from a pending operation if a new session on the default branch
// says the same. It leaves a person's own text alone.
func unlimit(ctx context.Context, code *anchor.Code, o record.Operation, sessions map[string]anchor.Session) record.Operation {
	if o.Memory.Branch == "" || o.How == record.Written {
		return o
	}
	for _, seen := range o.Sightings {
		s, isNew := sessions[seen.Reflection]
		if !isNew || record.Offered(seen.Session) {
			continue
		}
		if s.OnMainline(ctx, code) {
			o.Memory.Branch = ""
			return record.NewOperation(o)
		}
	}
	return o
}

// widen proposes to remove the side branch from memories that a new session on the default branch
// confirms. A memory withheld for its author waits for approval instead.
func widen(ctx context.Context, code *anchor.Code, plan *dream.Result, in dream.Input) {
	known := map[string]bool{} // operations that are pending or were rejected
	for _, o := range in.Pending {
		known[o.ID] = true
	}
	for _, r := range in.Rejected {
		known[r.ID] = known[r.ID] || r.How != record.Model
	}
	for _, m := range in.Memories {
		if m.Branch == "" || !m.Live(in.Now) || in.Withheld[m.ID] {
			continue
		}
		print := record.Print(m.Text)
		o := record.Operation{Op: record.Edit, Memory: m, Why: "a session on the default branch says it too", Proposed: in.Now.UTC().Truncate(time.Second),
			Base: []record.Base{{ID: m.ID, Path: m.Path(), Blob: in.Blobs[m.ID]}}}
		o.Memory.Branch = ""
		for _, r := range in.New {
			i := slices.IndexFunc(r.Candidates, func(c record.Candidate) bool { return print.Same(record.Print(c.Text)) })
			if i >= 0 && session(r).OnMainline(ctx, code) {
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
