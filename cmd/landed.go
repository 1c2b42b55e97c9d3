package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
)

// undecidedFor is how long a side branch may neither land nor move before a person is asked about what was
// learned on it.
const undecidedFor = 90 * 24 * time.Hour

// land brings memories of side branches up to date with the code: those whose commits are on the default branch
// hold everywhere from now on, and about those whose branch is gone or was given up a person is asked, once. It is
// called by learn, dream and sync, and costs one look at the memories where none of them is of a side branch. What is
// withheld for its author is left alone: a commit of ours would make it trusted.
func (w *workspace) land(ctx context.Context) error {
	landed := map[string]string{} // id → Branch
	var asked []record.Operation
	err := w.view(ctx, func(v *record.View) error {
		var sides []record.Memory
		for _, m := range v.Memories() {
			if m.Branch != "" && m.Status != record.Retired {
				sides = append(sides, m)
			}
		}
		if len(sides) == 0 || v.Fallback() {
			return nil
		}
		foreign, err := w.foreign(ctx, v)
		if err != nil {
			return err
		}
		sides = slices.DeleteFunc(sides, func(m record.Memory) bool { return len(foreign.Whose(m)) > 0 })
		if len(sides) == 0 || len(w.mainline(ctx).Tips) == 0 {
			return nil
		}
		decided, err := w.askedBefore(v)
		if err != nil {
			return err
		}
		tips := map[string][]string{}
		for _, m := range sides {
			found := w.judgeSide(ctx, m.Branch)
			switch {
			case found == isLanded:
				landed[m.ID] = m.Branch
				continue
			case found == isUnknown || decided[m.ID]:
				continue
			}
			why, err := w.givenUp(ctx, m, tips)
			if err != nil {
				return err
			}
			if why != "" {
				blob, _ := v.Blob(m.ID)
				asked = append(asked, w.askAbout(ctx, m, string(blob), why))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.writeLanded(ctx, landed, asked)
}

// landAll is land as upkeep: what goes wrong is told, and fails nothing.
func (w *workspace) landAll(ctx context.Context) {
	if err := w.land(ctx); err != nil && ctx.Err() == nil && w.env.Verbose {
		w.env.warn("branches: %v", err)
	}
}

// writeLanded writes what land found out: the memories in one commit, the questions in another.
func (w *workspace) writeLanded(ctx context.Context, landed map[string]string, asked []record.Operation) error {
	if len(landed) > 0 {
		n := 0
		err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
			n = 0
			text := ""
			foreign, err := w.foreign(ctx, tx.View)
			if err != nil {
				return err
			}
			for id, branch := range landed {
				m, err := tx.Find(id)
				if err != nil || m.Branch != branch || m.Status == record.Retired || len(foreign.Whose(m)) > 0 {
					continue // decided meanwhile, or changed by a stranger
				}
				old := m
				m.Branch = ""
				if err := tx.PutMemory(m, &old); err != nil {
					return err
				}
				n, text = n+1, lowerFirst(m.Text)
			}
			if n > 1 {
				text = count(n, "statement", "statements")
			}
			tx.Describe(gitstore.Commit{Subject: "landed: " + text, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "landed"}}})
			return nil
		})
		if err != nil {
			return err
		}
		if n > 0 {
			w.env.say("landed   %s of a side branch: now everywhere", count(n, "statement", "statements"))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	n := 0
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		n = 0
		decided, err := w.askedBefore(tx.View)
		foreign, err2 := w.foreign(ctx, tx.View)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for _, o := range asked {
			m, err := tx.Find(o.Memory.ID)
			if err != nil || decided[o.Memory.ID] || len(foreign.Whose(m)) > 0 {
				continue // another process was first, or a stranger changed it
			}
			if err := tx.PutOperation(o); err != nil {
				return err
			}
			n++
		}
		tx.Describe(gitstore.Commit{Subject: fmt.Sprintf("branch: ask about %s", count(n, "statement", "statements")), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "branch"}}})
		return nil
	})
	if err == nil && n > 0 {
		w.env.say("branch   %s of a side branch that is gone or was given up: reverie review", count(n, "statement", "statements"))
	}
	return err
}

// askedBefore are the ids of memories about which a change waits, or a person refused one.
func (w *workspace) askedBefore(v *record.View) (map[string]bool, error) {
	out := map[string]bool{}
	pending, err := w.pending(v)
	if err != nil {
		return nil, err
	}
	for _, o := range pending {
		out[o.Memory.ID] = true
	}
	rejected, err := v.Rejections()
	if err := w.tolerate(err); err != nil {
		return nil, err
	}
	refused := map[string]bool{}
	for _, r := range rejected {
		refused[r.ID] = true
	}
	for _, m := range v.Memories() {
		for _, op := range []record.Op{record.Edit, record.Retire} {
			if refused[record.NewOperation(record.Operation{Op: op, Memory: m}).ID] {
				out[m.ID] = true
			}
		}
	}
	return out, nil
}

// givenUp says why a side branch that has not landed will hardly do so any more, or "". Of a branch whose commits
// were never here nothing can be said: it may be somebody else's, and not published yet.
// known holds the tips of the branches that were asked about already.
func (w *workspace) givenUp(ctx context.Context, m record.Memory, known map[string][]string) (why string, err error) {
	side := record.ParseSide(m.Branch)
	tips, ok := known[side.Name]
	if !ok {
		if tips, err = w.local.Branches(ctx, side.Name); err != nil {
			return "", err
		}
		known[side.Name] = tips
	}
	if len(tips) == 0 {
		if side.Tip == "" {
			return "", nil
		}
		commits, err := w.local.Commits(ctx, side.Tip)
		if err != nil || commits[0] == "" {
			return "", err
		}
		return "it was learned on the branch " + side.Name + ", which is gone and did not land", nil
	}
	since := w.env.Now().Add(-undecidedFor)
	if m.Source.Time.After(since) {
		return "", nil
	}
	for _, tip := range tips {
		if at, err := w.local.Committed(ctx, tip); err != nil || at.After(since) {
			return "", err
		}
	}
	return fmt.Sprintf("the branch %s did not land and did not move in %d days", side.Name, int(undecidedFor.Hours()/24)), nil
}

// askAbout proposes what becomes of a memory whose branch was given up: that it holds everywhere, if the default
// branch has the code that it rests on, or rests on none; else that it goes out of force.
func (w *workspace) askAbout(ctx context.Context, m record.Memory, blob, why string) record.Operation {
	o := record.Operation{Op: record.Edit, How: m.Source.How, Memory: m, Why: why, Proposed: w.env.Now().UTC().Truncate(time.Second),
		Base: []record.Base{{ID: m.ID, Path: m.Path(), Blob: blob}}}
	o.Memory.Branch = ""
	gone := slices.ContainsFunc(w.mainline(ctx).Tips, func(tip string) bool {
		c := w.codeAt(tip, "")
		defer c.done()
		return len(c.gone(ctx, m)) > 0
	})
	if gone {
		o.Op = record.Retire
		o.Memory = m.Retire(strings.ToUpper(why[:1]) + why[1:] + ".")
	}
	return record.NewOperation(o)
}
