package remember

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
)

// Waits tells an agent that its suggestion is pending.
const Waits = "an agent cannot decide this: it waits for a person; next: reverie review"

// suggest puts a memory that an agent wants kept into the inbox. It returns nil if the memory is
// known or already waits.
func (k *Keeper) suggest(ctx context.Context, m record.Memory) (*record.Operation, error) {
	var ops []record.Operation
	var res transfer.Result
	err := k.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		pending, err := tx.Inbox().Operations()
		rejected, err2 := tx.Inbox().Rejections()
		if err := k.Tolerate(errors.Join(err, err2)); err != nil {
			return err
		}
		ops, res = transfer.Plan(tx.View, []record.Memory{m}, transfer.Options{Pending: pending, Rejections: rejected, Private: clone.Private(t.Config)})
		for i := range ops {
			ops[i].Why = record.AgentWish + m.Source.By
			if err := tx.PutOperation(ops[i]); err != nil {
				return err
			}
		}
		tx.Describe(describe("suggest", m.Text, ""))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(ops) > 0:
		return &ops[0], nil
	case res.Refused > 0:
		return nil, exit.New(exit.NeedsPerson, errors.New("this was rejected or retired before, and an agent cannot bring it back"), "a person can: reverie remember, in a terminal")
	}
	return nil, nil
}

// SuggestForget puts a calling agent's wish to retire a memory into the inbox. Without an
// operation, why gives the reason.
func (k *Keeper) SuggestForget(ctx context.Context, id, reason string) (suggested *record.Operation, why string, err error) {
	err = k.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		suggested, why = nil, ""
		held, err := tx.Find(id)
		if err != nil {
			return err
		}
		if held.Status == record.Retired {
			why = "it was retired already"
			return nil
		}
		clean, _ := k.Book.Clean(held.Retire(reason))
		blob, _ := tx.Blob(held.ID)
		o := record.NewOperation(record.Operation{
			Op: record.Retire, How: record.Written, Memory: clean, Why: "an agent wants it forgotten: " + k.Agent(),
			Base: []record.Base{{ID: held.ID, Path: held.Path(), Blob: string(blob)}}, Proposed: k.Now().UTC().Truncate(time.Second),
		})
		pending, err := tx.Inbox().Operations()
		rejected, err2 := tx.Inbox().Rejections()
		if err := k.Tolerate(errors.Join(err, err2)); err != nil {
			return err
		}
		if slices.ContainsFunc(pending, func(p record.Operation) bool { return p.ID == o.ID }) {
			why = "that waits already"
			return nil
		}
		if slices.ContainsFunc(rejected, func(r record.Rejection) bool { return r.ID == o.ID }) {
			return exit.New(exit.NeedsPerson, errors.New("forget: a person rejected that before, and an agent cannot ask again"), "a person can: reverie forget, in a terminal")
		}
		tx.Describe(gitstore.Commit{Subject: "suggest: forget " + record.CommitSubject(held.Text), Body: reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "suggest"}}})
		suggested = &o
		return tx.PutOperation(o)
	})
	return suggested, why, err
}
