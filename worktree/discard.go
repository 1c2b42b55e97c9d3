package worktree

import (
	"context"
	"os"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
)

// KeptBy returns the refs that keep a loop's commits which are no longer on a branch.
func KeptBy(ctx context.Context, repo *git.Repo, name string) ([]git.Ref, error) {
	return repo.Refs().List(ctx, Kept+name)
}

// Discard removes everything of a loop except its branch: the record, the refs of KeptBy, and its
// folder. The caller holds the lease and has removed the work tree.
func Discard(ctx context.Context, repo *git.Repo, name string) error {
	kept, err := KeptBy(ctx, repo, name)
	if err != nil {
		return err
	}
	dir, err := folder(repo, name)
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return err
	}
	store := gitstore.Open(repo, Refs+name)
	ctx, unlock, err := store.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, r := range kept {
		if err := repo.Refs().Delete(ctx, r.Name, r.ID); err != nil {
			return err
		}
	}
	return store.Discard(ctx) // last: while the record exists, the loop can be named
}
