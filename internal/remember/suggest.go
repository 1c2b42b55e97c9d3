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

// suggest puts a memory that an agent wants kept into the inbox. It returns nil if the memory is
// known or waits already.
func (k *Keeper) suggest(ctx context.Context, m record.Memory) (*record.Operation, error) {
	var ops []record.Operation
	var res transfer.Result
	err := k.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		pending, err := tx.Operations()
		rejected, err2 := tx.Rejections()
		if err := k.Tolerate(errors.Join(err, err2)); err != nil {
			return err
		}
		ops, res = transfer.Plan(tx.View, []record.Memory{m}, transfer.Options{Pending: pending, Rejections: rejected, Private: clone.Private(t.Config)})
		for i := range ops {
			ops[i].Why = "an agent wants it remembered: " + m.Source.By
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

// SuggestForget puts into the inbox that the calling agent wants a memory retired. retired and
// waits report that nothing is left to suggest.
func (k *Keeper) SuggestForget(ctx context.Context, id, reason string) (o record.Operation, retired, waits bool, err error) {
	err = k.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		retired, waits = false, false
		held, err := tx.Find(id)
		if err != nil {
			return err
		}
		if retired = held.Status == record.Retired; retired {
			return nil
		}
		clean, _ := k.Book.Clean(held.Retire(reason))
		blob, _ := tx.Blob(held.ID)
		o = record.NewOperation(record.Operation{
			Op: record.Retire, How: record.Written, Memory: clean, Why: "an agent wants it forgotten: " + k.Agent(),
			Base: []record.Base{{ID: held.ID, Path: held.Path(), Blob: string(blob)}}, Proposed: k.Now().UTC().Truncate(time.Second),
		})
		pending, err := tx.Operations()
		rejected, err2 := tx.Rejections()
		if err := k.Tolerate(errors.Join(err, err2)); err != nil {
			return err
		}
		if waits = slices.ContainsFunc(pending, func(p record.Operation) bool { return p.ID == o.ID }); waits {
			return nil
		}
		if slices.ContainsFunc(rejected, func(r record.Rejection) bool { return r.ID == o.ID }) {
			return exit.New(exit.NeedsPerson, errors.New("forget: a person rejected that before, and an agent cannot ask again"), "a person can: reverie forget, in a terminal")
		}
		tx.Describe(gitstore.Commit{Subject: "suggest: forget " + record.CommitSubject(held.Text), Body: reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "suggest"}}})
		return tx.PutOperation(o)
	})
	return o, retired, waits, err
}
