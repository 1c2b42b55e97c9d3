package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/urfave/cli/v2"
)

// The worker is a process of its own that a hook leaves behind: it takes what waits in the spool into sessions and, where it is
// due, learns from them. There is at most one in a repository, it ends by itself, and nobody waits for it.

const (
	workerTime = 10 * time.Minute // that one worker may live
	workerLock = "worker.lock"
	workerFile = "worker.json"
	workerCall = "worker.call" // is there while somebody wants the worker to look again
)

// workerCommand is not in the help: hooks start it.
func workerCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:   "worker",
		Usage:  "take what waits in the spool into sessions, and learn from them where it is due",
		Hidden: true,
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("hooks start it by themselves", "worker takes no arguments")
			}
			return runWorker(c.Context, env)
		},
	}
}

// working is what a worker tells about itself.
type working struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Until   time.Time `json:"until"` // it is ended then
	Doing   string    `json:"doing"`
}

func runWorker(ctx context.Context, env *Env) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(w.state); err != nil || !info.IsDir() {
		return nil // taken out of this clone since the hook called
	}
	beNice()
	env.background = true
	defer time.AfterFunc(workerTime+10*time.Second, func() { os.Exit(exitFailed) }).Stop()
	ctx, cancel := context.WithTimeout(ctx, workerTime)
	defer cancel()
	for w.called() {
		lock, err := takeWorkerLock(w.state)
		if lock == nil || err != nil {
			return err // the other one looks again before it ends
		}
		err = w.work(ctx)
		lock.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// work does what is to be done until nobody calls any more.
func (w *workspace) work(ctx context.Context) error {
	defer os.Remove(filepath.Join(w.state, workerFile))
	started := w.env.Now()
	doing := func(what string) error {
		text, err := json.Marshal(working{os.Getpid(), started, started.Add(workerTime), what})
		if err != nil {
			return err
		}
		return w.repo.WriteState(workerFile, text, false)
	}
	for w.called() {
		w.code, w.other = nil, nil // the code may be at another commit than the last time
		if err := os.Remove(filepath.Join(w.state, workerCall)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := doing("fold"); err != nil {
			return err
		}
		live, err := w.fold(ctx)
		if err != nil {
			w.env.warn("%v", err) // the others are folded
		}
		if os.Remove(filepath.Join(w.state, codeMoved)) == nil {
			if err := doing("land"); err != nil {
				return err
			}
			w.landAll(ctx)
		}
		if err := doing("learn"); err != nil {
			return err
		}
		if err := w.learnInBackground(ctx, live); err != nil {
			return err
		}
		if err := doing("read"); err != nil {
			return err
		}
		if err := w.askInBackground(ctx, live); err != nil {
			w.env.warn("%v", err) // what the detectors found stands
		}
		w.tidy(ctx)
		w.claimAgents(ctx) // who called us may be an agent that was installed from another clone
		if err := doing("prepare"); err != nil {
			return err
		}
		w.prepare(ctx)
		if w.called() || w.config.Model.Embed == config.Off {
			continue
		}
		if err := doing("embed"); err != nil {
			return err
		}
		if _, _, err := w.fillVectors(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, gitstore.ErrNoStore) {
			w.env.warn("vectors: %v", err)
		}
	}
	return nil
}

// prepare has the blocks ready that the next sessions of the agents heard of here begin with. That it failed costs the next one
// some time.
func (w *workspace) prepare(ctx context.Context) {
	w.code, w.other = nil, nil
	for _, agent := range hooks.Agents {
		if _, err := os.Lstat(filepath.Join(w.state, seenDir, agent.Name)); err != nil {
			continue
		}
		r := contextRequest{For: forStart, Agent: agent.Name, Dir: w.repo.WorkTree}
		if _, err := w.context(ctx, r); err != nil && !errors.Is(err, gitstore.ErrNoStore) && ctx.Err() == nil {
			w.env.warn("%v", err)
		}
	}
}

// called reports whether somebody wants the worker to look.
func (w *workspace) called() bool {
	_, err := os.Lstat(filepath.Join(w.state, workerCall))
	return err == nil
}

// learnInBackground learns from sessions that nobody works in any more, where the settings want it.
func (w *workspace) learnInBackground(ctx context.Context, live map[string]bool) error {
	names, err := w.pendingSessions(ctx)
	if err != nil || w.narrowed.Background == "off" { // as far as the team lets it
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return live[name] })
	if len(names) < w.narrowed.Every {
		return nil
	}
	if _, err := w.ensure(ctx); err != nil {
		return err
	}
	_, err = w.learnFrom(ctx, names)
	return err
}

// takeWorkerLock takes the lock that the one worker of a repository holds; nil if another process has it.
func takeWorkerLock(state string) (*os.File, error) {
	f, err := file.Open(filepath.Join(state, workerLock), os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	locked, err := file.Lock(f, false)
	if err != nil || !locked {
		f.Close()
		return nil, err
	}
	os.Remove(filepath.Join(state, workerFile)) // whoever told that it works is dead: we have its lock
	return f, nil
}

// waitWorkerLock waits for the lock until ctx ends; then it is nil.
func waitWorkerLock(ctx context.Context, state string) (*os.File, error) {
	for {
		lock, err := takeWorkerLock(state)
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

// kick calls the worker, and starts one unless one is at work. Who works looks for calls again before it ends and after
// it has given back its lock, so no call is lost.
func kick(repo *git.Repo, state string) error {
	call, err := file.Open(filepath.Join(state, workerCall), os.O_WRONLY|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return fmt.Errorf("call the worker: %w", err)
	}
	call.Close()
	lock, err := takeWorkerLock(state)
	if err != nil {
		return err
	}
	if lock == nil {
		endOverdue(state, time.Now())
		return nil
	}
	lock.Close()
	dir := repo.WorkTree
	if dir == "" {
		dir = repo.CommonDir
	}
	return startWorker(dir, state)
}

// sweepLater starts a worker if an agent, or a worker, that was killed has left something, or a call came while the lock was
// held by who is no worker.
func (w *workspace) sweepLater() {
	if disabled() || !w.called() && w.spool().Due(w.env.Now(), idleAfter) == 0 {
		return
	}
	if err := kick(w.repo, w.state); err != nil && w.env.Verbose {
		w.env.warn("%v", err)
	}
}

// startWorker starts a worker that outlives us: in a session of its own, holding none of our files, with what it has to say
// in the log.
func startWorker(dir, state string) error { return startApart(dir, state, "worker") }

// startApart starts a command of ours as startWorker does.
func startApart(dir, state string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, append([]string{"-q", "-C", dir}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(git.Environ(), depthVariable+"=1")
	cmd.SysProcAttr = apart()
	log, err := openLog(state)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	return cmd.Process.Release()
}

// maxLog is how long the log may become before it is begun anew, in bytes.
const maxLog = 256 << 10

// openLog opens the file that what works in the background writes to. The last one is kept beside it.
func openLog(state string) (*os.File, error) {
	path := filepath.Join(state, "log")
	if info, err := os.Lstat(path); err == nil && info.Size() > maxLog {
		os.Rename(path, path+".old")
	}
	f, err := file.Open(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|file.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

// worker is the process that works now, nil if none does.
func (w *workspace) worker() *working {
	lock, err := takeWorkerLock(w.state)
	if err != nil {
		return nil
	}
	if lock != nil {
		lock.Close()
		return nil
	}
	return endOverdue(w.state, w.env.Now())
}

// endOverdue ends the worker that holds the lock if its time is over, and returns it if it goes on. It ends itself then, unless
// it was stopped or hangs in the kernel.
func endOverdue(state string, now time.Time) *working {
	at := readWorking(state)
	if at != nil && now.After(at.Until.Add(time.Minute)) {
		endGroup(at.PID)
		return nil
	}
	return at
}

// readWorking is what the worker that holds the lock tells about itself, nil if it does not.
func readWorking(state string) *working {
	text, err := file.Read(filepath.Join(state, workerFile), maxStateFile)
	var at working
	if err != nil || json.Unmarshal(text, &at) != nil || at.PID <= 1 {
		return nil
	}
	return &at
}
