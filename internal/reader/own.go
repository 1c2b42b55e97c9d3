package reader

import (
	"context"
	"errors"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
)

// The person's own memory is read behind that of a clone. A fault in it becomes a note, and nothing
// fails for it.

// OwnLabel tells people that a memory is their own.
const OwnLabel = "yours, in every repository"

// ownReader returns the reader of the person's own memory, or nil if it is off, absent or damaged.
func ownReader(ctx context.Context, r *Reader) *Reader {
	if r.own != nil || !r.Config.UserMemory {
		return r.own
	}
	c, err := clone.OpenOwn(ctx, r.Clone)
	if err != nil {
		noteOwn(r, err)
		return nil
	}
	r.own = New(c, r.Report)
	return r.own
}

// noteOwn notes a fault of the person's own memory.
func noteOwn(r *Reader, err error) {
	if err != nil && !clone.NoOwn(err) {
		r.OwnLost = r.OwnLost || !errors.Is(err, config.ErrNewer)
		r.Note(Note{About: OwnFaulty, Err: err})
	}
}

// Own returns the person's own memories, retired ones too, without those that are in force in the
// view.
func Own(ctx context.Context, r *Reader, v *record.View) (all []record.Memory) {
	own := ownReader(ctx, r)
	if own == nil {
		return nil
	}
	noteOwn(r, own.View(ctx, func(of *record.View) error {
		all = slices.DeleteFunc(of.Memories(), func(m record.Memory) bool {
			here, err := v.Find(m.ID)
			return err == nil && here.Live(r.Now())
		})
		return nil
	}))
	for i := range all {
		all[i].Own = true
	}
	return all
}

// OwnWaiting counts the operations that wait in the person's own memory.
func OwnWaiting(ctx context.Context, r *Reader) int {
	own := ownReader(ctx, r)
	if own == nil {
		return 0
	}
	return record.CountOperations(ctx, gitstore.Open(own.Repo, clone.InboxRef))
}

// FindOwn returns one of the person's own memories by the beginning of its id. The error wraps
// record.ErrNoMemory if nothing matches.
func FindOwn(ctx context.Context, r *Reader, id string) (m record.Memory, err error) {
	own := ownReader(ctx, r)
	if own == nil {
		return m, record.ErrNoMemory
	}
	err = own.View(ctx, func(v *record.View) (err error) {
		m, err = v.Find(id)
		m.Own = true
		return err
	})
	return m, err
}

// withOwn runs fn on an index with the person's own memory, or on the index alone if that cannot be
// read. fn may run twice.
func withOwn(ctx context.Context, r *Reader, x *recall.Index, limit recall.Limits, fn func(*recall.Index) error) error {
	own := ownReader(ctx, r)
	if own == nil {
		return fn(x)
	}
	defer own.OpenIndex()()
	ran := false
	var failed error
	err := own.View(ctx, func(v *record.View) error {
		return own.search(ctx, v, false, limit, func(y *recall.Index) error {
			ran = true
			failed = fn(x.With(y, func(m *record.Memory) { m.Own = true }))
			return nil
		})
	})
	if noteOwn(r, err); err != nil || !ran {
		return fn(x)
	}
	return failed
}

// OnlyOwn reports whether some ids name memories of the person's own, and none of this clone's.
func OnlyOwn(ctx context.Context, r *Reader, ids []string) bool {
	all := len(ids) > 0
	err := r.View(ctx, func(v *record.View) error {
		for _, id := range ids {
			_, err := v.Find(id)
			all = all && errors.Is(err, record.ErrNoMemory)
		}
		return nil
	})
	if err != nil && !clone.NoMemory(err) {
		return false
	}
	for _, id := range ids {
		if all {
			_, err := FindOwn(ctx, r, id)
			all = err == nil
		}
	}
	return all
}
