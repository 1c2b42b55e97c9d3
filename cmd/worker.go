package cmd

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

// A hook starts the worker. It drains the spool into sessions and learns from them when that is due. Then it becomes the
// reader if there is a model to ask. Reading takes minutes, and the next hook may start another worker meanwhile.

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

func runWorker(ctx context.Context, env *Env) error {
	env.toBackground()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(w.State); err != nil || !info.IsDir() {
		return nil // taken out of this clone since the hook called
	}
	job.BeNice()
	live := map[string]bool{}
	if err := w.runJob(ctx, job.Worker, func(ctx context.Context, doing func(string) error) error { return w.work(ctx, doing, live) }); err != nil {
		return err
	}
	if w.Config.Model.Name == config.Off && w.Config.Model.Embed == config.Off {
		return nil
	}
	if err := job.Request(w.State, job.Reader); err != nil {
		return err
	}
	return w.runJob(ctx, job.Reader, func(ctx context.Context, doing func(string) error) error { return w.read(ctx, doing, live) })
}

// runJob does a job as often as it is requested. It ends the process if the job does not end in time.
func (w *workspace) runJob(ctx context.Context, kind job.Kind, do func(ctx context.Context, doing func(string) error) error) error {
	defer time.AfterFunc(job.Limit+10*time.Second, func() { os.Exit(exit.Failed) }).Stop()
	return job.Job{Kind: kind, Repo: w.Repo, State: w.State, Now: w.env.Now}.Run(ctx, func(ctx context.Context, doing func(string) error) error {
		w.Code.Reset() // another commit may be checked out than the last time
		return do(ctx, doing)
	})
}

// work does a turn of the worker and the upkeep that follows, and prepares the next sessions. It
// leaves the names of live sessions in live.
func (w *workspace) work(ctx context.Context, doing func(string) error, live map[string]bool) error {
	w.Documents.Drop() // they may have changed
	now, done, err := w.learner().Turn(ctx, w.ingester(), doing)
	clear(live)
	maps.Copy(live, now)
	if err != nil || !done {
		return err
	}
	if err := w.Narrow(ctx); err != nil {
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

// read has models do what takes minutes: read sessions, say what follows, make vectors.
func (w *workspace) read(ctx context.Context, doing func(string) error, live map[string]bool) error {
	if err := doing("read"); err != nil {
		return err
	}
	l := w.learner()
	if !l.Free(ctx) {
		return nil
	}
	err := l.ReadInBackground(ctx, live)
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
	if _, _, err := reader.FillVectors(ctx, w.Reader, func() bool { return job.Requested(w.State, job.Reader) }); err != nil && ctx.Err() == nil && !errors.Is(err, gitstore.ErrNoStore) {
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

// sweepLater starts a worker if an agent, or a worker, that was killed has left something, or a call came while the lock was
// held by who is no worker.
func (w *workspace) sweepLater() {
	if job.Disabled() || !job.Requested(w.State, job.Worker) && w.Spool().Due(w.env.Now(), ingest.IdleAfter) == 0 {
		return
	}
	if err := job.Wake(w.Repo, w.State); err != nil && w.env.Verbose {
		w.env.Warn("%v", err)
	}
}
