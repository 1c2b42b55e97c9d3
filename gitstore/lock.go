package gitstore

import (
	"context"

	"github.com/reverie-memory/reverie/internal/git"
)

// heldKey marks a context that holds the lock of a repository. Its value is the repository's common
// directory.
type heldKey struct{}

// Lock takes the lock that all writers of this repository's stores share. In the returned context,
// Update, Create and Adopt of those stores do not wait for it, so several stores can change
// together. The context must not outlive unlock.
func (s *Store) Lock(ctx context.Context) (locked context.Context, unlock func(), err error) {
	if holds(ctx, s.repo) {
		return ctx, func() {}, nil
	}
	go s.repo.Config().Identity(ctx) // git answers while we wait; begin uses the answer or asks again
	unlock, err = s.repo.State().Lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	return context.WithValue(ctx, heldKey{}, s.repo.CommonDir), unlock, nil
}

// holds reports whether a context holds the lock of a repository.
func holds(ctx context.Context, repo *git.Repo) bool {
	return ctx.Value(heldKey{}) == any(repo.CommonDir)
}
