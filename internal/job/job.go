// Package job runs a repository's background work: at most one process of each kind at a time.
// Begin with Wake, which a hook calls, and Job.Run, which the started process calls. A caller
// leaves a request and tries the lock. The holder looks for requests before it ends and after it
// releases the lock, so no request is lost.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// Kind names a job. Its files in the state folder begin with the name.
type Kind string

const (
	Worker Kind = "worker" // drains the spool and learns
	Reader Kind = "reader" // asks models, which takes minutes
)

// Kinds lists the jobs in the order in which one process does them.
var Kinds = []Kind{Worker, Reader}

func (k Kind) lock() string    { return string(k) + ".lock" }
func (k Kind) request() string { return string(k) + ".call" } // exists while work is wanted

// StatusFile names the file in which the running process describes itself.
func (k Kind) StatusFile() string { return string(k) + ".json" }

// Probe bounds how long a prober may hold the lock. A lock held longer belongs to a running job.
const Probe = 300 * time.Millisecond

// Limit bounds how long one job may run.
const Limit = 10 * time.Minute

// Status describes a running job.
type Status struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Until   time.Time `json:"until"` // when it is killed
	Doing   string    `json:"doing"`
}

// Job runs work of one kind in a repository.
type Job struct {
	Kind  Kind
	Repo  *git.Repo
	State string // state folder
	Now   func() time.Time
}

// Run calls do as long as work is requested, unless another process runs the job. do reports its
// current step through doing.
func (j Job) Run(ctx context.Context, do func(ctx context.Context, doing func(string) error) error) error {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	started := j.Now()
	doing := func(step string) error {
		text, err := json.Marshal(Status{os.Getpid(), started, started.Add(Limit), step})
		if err != nil {
			return err
		}
		return j.Repo.State().Write(j.Kind.StatusFile(), text, false)
	}
	for Requested(j.State, j.Kind) {
		goOn, err := j.turn(ctx, func(ctx context.Context) error { return do(ctx, doing) })
		if !goOn || err != nil {
			return err
		}
	}
	return nil
}

// turn takes the lock and works until no request is left. It reports whether to look again.
func (j Job) turn(ctx context.Context, do func(context.Context) error) (goOn bool, err error) {
	soon, cancel := context.WithTimeout(ctx, Probe)
	defer cancel()
	lock, err := Lock(soon, j.State, j.Kind)
	if lock == nil || err != nil {
		endOverdue(j.State, j.Kind, j.Now())
		return false, err
	}
	defer lock.Close()
	defer os.Remove(filepath.Join(j.State, j.Kind.StatusFile()))
	for Requested(j.State, j.Kind) && ctx.Err() == nil {
		if err := os.Remove(filepath.Join(j.State, j.Kind.request())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		if err := do(ctx); err != nil {
			return false, err
		}
	}
	return ctx.Err() == nil, nil
}

// Requested reports whether work is wanted.
func Requested(state string, k Kind) bool {
	_, err := os.Lstat(filepath.Join(state, k.request()))
	return err == nil
}

// Request notes that work is wanted. It starts nothing; see Wake.
func Request(state string, k Kind) error {
	f, err := file.Open(filepath.Join(state, k.request()), os.O_WRONLY|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return fmt.Errorf("call the %s: %w", k, err)
	}
	return f.Close()
}

// TryLock takes the lock of a job. It returns nil if another process holds it.
func TryLock(state string, k Kind) (*os.File, error) {
	f, err := file.Open(filepath.Join(state, k.lock()), os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k, err)
	}
	locked, err := file.Lock(f, false)
	if err != nil || !locked {
		f.Close()
		return nil, err
	}
	os.Remove(filepath.Join(state, k.StatusFile())) // its writer is dead: we have its lock
	return f, nil
}

// Lock waits for the lock of a job until ctx ends. Then it returns nil.
func Lock(ctx context.Context, state string, k Kind) (*os.File, error) {
	for {
		lock, err := TryLock(state, k)
		if lock != nil || err != nil {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Settle waits until no job of a clone is running or requested. The error names the first that is,
// and wraps ctx's.
func Settle(ctx context.Context, state string) error {
	for _, k := range Kinds { // the one becomes the other
		for {
			done, err := idle(state, k)
			if err != nil {
				return err
			}
			if done {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the background %s has not ended: %w", k, ctx.Err())
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	return nil
}

func idle(state string, k Kind) (bool, error) {
	if Requested(state, k) { // a process that begins needs the lock
		return false, nil
	}
	lock, err := TryLock(state, k)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	if lock == nil {
		return false, err
	}
	return true, lock.Close()
}

// Running describes the process that runs a job, or returns nil.
func Running(state string, k Kind, now time.Time) *Status {
	lock, err := TryLock(state, k)
	if err != nil {
		return nil
	}
	if lock != nil {
		lock.Close()
		return nil
	}
	return endOverdue(state, k, now)
}

// endOverdue kills the holder of a job's lock if its time is over, and otherwise describes it. A
// job ends itself in time unless it was stopped or hangs in the kernel.
func endOverdue(state string, k Kind, now time.Time) *Status {
	s := ReadStatus(state, k)
	if s != nil && now.After(s.Until.Add(time.Minute)) {
		Kill(s.PID)
		return nil
	}
	return s
}

// ReadStatus reads how a running job describes itself. It returns nil if there is no description.
func ReadStatus(state string, k Kind) *Status {
	text, err := file.Read(filepath.Join(state, k.StatusFile()), file.MaxState)
	var s Status
	if err != nil || json.Unmarshal(text, &s) != nil || s.PID <= 1 {
		return nil
	}
	return &s
}
