package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/term"
)

// land brings memories of side branches up to date with the code: those whose commits are on the default branch
// hold everywhere from now on, and about those whose branch is gone or was given up a person is asked, once. It is
// called by learn, dream and sync, and costs one look at the memories where none of them is of a side branch. What is
// withheld for its author is left alone: a commit of ours would make it trusted.
func (w *workspace) land(ctx context.Context) error {
	var landed []record.Memory
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
		foreign, err := w.Withheld(ctx, v)
		if err != nil {
			return err
		}
		sides = slices.DeleteFunc(sides, func(m record.Memory) bool { return len(foreign.Whose(m)) > 0 })
		if len(sides) == 0 || len(w.Code.Mainline(ctx).Tips) == 0 {
			return nil
		}
		decided, err := w.askedBefore(v)
		if err != nil {
			return err
		}
		landed, asked, err = w.Code.Land(ctx, v, sides, decided, w.env.Now())
		return err
	})
	if err != nil {
		return err
	}
	return w.writeLanded(ctx, landed, asked)
}

// landAll is land as upkeep: what goes wrong is told, and fails nothing.
func (w *workspace) landAll(ctx context.Context) {
	if err := w.land(ctx); err != nil && ctx.Err() == nil && w.env.Verbose {
		w.env.Warn("branches: %v", err)
	}
}

// writeLanded writes what land found out: the memories in one commit, the questions in another.
func (w *workspace) writeLanded(ctx context.Context, landed []record.Memory, asked []record.Operation) error {
	if len(landed) > 0 {
		n := 0
		err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
			n = 0
			text := ""
			foreign, err := w.Withheld(ctx, tx.View)
			if err != nil {
				return err
			}
			for _, side := range landed {
				m, err := tx.Find(side.ID)
				if err != nil || m.Branch != side.Branch || m.Status == record.Retired || len(foreign.Whose(m)) > 0 {
					continue // decided meanwhile, or changed by a stranger
				}
				old := m
				m.Branch = ""
				if err := tx.PutMemory(m, &old); err != nil {
					return err
				}
				n, text = n+1, record.CommitSubject(m.Text)
			}
			if n > 1 {
				text = term.Count(n, "statement", "statements")
			}
			tx.Describe(gitstore.Commit{Subject: "landed: " + text, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "landed"}}})
			return nil
		})
		if err != nil {
			return err
		}
		if n > 0 {
			w.env.Say("landed   %s of a side branch: now everywhere", term.Count(n, "statement", "statements"))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	n := 0
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		n = 0
		decided, err := w.askedBefore(tx.View)
		foreign, err2 := w.Withheld(ctx, tx.View)
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
		tx.Describe(gitstore.Commit{Subject: fmt.Sprintf("branch: ask about %s", term.Count(n, "statement", "statements")), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "branch"}}})
		return nil
	})
	if err == nil && n > 0 {
		w.env.Say("branch   %s of a side branch that is gone or was given up: reverie review", term.Count(n, "statement", "statements"))
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
	if err := w.Tolerate(err); err != nil {
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
