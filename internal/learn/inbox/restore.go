package inbox

import (
	"context"
	"errors"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/history"
)

// Rejected returns the rejections with the given ids, or all, the newest first.
func (b *Inbox) Rejected(ctx context.Context, ids []string) (found []record.Rejection, err error) {
	err = b.View(ctx, func(v *record.View, _ clone.Team) error {
		found, err = b.rejected(v, ids)
		return err
	})
	slices.SortStableFunc(found, func(a, b record.Rejection) int { return b.Time.Compare(a.Time) })
	return found, err
}

func (b *Inbox) rejected(v *record.View, ids []string) (found []record.Rejection, err error) {
	all, err := v.Inbox().Rejections()
	if err = b.Tolerate(err); err != nil || len(ids) == 0 {
		return all, err
	}
	for _, id := range ids {
		r, err := record.FindRejection(all, id)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

// Restore drops the rejections with the given ids and returns their operations to the inbox. lost
// has the rejections whose operation history lacks; sessions may propose it again.
func (b *Inbox) Restore(ctx context.Context, ids []string) (restored []record.Operation, lost []record.Rejection, err error) {
	found, err := b.Rejected(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	before := map[string]record.Operation{}
	for _, r := range found {
		if o, err := b.beforeRejection(ctx, r.ID); err == nil {
			before[r.ID] = o
		} else if ctx.Err() != nil {
			return nil, nil, err
		}
	}
	err = b.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		restored, lost = nil, nil
		again, err := b.rejected(tx.View, ids)
		if err != nil {
			return err
		}
		pending, err := b.Pending(tx.View)
		if err != nil {
			return err
		}
		for _, r := range again {
			tx.Drop(record.Inbox, record.RejectionPath(r.ID))
			// proposed again, with newer evidence
			if waits, err := record.FindOperation(pending, r.ID); err == nil {
				restored = append(restored, waits)
				continue
			}
			o, ok := before[r.ID]
			if !ok {
				lost = append(lost, r)
				continue
			}
			if err := tx.PutOperation(o); err != nil {
				return err
			}
			restored = append(restored, o)
		}
		text := Count(len(again), "operation")
		if len(again) == 1 {
			text = record.CommitSubject(again[0].Text)
		}
		tx.Describe(gitstore.Commit{Subject: "restore: " + text, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "restore"}}})
		return nil
	})
	return restored, lost, err
}

// beforeRejection returns an operation as it waited before its rejection.
func (b *Inbox) beforeRejection(ctx context.Context, id string) (o record.Operation, err error) {
	rejected := ""
	err = history.Log(ctx, b.Repo, clone.InboxRef, []string{record.RejectionPath(id)}, 1, func(c history.Commit) error {
		rejected = c.ID
		return nil
	})
	if err == nil && rejected == "" {
		err = errors.New("no commit rejects it")
	}
	if err != nil {
		return o, err
	}
	at := record.OperationPath(id)
	err = gitstore.Open(b.Repo, clone.InboxRef).ViewAt(ctx, rejected+"^", func(t *gitstore.Tree) error {
		text, err := t.Read(at)
		if err == nil {
			o, err = record.ParseOperation(at, text)
		}
		return err
	})
	return o, err
}
