package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
)

// LockWait is how long Lock waits when its context sets no earlier end.
const LockWait = 30 * time.Second

// StateDir is the folder reverie of the common git directory, where everything we keep outside
// of git's objects and refs lives. It is made, readable by the owner alone, when it is not there.
// A symbolic link in its place, or another user's folder, is refused.
func (r *Repo) StateDir() (string, error) {
	return ownFolder(filepath.Join(r.CommonDir, "reverie"))
}

// LockError says who holds the lock that we did not get.
type LockError struct {
	Path   string
	Holder string // what the holder wrote about itself
}

func (e *LockError) Error() string {
	return fmt.Sprintf("lock %s: held by %s; try again when it has ended", e.Path, e.Holder)
}

// Lock takes the lock that all writers of this repository's Reverie share, over all worktrees
// and processes, and returns the function that gives it back. The kernel frees it when its holder dies.
// It waits until the deadline of ctx, at most LockWait, and then returns a *LockError; if ctx is cancelled,
// the error wraps context.Canceled.
func (r *Repo) Lock(ctx context.Context) (unlock func(), err error) { return r.lockNamed(ctx, "lock") }

// LockSync takes the lock that whoever talks to a remote holds, while others go on reading and writing; it is
// taken before that of Lock, never after. Otherwise it is like Lock.
func (r *Repo) LockSync(ctx context.Context) (unlock func(), err error) {
	return r.lockNamed(ctx, "sync.lock")
}

func (r *Repo) lockNamed(ctx context.Context, name string) (unlock func(), err error) {
	dir, err := r.StateDir()
	if err != nil {
		return nil, err
	}
	return LockFile(ctx, filepath.Join(dir, name))
}

// LockFile takes the lock that a file of ours is, as Lock does; it is made when it is not there.
func LockFile(ctx context.Context, path string) (unlock func(), err error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("lock %s: not a file of ours; move it away", path) // its text is written over
	}
	f, err := file.Open(path, os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := waitLock(ctx, f); err != nil {
		return nil, err
	}
	f.Truncate(0)
	fmt.Fprintf(f, "process %d (%s) since %s\n", os.Getpid(), strings.Join(os.Args[:min(2, len(os.Args))], " "), time.Now().Format(time.RFC3339))
	return func() { f.Close() }, nil
}

// waitLock locks f, or closes it. The kernel queues those who wait, so that nobody starves beside a
// busy writer. Such a wait cannot be broken off: one that lasts too long is left behind, to close f
// when its turn comes.
func waitLock(ctx context.Context, f *os.File) error {
	failed := func(err error) error {
		f.Close()
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if locked, err := file.Lock(f, false); err != nil {
		return failed(err)
	} else if locked {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	turn := make(chan error)
	go func() {
		_, err := file.Lock(f, true)
		select {
		case turn <- err:
		case <-wait.Done():
			f.Close()
		}
	}()
	select {
	case err := <-turn:
		if err != nil {
			return failed(err)
		}
		return nil
	case <-wait.Done():
		if err := ctx.Err(); errors.Is(err, context.Canceled) { // the file stays the goroutine's
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		return &LockError{Path: f.Name(), Holder: holder(f.Name())}
	}
}

func holder(path string) string {
	text, err := file.Read(path, maxStateFile)
	who := strings.TrimSpace(string(text))
	if err != nil || who == "" {
		return "another process"
	}
	return who
}
