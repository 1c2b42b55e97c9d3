package worktree

import (
	"context"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// placesLock is the lock file, in the state folder, for starting or resuming a loop in a user's own
// work tree.
const placesLock = "loops.lock"

// LockPlaces prevents other processes from starting a loop in a user's own work tree until unlock
// is called. Hold it from Beside until the step after which others find the loop.
func LockPlaces(ctx context.Context, repo *git.Repo) (unlock func(), err error) {
	dir, err := repo.State().Dir()
	if err != nil {
		return nil, err
	}
	return file.LockPath(ctx, filepath.Join(dir, placesLock))
}

// Beside returns the name of another unfinished loop in the same work tree or on the same branch,
// or "". It skips unreadable and foreign records, because no process carries them on.
func Beside(ctx context.Context, repo *git.Repo, s State) (string, error) {
	names, err := List(ctx, repo)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		l, err := Open(repo, name, nil).Load(ctx)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil || !l.Own || name == s.Name || l.State.Phase.Over() {
			continue
		}
		if l.State.Branch == s.Branch || s.InPlace != "" && file.Same(l.State.InPlace, s.InPlace) {
			return name, nil
		}
	}
	return "", nil
}
