package git

import (
	"context"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/file"
)

// StateDir returns the folder reverie of the common git directory, which holds all our data outside
// of git's objects and refs. It creates the folder, readable only by the owner, if it is missing.
// It refuses a symbolic link or another user's folder in its place.
func (r *Repo) StateDir() (string, error) {
	return ownFolder(filepath.Join(r.CommonDir, "reverie"))
}

// Lock takes the lock that all writers of this repository's Reverie share, over all worktrees and
// processes, and returns the function that releases it. The kernel releases it when its holder
// dies. It waits until the deadline of ctx, at most file.LockWait, and then returns a
// *file.LockError. If ctx is cancelled, the error wraps context.Canceled.
func (r *Repo) Lock(ctx context.Context) (unlock func(), err error) { return r.lockNamed(ctx, "lock") }

// LockSync takes the lock for contact with a remote; reading and writing continue meanwhile. Take
// it before the lock of Lock, never after. Otherwise it works like Lock.
func (r *Repo) LockSync(ctx context.Context) (unlock func(), err error) {
	return r.lockNamed(ctx, "sync.lock")
}

func (r *Repo) lockNamed(ctx context.Context, name string) (unlock func(), err error) {
	dir, err := r.StateDir()
	if err != nil {
		return nil, err
	}
	return file.LockPath(ctx, filepath.Join(dir, name))
}
