package gitstore

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Replace moves the store's ref to the commit that replaced its tip in a saved rewriting. It adds
// files on top in one commit, if there are any. It restarts the ref's log, which would lead back.
// If the rewriting does not know the tip, the error wraps git.ErrLost. The caller holds the lock.
func (s *Store) Replace(ctx context.Context, rw *Rewriting, files map[string]redact.Redacted, c Commit) (Result, error) {
	w, err := s.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer w.end()
	old, err := s.Tip(ctx)
	if err != nil {
		return Result{}, err
	}
	tip, known := rw.New[old]
	if !known {
		return Result{}, fmt.Errorf("rewrite %s: %w: it is at %.12s", s.ref, git.ErrLost, old)
	}
	if tip == old && len(files) == 0 {
		return Result{Commit: old}, nil
	}
	if err := s.tips.giveUp(); err != nil {
		return Result{}, err
	}
	res := Result{Commit: tip, Changed: true}
	if len(files) == 0 {
		if err := s.repo.Refs().Move(ctx, s.ref, string(tip), string(old), "reverie: purge"); err != nil {
			return Result{}, err
		}
		if s.tips.noted() {
			if err := s.tips.set(tip); err != nil {
				return res, err
			}
		}
	} else if res, err = w.onTop(tip, old, files, c); err != nil {
		return Result{}, err
	}
	return res, s.repo.Refs().ForgetLog(ctx, s.ref)
}

// onTop commits files on top of a commit that is not the ref's, and moves the ref there from old.
func (w *writer) onTop(parent, old ID, files map[string]redact.Redacted, c Commit) (Result, error) {
	t, err := w.s.open(w.ctx, parent)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", w.s.ref, err)
	}
	defer t.close()
	tx := t.change(c)
	for path, text := range files {
		if err := tx.Write(path, text); err != nil {
			return Result{}, err
		}
	}
	root, objs := tx.build()
	objects := w.s.repo.Objects() // not the rewriting's, whose pack must stay kept
	defer objects.Close()
	id, note, err := w.commit(objects, objs, root, []ID{parent}, old, c)
	if err != nil {
		return Result{}, err
	}
	return Result{Commit: id, Tree: root, Changed: true, Note: note}, nil
}

// BlobID returns the id of a file with this text.
func (s *Store) BlobID(text []byte) ID { return ID(s.repo.ObjectFormat.NewObject(git.Blob, text).ID) }
