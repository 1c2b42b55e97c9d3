package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/process"
)

const (
	leaseLock = "lease.lock"
	leaseFile = "lease.json"
	// beat is the interval of the holder's signs of life. dead is the age from which the word of
	// another machine does not count, because its lock may be invisible there.
	beat = 5 * time.Second
	dead = time.Minute
	// glance bounds the wait for a lease that another process may only be probing.
	glance = 500 * time.Millisecond
)

// Holder identifies the process that carries a loop on, as recorded in its lease.
type Holder struct {
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// distinguishes processes of one number; in the system's form
	Start string `json:"start"`
	// distinguishes boots, across which numbers mean nothing; "" if unknown
	Boot  string    `json:"boot,omitempty"`
	Since time.Time `json:"since"`
	Beat  time.Time `json:"beat"` // when it was heard of last

	Group      int    `json:"group,omitempty"` // the process group now working for it
	GroupStart string `json:"group_start,omitempty"`
}

// thisHost names this machine.
func thisHost() string {
	host, _ := os.Hostname()
	return host
}

// elsewhere reports whether the holder is on another machine and has recently given a sign of life.
// A time in the future counts by its distance, because clocks of machines differ.
func (h Holder) elsewhere() bool { return h.Host != thisHost() && time.Since(h.Beat).Abs() < dead }

// Lease is the right to take the steps of a loop. One process has it; the system releases it when
// that process ends.
type Lease struct {
	dir    string
	unlock func()
	stop   chan struct{}
	wg     sync.WaitGroup

	mu     sync.Mutex
	holder Holder
}

// Folder returns the folder of all loops in the state folder. It may not exist.
func Folder(repo *git.Repo) string { return filepath.Join(repo.CommonDir, "reverie", "loops") }

// folderOf returns the path of a loop's folder. It may not exist.
func folderOf(repo *git.Repo, name string) (string, error) {
	if !validName(name) {
		return "", fmt.Errorf("%q is no name of a loop", name)
	}
	return filepath.Join(Folder(repo), name), nil
}

// folder is folderOf, creating the folder if needed.
func folder(repo *git.Repo, name string) (string, error) {
	dir, err := folderOf(repo, name)
	if err == nil {
		_, err = repo.State().Sub("loops")
	}
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is no folder; move it away", dir)
	}
	return dir, nil
}

// TakeLease takes a loop's lease. The error wraps ErrHeld if a live process has it. TakeLease ends
// the processes of a dead holder, by their group or by mark in their environment, and deletes its
// live view.
func TakeLease(ctx context.Context, repo *git.Repo, name, mark string) (*Lease, error) {
	dir, err := folder(repo, name)
	if err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	unlock, err := file.LockPath(soon, filepath.Join(dir, leaseLock))
	var held *file.LockError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("loop %s: %s: %w", name, held.Holder, ErrHeld)
	}
	if err != nil {
		return nil, err
	}
	last, known := readHolder(dir)
	if known && last.elsewhere() {
		unlock()
		return nil, fmt.Errorf("loop %s: process %d on %s: %w", name, last.PID, last.Host, ErrHeld)
	}
	if known && last.Host == thisHost() {
		endGroupOf(last.Group, last.GroupStart, last.Boot)
	}
	if mark != "" {
		endMarked(mark)
	}
	forget(dir)
	now := time.Now().UTC().Truncate(time.Second)
	l := &Lease{dir: dir, unlock: unlock, stop: make(chan struct{})}
	l.holder = Holder{Host: thisHost(), PID: os.Getpid(), Start: process.Start(os.Getpid()), Boot: process.Boot(), Since: now, Beat: now}
	if err := l.write(); err != nil {
		unlock()
		return nil, err
	}
	l.wg.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-l.stop:
				return
			case <-tick.C:
				l.write() // the lock says it too
			}
		}
	})
	return l, nil
}

func (l *Lease) write() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Beat = time.Now().UTC().Truncate(time.Second)
	text, err := json.Marshal(l.holder)
	if err != nil {
		return err
	}
	return file.Replace(filepath.Join(l.dir, leaseFile), text, 0o600, false)
}

// Began records the group now at work for the loop, so that a successor of a killed holder can end
// it; 0 means no group.
func (l *Lease) Began(pid int) {
	l.mu.Lock()
	l.holder.Group, l.holder.GroupStart = pid, process.Start(pid)
	l.mu.Unlock()
	l.write()
}

// Release releases the lease.
func (l *Lease) Release() {
	close(l.stop)
	l.wg.Wait()
	os.Remove(filepath.Join(l.dir, leaseFile))
	l.unlock()
}

// Free reports whether no process carries a loop on. It waits out mere probes, so false means that
// a holder carries the loop on or is about to.
func Free(ctx context.Context, repo *git.Repo, name string) bool {
	dir, err := folderOf(repo, name)
	if err != nil {
		return false
	}
	if h, known := readHolder(dir); known && h.elsewhere() {
		return false
	}
	soon, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	unlock, err := file.LockPath(soon, filepath.Join(dir, leaseLock))
	if err != nil {
		return errors.Is(err, os.ErrNotExist) // the lease was never taken here
	}
	unlock()
	return true
}

// Held returns the process that carries a loop on, or nil. It changes nothing.
func Held(ctx context.Context, repo *git.Repo, name string) *Holder {
	dir, err := folderOf(repo, name)
	if err != nil {
		return nil
	}
	h, known := readHolder(dir)
	switch {
	case !known:
		return nil
	case h.elsewhere():
		return &h
	case h.Host != thisHost():
		return nil
	}
	f, err := file.Open(filepath.Join(dir, leaseLock), os.O_RDWR|file.NoFollow, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if free, err := file.Lock(f, false); free || err != nil {
		return nil
	}
	return &h
}

func readHolder(dir string) (Holder, bool) {
	var h Holder
	text, err := file.Read(filepath.Join(dir, leaseFile), 64<<10)
	return h, err == nil && json.Unmarshal(text, &h) == nil
}
