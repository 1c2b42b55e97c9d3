package learn

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/learn/dreams"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect"
)

// MovedFile is a file in the state folder by which git's hooks ask the worker to land memories.
const MovedFile = "worker.moved"

// Turn is one turn of the worker: it drains the spool, lands memories and looks into the agents'
// stores if git's hooks asked for that, and learns from what is pending. live holds the sessions
// from which nothing is learned yet. If git is collecting garbage, done is false and the next turn
// goes on. doing reports the current step.
func (l *Learner) Turn(ctx context.Context, spool *ingest.Ingester, doing func(step string) error) (live map[string]bool, done bool, err error) {
	if err := doing("fold"); err != nil {
		return nil, false, err
	}
	live, err = spool.Drain(ctx)
	if err != nil {
		l.Note(inbox.Doubt{Err: err}) // the other sessions are drained
	}
	if os.Remove(filepath.Join(l.State, MovedFile)) == nil {
		if err := doing("land"); err != nil {
			return live, false, err
		}
		l.Land(ctx)
	}
	if ingest.LookDue(l.State, l.Now()) {
		if err := doing("look"); err != nil {
			return live, false, err
		}
		if err := look(ctx, l, spool, live); err != nil {
			l.Note(inbox.Doubt{Err: err}) // a later look repeats it
		}
	}
	if !l.Free(ctx) {
		return live, false, nil
	}
	if err := doing("learn"); err != nil {
		return live, false, err
	}
	return live, true, l.LearnInBackground(ctx, live)
}

// look takes in sessions of the agents' stores, if the settings allow background work.
func look(ctx context.Context, l *Learner, in *ingest.Ingester, live map[string]bool) error {
	c, err := l.Settings(ctx)
	if err != nil {
		return err
	}
	if c.Background == config.Off {
		ingest.DropLook(l.State)
		return nil
	}
	return in.Look(ctx, live)
}

// Free restores what a git prune took of the last writes, and reports whether no git gc is running.
// Background work leaves the rest to its next turn while one is.
func (l *Learner) Free(ctx context.Context) bool {
	if _, err := l.Repo.Recent().Restore(ctx); err != nil {
		l.Note(inbox.Doubt{Err: err})
	}
	return l.Repo.Upkeep().AwaitCollection(ctx)
}

// LearnInBackground learns from sessions that are not live, if enough are pending and the settings
// allow it.
func (l *Learner) LearnInBackground(ctx context.Context, live map[string]bool) error {
	names, err := l.Pending(ctx)
	if err != nil {
		return err
	}
	c, err := l.Settings(ctx)
	if err != nil || c.Background == config.Off {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return live[name] })
	if len(names) < c.Every {
		return nil
	}
	if err := l.Create(ctx); err != nil {
		return err
	}
	_, err = l.Learn(ctx, names)
	return err
}

// ReadInBackground has the model of the settings read the sessions that no model read, and dream if
// that is due. It looks for the model only if there is something to ask.
func (l *Learner) ReadInBackground(ctx context.Context, live map[string]bool) error {
	c, err := l.Settings(ctx)
	if err != nil || c.Background == config.Off {
		return err
	}
	var names []string
	if c.Model.Reads() != config.Off {
		if names, err = l.Unread(ctx, nil, prompts.Set{}); err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return live[name] })
	}
	due, err := dreamDue(ctx, l, c.Model)
	if err != nil || len(names) == 0 && !due {
		return err
	}
	if spent := Budget(l.Clone, c.Model).Spent(); spent != nil {
		return l.noteSpent(ctx, spent)
	}
	if len(names) > 0 {
		left, err := readPending(ctx, l, names)
		if err != nil || left {
			return err
		}
		if due, err = dreamDue(ctx, l, c.Model); err != nil {
			return err
		}
	}
	if !due {
		return nil
	}
	return l.considerInBackground(ctx)
}

// dreamDue reports whether a dream with the settings' model is due.
func dreamDue(ctx context.Context, l *Learner, of config.Model) (bool, error) {
	name := of.Dreams()
	if name == config.Off {
		return false, nil
	}
	due, _, err := l.Due(ctx, &prompts.Model{Client: config.Agent(name)})
	if clone.NoMemory(err) {
		return false, nil
	}
	return due, err
}

// readPending has the settings' model read sessions, and dreams by code. left reports that some
// remain.
func readPending(ctx context.Context, l *Learner, names []string) (left bool, err error) {
	m, set, err := l.Model(ctx, model.Reflect, "")
	if m == nil || err != nil {
		return false, err
	}
	if err := l.Create(ctx); err != nil {
		return false, err
	}
	purges := purge.Mark(l.State)
	p := Pass{Learner: l, Model: m, Set: set, Keep: func(got reflect.Reading) error { return l.KeepReading(ctx, got, purges) }}
	all, err := p.Over(ctx, names)
	if all.Read > 0 && err == nil {
		err = l.DreamAndAccept(ctx, &Result{})
	}
	return all.Left > 0, err
}

// considerInBackground dreams with a model. If the model gave nothing usable about the same
// reflections before, it is not asked until there are others.
func (l *Learner) considerInBackground(ctx context.Context) error {
	m, set, err := l.Model(ctx, model.Dream, "")
	if m == nil || err != nil {
		return err
	}
	about, err := l.ToConsider(ctx, m.Client)
	unusable := openUnusable(l.State, dreamsFile, m)
	if err != nil || unusable.enough(about) {
		return err
	}
	_, err = l.Consider(ctx, m, set, dreams.SessionFilter{})
	switch {
	case errors.Is(err, door.ErrSpent):
		return l.noteSpent(ctx, err)
	case err != nil && ctx.Err() == nil:
		return errors.Join(err, unusable.add(l, about))
	}
	return err
}
