package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// LockWait bounds the wait of LockPath if its context has no earlier deadline.
const LockWait = 30 * time.Second

// LockError names the holder of a lock that LockPath did not get.
type LockError struct {
	Path   string
	Holder string // the holder's description of itself
}

func (e *LockError) Error() string {
	return fmt.Sprintf("lock %s: held by %s; try again when it has ended", e.Path, e.Holder)
}

// LockPath takes the lock of a lock file, creating the file if needed, and returns the function
// that releases it. The kernel releases the lock when its holder dies. The holder may also release
// it by removing the file: waiters then create a new one. LockPath waits until the deadline of ctx,
// at most LockWait, and then returns a *LockError. If ctx is cancelled, the error wraps
// context.Canceled.
func LockPath(ctx context.Context, path string) (unlock func(), err error) {
	var f *os.File
	for held := false; !held; {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			// its text is written over
			return nil, fmt.Errorf("lock %s: not a file of ours; move it away", path)
		}
		if f, err = Open(path, os.O_RDWR|os.O_CREATE|NoFollow, 0o600); err != nil {
			return nil, fmt.Errorf("open lock: %w", err)
		}
		if err := waitLock(ctx, f); err != nil {
			return nil, err
		}
		if held = isAt(f, path); !held {
			f.Close()
		}
	}
	f.Truncate(0)
	fmt.Fprintf(f, "process %d (%s) since %s\n", os.Getpid(), strings.Join(os.Args[:min(2, len(os.Args))], " "), time.Now().Format(time.RFC3339))
	return func() { f.Close() }, nil
}

// isAt reports whether f is still the file at path.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	now, err2 := os.Lstat(path)
	return err == nil && err2 == nil && os.SameFile(mine, now)
}

// waitLock locks f, or closes it on failure. The kernel queues waiters, so a busy writer starves no
// one. The wait cannot be interrupted: on timeout it continues in the background and closes f when
// its turn comes.
func waitLock(ctx context.Context, f *os.File) error {
	failed := func(err error) error {
		f.Close()
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if locked, err := Lock(f, false); err != nil {
		return failed(err)
	} else if locked {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	turn := make(chan error)
	go func() {
		_, err := Lock(f, true)
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
	text, err := Read(path, 4<<10)
	who := strings.TrimSpace(string(text))
	if err != nil || who == "" {
		return "another process"
	}
	return who
}
