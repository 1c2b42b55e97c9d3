// Package worker is a clone's background process, which hooks start. Begin with Worker.Run. It
// drains the spool into sessions, and learns from them when that is due. Then it asks a model, if
// there is one. That takes minutes, during which the next hook may start another worker.
package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Worker works for a clone. All functions must be set.
type Worker struct {
	*reader.Reader
	Learner  func() *learn.Learner
	Ingester *ingest.Ingester

	Tidy   func(context.Context) // does small upkeep
	Guards func(context.Context) // makes the table of guards, and has agents ask where it matches
	Claim  func(context.Context) // takes over hooks of agents that call another installation
	Warn   func(error)           // hears errors that end nothing
	Exit   func()                // ends the process if its work does not end in time
}

// Run works as long as work is requested. It does nothing in a clone that was uninstalled after the
// hook's call.
func (w *Worker) Run(ctx context.Context) error {
	if info, err := os.Lstat(w.State); err != nil || !info.IsDir() {
		return nil
	}
	job.BeNice()
	live := map[string]bool{}
	if err := w.job(ctx, job.Worker, func(ctx context.Context, doing func(string) error) error { return w.learn(ctx, doing, live) }); err != nil {
		return err
	}
	if of := w.Config.Model; of.Reads() == config.Off && of.Dreams() == config.Off && of.Embed == config.Off {
		return nil
	}
	if err := job.Request(w.State, job.Reader); err != nil {
		return err
	}
	return w.job(ctx, job.Reader, func(ctx context.Context, doing func(string) error) error { return w.ask(ctx, doing, live) })
}

// job does a job as often as it is requested.
func (w *Worker) job(ctx context.Context, kind job.Kind, do func(ctx context.Context, doing func(string) error) error) error {
	defer time.AfterFunc(job.Limit+10*time.Second, w.Exit).Stop()
	return job.Job{Kind: kind, Repo: w.Repo, State: w.State, Now: w.Now}.Run(ctx, func(ctx context.Context, doing func(string) error) error {
		w.Code.Reset() // another commit may be checked out since
		return do(ctx, doing)
	})
}

// learn does a turn of learning and the upkeep that follows, and prepares the next sessions. It
// leaves the names of live sessions in live.
func (w *Worker) learn(ctx context.Context, doing func(string) error, live map[string]bool) error {
	w.Documents.Drop() // they may have changed
	now, done, err := w.Learner().Turn(ctx, w.Ingester, doing)
	clear(live)
	maps.Copy(live, now)
	if err != nil || !done {
		return err
	}
	if err := w.Narrow(ctx); err != nil {
		return err
	}
	w.Tidy(ctx)
	w.Claim(ctx)
	if err := doing("prepare"); err != nil {
		return err
	}
	if err := w.RefreshIndex(ctx); err != nil && ctx.Err() == nil && !clone.NoMemory(err) {
		w.Warn(fmt.Errorf("index: %w", err)) // the next search has the work
	}
	w.prepare(ctx)
	w.Guards(ctx)
	return nil
}

// ask has models do the work that takes minutes: read sessions, dream, and embed memories.
func (w *Worker) ask(ctx context.Context, doing func(string) error, live map[string]bool) error {
	if err := doing("read"); err != nil {
		return err
	}
	l := w.Learner()
	if !l.Free(ctx) {
		return nil
	}
	err := l.ReadInBackground(ctx, live)
	switch {
	case ctx.Err() != nil:
		return nil // out of time: the next run continues
	case err != nil:
		w.Warn(err) // the findings of the detectors remain
	}
	if w.Config.Model.Embed == config.Off {
		return nil
	}
	if err := doing("embed"); err != nil {
		return err
	}
	if _, _, err := reader.FillVectors(ctx, w.Reader, func() bool { return job.Requested(w.State, job.Reader) }); err != nil && ctx.Err() == nil && !errors.Is(err, gitstore.ErrNoStore) {
		w.Warn(fmt.Errorf("vectors: %w", err))
	}
	return nil
}

// prepare makes the blocks for the next sessions of the known agents. A failure costs the next
// session some time.
func (w *Worker) prepare(ctx context.Context) {
	w.Code.Reset()
	_ = brief.NoteStated(ctx, w.Reader) // a hook can do without
	for _, agent := range hooks.Agents {
		if _, err := os.Lstat(filepath.Join(w.State, hooks.SeenDir, agent.Name)); err != nil {
			continue
		}
		r := brief.Request{For: brief.Start, Agent: agent.Name, Dir: w.Repo.WorkTree}
		if _, err := brief.Give(ctx, w.Reader, r); err != nil && !errors.Is(err, gitstore.ErrNoStore) && ctx.Err() == nil {
			w.Warn(err)
		}
	}
}

// Wake starts a worker if a killed agent or worker has left work, if a session that was live may
// have ended, or if a hook called while another command held the worker's lock.
func Wake(c *clone.Clone) error {
	if job.Disabled() || !job.Requested(c.State, job.Worker) && !ingest.LookDue(c.State, c.Now()) && c.Spool().Due(c.Now(), ingest.IdleAfter) == 0 {
		return nil
	}
	return job.Wake(c.Repo, c.State)
}
