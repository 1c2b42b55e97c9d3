package inbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/history"
)

// Outcome names the fate of an operation.
type Outcome string

const (
	Accepted  Outcome = "accepted"
	Rejected  Outcome = "rejected"
	Closed    Outcome = "closed"    // by a model, as review --rejected lists it
	Withdrawn Outcome = "withdrawn" // a later statement replaced it
	Removed   Outcome = "removed"   // by anything else, as Reason says
)

// Decision is the end of an operation that no longer waits.
type Decision struct {
	Outcome Outcome   `json:"outcome"`
	Time    time.Time `json:"time,omitzero"`
	Reason  string    `json:"reason,omitempty"` // of a rejection or removal
	Model   string    `json:"model,omitempty"`  // that closed it
}

// decidedError is about an operation that was named as if it still waited.
type decidedError struct {
	id      string
	outcome Outcome
}

func (e *decidedError) Error() string {
	return fmt.Sprintf("operation %s: it was %s before", e.id[:8], e.outcome)
}

func (e *decidedError) Unwrap() error { return record.ErrNoMemory }

// Decided returns an operation that no longer waits, by its id or by that of the memory that it
// proposed. The error wraps record.ErrNoMemory or record.ErrAmbiguous. It reads the history of the
// inbox. If git lacks that, the operation has only what the rejection tells.
func Decided(ctx context.Context, b *Inbox, v *record.View, id string) (o record.Operation, d Decision, err error) {
	if id = strings.ToLower(id); strings.Trim(id, "0123456789abcdef") != "" {
		return o, d, record.ErrNoMemory
	}
	rejections, err := b.rejected(v, nil)
	if err != nil {
		return o, d, err
	}
	ops, left, doubt := removed(ctx, b, id)
	if ctx.Err() != nil {
		return o, d, ctx.Err()
	}
	for _, r := range rejections {
		if _, known := left[r.ID]; !known {
			ops = append(ops, record.Operation{ID: r.ID, How: r.How, Memory: record.Memory{Text: r.Text, Body: r.Body}})
		}
	}
	if o, err = record.FindOperation(ops, id); err != nil {
		return o, d, cmp.Or(doubt, err)
	}
	c := left[o.ID]
	// A rejected or closed operation may be proposed again, and then decided otherwise.
	if r, err := record.FindRejection(rejections, o.ID); err == nil && !c.Time.After(r.Time.Add(time.Second)) {
		d = Decision{Outcome: Rejected, Time: r.Time, Reason: r.Reason, Model: r.Model}
		if r.Model != "" {
			d.Outcome = Closed
		}
		return o, d, nil
	}
	_, missing := v.Find(o.Memory.ID)
	merged := missing == nil && o.Op == record.Add
	switch d.Time = c.Time; {
	case slices.Contains([]string{"accept", "review", "learn", "sync"}, c.Op) || merged:
		d.Outcome = Accepted
	case c.Op == "dream":
		d.Outcome = Withdrawn
	default:
		d.Outcome, d.Reason = Removed, c.Subject
	}
	return o, d, nil
}

// removed returns the operations that left the inbox and hold a text, as they waited, with the last
// commit that removed each.
func removed(ctx context.Context, b *Inbox, text string) (ops []record.Operation, left map[string]history.Commit, err error) {
	left = map[string]history.Commit{}
	if _, err := gitstore.Open(b.Repo, clone.InboxRef).Tip(ctx); errors.Is(err, gitstore.ErrNoStore) {
		return nil, left, nil
	}
	err = history.Changes(ctx, b.Repo, clone.InboxRef, 0, []string{record.OperationDir}, func(c history.Commit, files []history.Version) error {
		for _, f := range files {
			if f.After != nil || !bytes.Contains(f.Before, []byte(text)) {
				continue
			}
			o, err := record.ParseOperation(f.Path, f.Before)
			if _, later := left[o.ID]; err == nil && !later {
				left[o.ID], ops = c, append(ops, o)
			}
		}
		return ctx.Err()
	})
	return ops, left, err
}
