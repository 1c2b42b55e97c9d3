package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// rootAuthor and rootDate make the first commit the same everywhere.
var (
	rootAuthor = git.Identity{Name: "Reverie", Email: "reverie@reverie-memory.invalid"}
	rootDate   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// rootMessage is the message of the first commit.
const rootMessage = `reverie: begin

The first commit of every Reverie store, the same in every repository, so that stores
begun apart have a common ancestor.
`

// rootObjects returns the empty tree and the first commit of every store.
func rootObjects(format git.Format) []git.Object {
	tree := format.NewObject(git.Tree, nil)
	return []git.Object{tree, format.NewCommit(rootAuthor, rootDate, tree.ID, nil, rootMessage)}
}

// First returns the id of the commit with which every store begins.
func (s *Store) First() ID { return ID(rootObjects(s.repo.ObjectFormat)[1].ID) }

// Create makes the store in one move of the ref. Its first commit is the same everywhere, and a
// second one adds the files. The error wraps ErrExists if there is a store, and ErrDeleted if there
// was one.
func (s *Store) Create(ctx context.Context, files map[string]redact.Redacted, c Commit) (Result, error) {
	if err := git.CheckVersion(ctx); err != nil {
		return Result{}, err
	}
	w, err := s.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer w.end()
	if err := s.mayBegin(ctx); err != nil {
		return Result{}, err
	}
	objects := s.repo.Objects()
	defer objects.Close()
	first := rootObjects(s.repo.ObjectFormat)
	if err := objects.Save(ctx, first); err != nil {
		return Result{}, fmt.Errorf("create %s: %w", s.ref, err)
	}
	root := ID(first[1].ID)
	t, err := s.open(ctx, root)
	if err != nil {
		return Result{}, err
	}
	defer t.close()
	tx := t.change(Commit{})
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := tx.Write(path, files[path]); err != nil {
			return Result{}, err
		}
	}
	tree, objs := tx.build()
	id, note, err := w.commit(objects, append(first, objs...), tree, []ID{root}, "", c)
	if err != nil {
		return Result{}, err
	}
	return Result{Commit: id, Tree: tree, Changed: true, Note: note}, nil
}

// mayBegin returns nil only if the store certainly never existed.
func (s *Store) mayBegin(ctx context.Context) error {
	switch _, err := s.Tip(ctx); {
	case err == nil:
		return fmt.Errorf("%s: %w", s.ref, ErrExists)
	case errors.Is(err, ErrDeleted), !errors.Is(err, ErrNoStore):
		return err
	}
	return nil
}

// Discard removes the store with its log and forgets that it existed, so that another can be made
// at its ref. Its objects stay until git prunes them. Without a store it does nothing.
func (s *Store) Discard(ctx context.Context) error {
	ctx, unlock, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if s.tips.noted() { // first, so that an interrupted call loses nothing
		if err := s.tips.write(""); err != nil {
			return err
		}
	}
	tip, err := s.repo.Refs().Read(ctx, s.ref)
	if errors.Is(err, git.ErrNoRef) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.repo.Refs().Delete(ctx, s.ref, tip)
}

// Adopt makes the store from the commit of another ref, such as refs/remotes/origin/reverie/memory.
// It replaces a deleted store only if that commit reaches the last one made here. The error wraps
// ErrExists if there is a store, and ErrDeleted if commits of a deleted one would be lost. It is an
// EntryErrors if that commit has an entry or a file that a store must not have.
func (s *Store) Adopt(ctx context.Context, from string) (Result, error) {
	w, err := s.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer w.end()
	gone := s.mayBegin(ctx)
	if gone != nil && !errors.Is(gone, ErrDeleted) {
		return Result{}, gone
	}
	tip, err := s.repo.Refs().Read(ctx, from)
	if err != nil {
		return Result{}, fmt.Errorf("adopt: %w", err)
	}
	if gone != nil {
		if whole, err := s.repo.History().IsAncestor(ctx, string(s.tips.last(ctx)), tip); err != nil || !whole {
			return Result{}, fmt.Errorf("%w; to give up what is only there: git update-ref %s %s", gone, s.ref, from)
		}
	}
	t, err := s.open(ctx, ID(tip))
	if err != nil {
		return Result{}, fmt.Errorf("adopt %s: %w", from, err)
	}
	defer t.close()
	if t.commit == "" {
		return Result{}, fmt.Errorf("adopt %s: it is at a tree, not at a commit", from)
	}
	_, err = t.Admit("")
	if err == nil {
		err = AdmitHistory(ctx, s.repo, string(t.commit))
	}
	if err != nil {
		return Result{}, fmt.Errorf("adopt %s: %w", from, err)
	}
	if err := s.repo.Refs().Move(ctx, s.ref, tip, "", "reverie: adopt "+from); err != nil {
		return Result{}, err
	}
	return Result{Commit: t.commit, Tree: t.id, Changed: true}, s.tips.set(t.commit)
}

// giveUp records the first commit of all stores as the last one, before the ref leaves that
// history. So an interrupted call loses nothing.
func (r tipRecord) giveUp() error {
	if !r.noted() {
		return nil
	}
	return r.set(ID(rootObjects(r.repo.ObjectFormat)[1].ID))
}
