package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// gcFresh is the age from which git itself ignores a gc.pid.
	gcFresh = 12 * time.Hour
	// gcWait bounds how long a command waits for a git gc before it writes beside it.
	gcWait = 5 * time.Second
)

// Collecting reports whether a git gc is at work in the repository. It reads gc.pid as git does:
// the file counts for 12 hours, and on this machine only while its process lives.
func (u Upkeep) Collecting() bool {
	path := filepath.Join(u.repo.CommonDir, "gc.pid")
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) > gcFresh {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var pid int
	var host string
	if n, _ := fmt.Sscan(string(text), &pid, &host); n != 2 {
		return false
	}
	here, err := os.Hostname()
	return err != nil || host != here || processExists(pid)
}

// AwaitCollection waits for a running git gc, and reports whether none runs any more. It waits at
// most 5 seconds, and not at all if ctx has less than twice that left, as in a hook. Writing beside
// a gc is safe, only slower.
func (u Upkeep) AwaitCollection(ctx context.Context) bool {
	wait := gcWait
	if end, ok := ctx.Deadline(); ok && time.Until(end) < 2*gcWait {
		wait = 0
	}
	for until := time.Now().Add(wait); u.Collecting(); {
		if time.Now().After(until) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return true
}
