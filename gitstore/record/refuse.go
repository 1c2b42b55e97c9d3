package record

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
)

// PurgesAt returns the readable purge records in the tree of a commit.
func (b *Book) PurgesAt(ctx context.Context, at gitstore.ID) (all []Purge, err error) {
	err = b.memory.ViewAt(ctx, string(at), func(t *gitstore.Tree) error {
		all, err = Purges(t)
		return err
	})
	for _, e := range unjoin(err) {
		var bad *FormatError
		if !errors.As(e, &bad) {
			return nil, err
		}
	}
	return all, nil
}

// refusePurged returns an error wrapping ErrPurged if the store's history or theirs holds content
// that the other's records name. Without records it costs a look at two trees.
func (b *Book) refusePurged(ctx context.Context, s *gitstore.Store, theirs gitstore.ID) error {
	ours, err := s.Tip(ctx)
	if errors.Is(err, gitstore.ErrNoStore) || err == nil && ours == theirs {
		return nil
	}
	if err != nil {
		return err
	}
	for _, way := range []struct {
		has, of gitstore.ID
		whose   string
		next    string
	}{
		{theirs, ours, "the other history", "it was not rewritten yet: reverie sync does that, or its owner runs reverie sync there"},
		{ours, theirs, "this clone's history", "bring it along with: reverie sync"},
	} {
		purges, err := b.PurgesAt(ctx, way.of)
		if err != nil {
			return err
		}
		if len(purges) == 0 {
			continue
		}
		rw, err := gitstore.Rewrite(ctx, s.Repo(), []gitstore.ID{way.has}, []gitstore.ID{way.of}, Omit(purges...))
		if err != nil {
			return err
		}
		rw.Close()
		if rw.New[way.has] != way.has && rw.New[way.has] != "" {
			return fmt.Errorf("%s %w: %s; %s", way.whose, ErrPurged, rw.Holds(), way.next)
		}
	}
	return nil
}

// refusePurgedMemory returns an error wrapping ErrPurged if a memory with this text was purged.
func (tx *Tx) refusePurgedMemory(m Memory, text []byte) error {
	omit, err := tx.Purges().omit()
	if err != nil {
		return err
	}
	if omit.Blobs[tx.book.memory.BlobID(text)] || omit.Path != nil && omit.Path(m.Path()) {
		return fmt.Errorf("write %s: it %w", m.ID, ErrPurged)
	}
	return nil
}

// refusePurged is refusePurgedMemory for the content of an operation.
func (tx *Tx) refusePurged(o Operation) error {
	if o.Op != Skill {
		return tx.refusePurgedMemory(o.Memory, []byte(o.File))
	}
	omit, err := tx.Purges().omit()
	if err != nil {
		return err
	}
	text, _ := tx.book.scanner.Text(o.File)
	if omit.Blobs[tx.book.memory.BlobID(text.Bytes())] || omit.Path != nil && omit.Path(o.Path) {
		return fmt.Errorf("write %s: it %w", o.Path, ErrPurged)
	}
	return nil
}

// withoutPurged returns a reflection without the candidates whose memory was purged. ok is false if
// the rest was purged too.
func (tx *Tx) withoutPurged(r Reflection) (left Reflection, ok bool, err error) {
	omit, err := tx.Purges().omit()
	if err != nil {
		return r, false, err
	}
	if omit.Path != nil {
		r.Candidates = slices.DeleteFunc(slices.Clone(r.Candidates), func(c Candidate) bool {
			return omit.Path(New(Memory{Text: c.Text, Body: c.Body}).Path())
		})
	}
	text, err := r.Format()
	return r, err != nil || !omit.Blobs[tx.book.memory.BlobID(text)], nil
}
