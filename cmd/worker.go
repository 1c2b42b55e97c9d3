package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

// The worker is a process of its own that a hook leaves behind: it takes what waits in the spool into sessions and, where it is
// due, learns from them. There is at most one in a repository, it ends by itself, and nobody waits for it. When it is done it
// becomes the reader, if there is a model to ask: that takes minutes, in which the next hook finds no worker and leaves another.

// glance is how long whoever only looks whether somebody is at a station may hold its lock: one that is held longer is that of
// somebody at work.
const glance = 300 * time.Millisecond

// workerTime is how long one worker may work, and after that read.
const workerTime = 10 * time.Minute

// station is what at most one process of a repository does at a time.
type station string

const (
	theWorker station = "worker"
	theReader station = "reader"
)

func (s station) lock() string { return string(s) + ".lock" }
func (s station) file() string { return string(s) + ".json" } // what the process tells about itself
func (s station) call() string { return string(s) + ".call" } // is there while somebody wants it to look again

// workerCommand is not in the help: hooks start it.
func workerCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:   "worker",
		Usage:  "learn from spooled events in the background",
		Hidden: true,
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return exit.Usage("hooks start it by themselves", "worker takes no arguments")
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
	env.toBackground()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(w.State); err != nil || !info.IsDir() {
		return nil // taken out of this clone since the hook called
	}
	beNice()
	live := map[string]bool{}
	if err := w.man(ctx, theWorker, func(ctx context.Context, doing func(string) error) error { return w.work(ctx, doing, live) }); err != nil {
		return err
	}
	if w.Config.Model.Name == config.Off && w.Config.Model.Embed == config.Off {
		return nil
	}
	if err := call(w.State, theReader); err != nil {
		return err
	}
	return w.man(ctx, theReader, func(ctx context.Context, doing func(string) error) error { return w.read(ctx, doing, live) })
}

// man does what a station is for, as often as it is called, unless another process is at it: that one looks again before it
// ends and after it has given back its lock, so no call is lost. do tells by doing what it is at.
func (w *workspace) man(ctx context.Context, s station, do func(ctx context.Context, doing func(string) error) error) error {
	defer time.AfterFunc(workerTime+10*time.Second, func() { os.Exit(exit.Failed) }).Stop()
	ctx, cancel := context.WithTimeout(ctx, workerTime)
	defer cancel()
	started := w.env.Now()
	doing := func(what string) error {
		text, err := json.Marshal(working{os.Getpid(), started, started.Add(workerTime), what})
		if err != nil {
			return err
		}
		return w.Repo.WriteState(s.file(), text, false)
	}
	turn := func() (goOn bool, err error) {
		soon, cancel := context.WithTimeout(ctx, glance)
		defer cancel()
		lock, err := waitStation(soon, w.State, s)
		if lock == nil || err != nil {
			endOverdue(w.State, s, w.env.Now())
			return false, err
		}
		defer lock.Close()
		defer os.Remove(filepath.Join(w.State, s.file()))
		for w.called(s) && ctx.Err() == nil {
			w.Code.Reset() // the code may be at another commit than the last time
			if err := os.Remove(filepath.Join(w.State, s.call())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return false, err
			}
			if err := do(ctx, doing); err != nil {
				return false, err
			}
		}
		return ctx.Err() == nil, nil
	}
	for w.called(s) {
		if goOn, err := turn(); !goOn || err != nil {
			return err
		}
	}
	return nil
}

// work takes in what waits and learns from what is due. It leaves in live the sessions that somebody is in.
func (w *workspace) work(ctx context.Context, doing func(string) error, live map[string]bool) error {
	if err := doing("fold"); err != nil {
		return err
	}
	now, err := w.fold(ctx)
	if err != nil {
		w.env.Warn("%v", err) // the others are folded
	}
	clear(live)
	maps.Copy(live, now)
	w.Documents.Drop() // they may have changed
	if os.Remove(filepath.Join(w.State, codeMoved)) == nil {
		if err := doing("land"); err != nil {
			return err
		}
		w.landAll(ctx)
	}
	if !w.free(ctx) {
		return nil
	}
	if err := doing("learn"); err != nil {
		return err
	}
	if err := w.learnInBackground(ctx, live); err != nil {
		return err
	}
	w.tidy(ctx)
	w.claimAgents(ctx) // who called us may be an agent that was installed from another clone
	if err := doing("prepare"); err != nil {
		return err
	}
	if err := w.RefreshIndex(ctx); err != nil && ctx.Err() == nil && !clone.NoMemory(err) {
		w.env.Warn("index: %v", err) // whoever searches next has the work
	}
	w.prepare(ctx)
	return nil
}

// free restores what a git prune took of the last writes, and reports whether no git gc is at work. While one is, what
// the worker has to do waits for the next one.
func (w *workspace) free(ctx context.Context) bool {
	if _, err := w.Repo.RestoreRecent(ctx); err != nil {
		w.env.Warn("%v", err)
	}
	return w.Repo.AwaitCollection(ctx)
}

// read has models do what takes minutes: read sessions, say what follows, make vectors.
func (w *workspace) read(ctx context.Context, doing func(string) error, live map[string]bool) error {
	if err := doing("read"); err != nil {
		return err
	}
	if !w.free(ctx) {
		return nil
	}
	err := w.askInBackground(ctx, live)
	switch {
	case ctx.Err() != nil:
		return nil // its time is over: the next one goes on
	case err != nil:
		w.env.Warn("%v", err) // what the detectors found stands
	}
	if w.Config.Model.Embed == config.Off {
		return nil
	}
	if err := doing("embed"); err != nil {
		return err
	}
	if _, _, err := reader.FillVectors(ctx, w.Reader, func() bool { return w.called(theReader) }); err != nil && ctx.Err() == nil && !errors.Is(err, gitstore.ErrNoStore) {
		w.env.Warn("vectors: %v", err)
	}
	return nil
}

