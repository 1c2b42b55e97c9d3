package inbox

import (
	"context"
	"errors"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
)

// Land updates the memories of side branches. If a memory's commits reached the default branch, it
// now holds everywhere. If its branch is gone or abandoned, a person is asked, once. Without
// memories of side branches it costs one pass. Land is upkeep: it reports errors and fails nothing.
func (b *Inbox) Land(ctx context.Context) {
	if err := b.land(ctx); err != nil && ctx.Err() == nil {
		b.Note(LandFailed{err})
	}
}

// land skips memories withheld for their author: our commit would make them trusted.
func (b *Inbox) land(ctx context.Context) error {
	var landed []record.Memory
	var asked []record.Operation
	err := b.View(ctx, func(v *record.View, _ clone.Team) error {
		var sides []record.Memory
		for _, m := range v.Memories() {
			if m.Branch != "" && m.Status != record.Retired {
				sides = append(sides, m)
			}
		}
		if len(sides) == 0 || v.Fallback() {
			return nil
		}
		held, err := b.Withheld(ctx, v)
		if err != nil {
			return err
		}
		sides = slices.DeleteFunc(sides, func(m record.Memory) bool { return len(held.Whose(m)) > 0 })
		if len(sides) == 0 || len(b.Code.Mainline(ctx).Tips) == 0 {
			return nil
		}
		decided, err := b.decided(v)
		if err != nil {
			return err
		}
		landed, asked, err = b.Code.Land(ctx, v, sides, decided, b.Now())
		return err
	})
	if err != nil {
		return err
	}
	if err := b.widen(ctx, landed); err != nil {
		return err
	}
	return b.ask(ctx, asked)
}

// widen removes the side branch from landed memories, in one commit.
func (b *Inbox) widen(ctx context.Context, landed []record.Memory) error {
	if len(landed) == 0 {
		return nil
	}
	n := 0
	err := b.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		n = 0
		text := ""
		held, err := b.Withheld(ctx, tx.View)
		if err != nil {
			return err
		}
		for _, side := range landed {
			m, err := tx.Find(side.ID)
			if err != nil || m.Branch != side.Branch || m.Status == record.Retired || len(held.Whose(m)) > 0 {
				continue // decided meanwhile, or changed by an untrusted author
			}
			old := m
			m.Branch = ""
			if err := tx.PutMemory(m, &old); err != nil {
				return err
			}
			n, text = n+1, record.CommitSubject(m.Text)
		}
		if n > 1 {
			text = Count(n, "statement")
		}
		tx.Describe(gitstore.Commit{Subject: "landed: " + text, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "landed"}}})
		return nil
	})
	if err == nil && n > 0 {
		b.Note(Landed(n))
	}
	return err
}

// ask puts questions about memories of abandoned branches into the inbox, in one commit.
func (b *Inbox) ask(ctx context.Context, questions []record.Operation) error {
	if len(questions) == 0 {
		return nil
	}
	n := 0
	err := b.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		n = 0
		decided, err := b.decided(tx.View)
		held, err2 := b.Withheld(ctx, tx.View)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for _, o := range questions {
			m, err := tx.Find(o.Memory.ID)
			if err != nil || decided[o.Memory.ID] || len(held.Whose(m)) > 0 {
				continue // decided meanwhile, or changed by an untrusted author
			}
			if err := tx.PutOperation(o); err != nil {
				return err
			}
			n++
		}
		tx.Describe(gitstore.Commit{Subject: "branch: ask about " + Count(n, "statement"), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "branch"}}})
		return nil
	})
	if err == nil && n > 0 {
		b.Note(Abandoned(n))
	}
	return err
}

// decided returns the ids of memories about which a change is pending or was rejected.
func (b *Inbox) decided(v *record.View) (map[string]bool, error) {
	out := map[string]bool{}
	pending, err := b.Pending(v)
	if err != nil {
		return nil, err
	}
	for _, o := range pending {
		out[o.Memory.ID] = true
	}
	rejected, err := v.Inbox().Rejections()
	if err := b.Tolerate(err); err != nil {
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
