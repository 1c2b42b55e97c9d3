package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/job"
)

// Times that an uninstall waits for a job to end by itself, and for a killed one to be gone.
const (
	jobGrace = 5 * time.Second
	jobDeath = 10 * time.Second
)

// quiesce keeps every background job and every writer out of a clone until release is called. It
// kills a job that does not end by itself, and waits for writers.
func quiesce(ctx context.Context, c *clone.Clone, report func(Note)) (release func(), err error) {
	var unlocks []func()
	release = func() {
		for _, unlock := range unlocks {
			unlock()
		}
		unlocks = nil
	}
	if info, err := os.Lstat(c.State); err != nil || !info.IsDir() {
		return release, nil
	}
	for _, kind := range job.Kinds {
		lock, err := lockJob(ctx, c.State, kind, report)
		if err != nil {
			release()
			return release, err
		}
		unlocks = append(unlocks, func() { lock.Close() })
	}
	for _, take := range []func(context.Context) (func(), error){c.Repo.State().LockSync, c.Repo.State().Lock} {
		unlock, err := take(ctx)
		if err != nil {
			release()
			return release, fmt.Errorf("uninstall: nothing was removed: %w", err)
		}
		unlocks = append(unlocks, unlock)
	}
	return release, nil
}

// lockJob takes the lock of a kind of job, once its holder has ended or was killed.
func lockJob(ctx context.Context, state string, kind job.Kind, report func(Note)) (*os.File, error) {
	wait := func(d time.Duration) (*os.File, error) {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		return job.Lock(ctx, state, kind)
	}
	lock, err := wait(jobGrace)
	if lock != nil || err != nil {
		return lock, err
	}
	if at := job.ReadStatus(state, kind); at != nil {
		report(Ending{string(kind), at.PID})
		job.Kill(at.PID)
	}
	if lock, err = wait(jobDeath); lock != nil || err != nil {
		return lock, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, exit.New(exit.Failed, fmt.Errorf("uninstall: nothing was removed: a %s is at work in this clone", kind), "'reverie status' says which; try again when it has ended")
}

// removedSuffix follows the name of a state folder that is about to be removed.
const removedSuffix = ".removed-"

// stateFolders returns the state folder, and the remains of it that killed uninstalls left.
func stateFolders(state string) []string {
	left, _ := filepath.Glob(file.Literal(state+removedSuffix) + "*")
	if _, err := os.Lstat(state); err == nil {
		return append([]string{state}, left...)
	}
	return left
}

// removeState renames the state folder and then removes it, so that a hook finds all of it or
// nothing. It also removes a folder that a running writer makes meanwhile. release releases the
// locks in it.
func removeState(state string, release func()) error {
	if os.PathSeparator == '\\' {
		release() // Windows does not move a folder in which a file is open
	}
	for n := range 10 {
		away := fmt.Sprintf("%s%s%d-%d", state, removedSuffix, os.Getpid(), n)
		if err := os.Rename(state, away); errors.Is(err, os.ErrNotExist) {
			break
		} else if err != nil {
			return fmt.Errorf("remove %s: %w", state, err)
		}
	}
	release()
	for _, dir := range stateFolders(state) {
		if dir == state {
			continue // made again: Reverie is in use
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove %s: %w", dir, err)
		}
	}
	return nil
}