// prepare has the blocks ready that the next sessions of the agents heard of here begin with. That it failed costs the next one
// some time.
func (w *workspace) prepare(ctx context.Context) {
	w.Code.Reset()
	w.noteStated(ctx)
	for _, agent := range hooks.Agents {
		if _, err := os.Lstat(filepath.Join(w.State, seenDir, agent.Name)); err != nil {
			continue
		}
		r := brief.Request{For: brief.Start, Agent: agent.Name, Dir: w.Repo.WorkTree}
		if _, err := w.context(ctx, r); err != nil && !errors.Is(err, gitstore.ErrNoStore) && ctx.Err() == nil {
			w.env.Warn("%v", err)
		}
	}
}

// called reports whether somebody wants a station to be manned.
func (w *workspace) called(s station) bool {
	_, err := os.Lstat(filepath.Join(w.State, s.call()))
	return err == nil
}

// call wants a station to be manned.
func call(state string, s station) error {
	f, err := file.Open(filepath.Join(state, s.call()), os.O_WRONLY|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return fmt.Errorf("call the %s: %w", s, err)
	}
	return f.Close()
}

// learnInBackground learns from sessions that nobody works in any more, where the settings want it.
func (w *workspace) learnInBackground(ctx context.Context, live map[string]bool) error {
	names, err := w.pendingSessions(ctx)
	if err != nil || w.Settings.Config.Background == "off" { // as far as the team lets it
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return live[name] })
	if len(names) < w.Settings.Config.Every {
		return nil
	}
	if _, err := w.ensure(ctx); err != nil {
		return err
	}
	_, err = w.learnFrom(ctx, names)
	return err
}

// takeStation takes the lock that the one process at a station holds; nil if another process has it.
func takeStation(state string, s station) (*os.File, error) {
	f, err := file.Open(filepath.Join(state, s.lock()), os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	locked, err := file.Lock(f, false)
	if err != nil || !locked {
		f.Close()
		return nil, err
	}
	os.Remove(filepath.Join(state, s.file())) // whoever told that it works is dead: we have its lock
	return f, nil
}

// waitStation waits for the lock of a station until ctx ends; then it is nil.
func waitStation(ctx context.Context, state string, s station) (*os.File, error) {
	for {
		lock, err := takeStation(state, s)
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
	if err := call(state, theWorker); err != nil {
		return err
	}
	lock, err := takeStation(state, theWorker)
	if err != nil {
		return err
	}
	if lock == nil {
		endOverdue(state, theWorker, time.Now())
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
	if disabled() || !w.called(theWorker) && w.spool().Due(w.env.Now(), idleAfter) == 0 {
		return
	}
	if err := kick(w.Repo, w.State); err != nil && w.env.Verbose {
		w.env.Warn("%v", err)
	}
}

// startWorker starts a worker that outlives us: in a session of its own, holding none of our files, with what it has to say
// in the log.
func startWorker(dir, state string) error { return startApart(dir, state, "worker") }

// startApart starts a command of ours as startWorker does.
func startApart(dir, state string, args ...string) error {
	cmd, err := beginApart(dir, state, args...)
	if err != nil {
		return err
	}
	return cmd.Process.Release()
}

// beginApart is startApart for a caller that wants to know what becomes of the process while both live: it is to be waited for, or released.
func beginApart(dir, state string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{"-q", "-C", dir}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(git.Environ(), func(kv string) bool { return strings.HasPrefix(kv, loopVariable) }), depthVariable+"=1") // a loop ends what bears its marks
	cmd.SysProcAttr = apart()
	log, err := openLog(state)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return cmd, nil
}

// maxLog is how long the log may become before it is begun anew, in bytes.
const maxLog = 256 << 10

// openLog opens the file that what works in the background writes to, and hooks that fail. The last one is kept beside it.
func openLog(state string) (*os.File, error) {
	path := filepath.Join(state, "log")
	if longLog(path) {
		turnLog(path)
	}
	f, err := file.Open(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|file.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

func longLog(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > maxLog
}

// turnLog begins the log anew, unless somebody else does: a second one would put a log of one line in the place of the one before.
func turnLog(path string) {
	lock, err := file.Open(path+".lock", os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return
	}
	defer lock.Close()
	if mine, err := file.Lock(lock, false); err == nil && mine && longLog(path) {
		os.Rename(path, path+".old")
	}
}

// at is the process that is at a station now, nil if none is.
func (w *workspace) at(s station) *working {
	lock, err := takeStation(w.State, s)
	if err != nil {
		return nil
	}
	if lock != nil {
		lock.Close()
		return nil
	}
	return endOverdue(w.State, s, w.env.Now())
}

// endOverdue ends the process that holds a station's lock if its time is over, and returns it if it goes on. It ends itself then,
// unless it was stopped or hangs in the kernel.
func endOverdue(state string, s station, now time.Time) *working {
	at := readWorking(state, s)
	if at != nil && now.After(at.Until.Add(time.Minute)) {
		endGroup(at.PID)
		return nil
	}
	return at
}

// readWorking is what the process at a station tells about itself, nil if it does not.
func readWorking(state string, s station) *working {
	text, err := file.Read(filepath.Join(state, s.file()), file.MaxState)
	var at working
	if err != nil || json.Unmarshal(text, &at) != nil || at.PID <= 1 {
		return nil
	}
	return &at
}
