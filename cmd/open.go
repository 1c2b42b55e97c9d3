package cmd

import (
	"bytes"
	"context"
	"errors"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/reader"
)

// workspace is a clone as one command sees it.
type workspace struct {
	*reader.Reader
	env   *Env
	told  map[string]bool // notes that are given once
	terse bool            // the steps of learning are not told
}

// stage tells a step of learning, if it matters also where steps are not told.
func stage(w *workspace, matters bool, format string, args ...any) {
	if matters || !w.terse {
		w.env.Say(format, args...)
	}
}

// open finds the repository and reads the settings. It writes nothing.
func (env *Env) open(ctx context.Context) (*workspace, error) {
	o := clone.Options{Dir: env.Dir, Own: env.own, Make: env.makes, Now: env.Now, Caller: env.caller, Background: env.background}
	if env.Verbose {
		o.Note = func(err error) { env.Warn("%v", err) }
	}
	c, err := clone.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	w := &workspace{env: env, told: map[string]bool{}}
	w.Reader = reader.New(c, w.tellNote)
	w.Embedder = env.embedder
	env.opened, env.Scanner = w, w.Scanner
	env.Program = func(ctx context.Context) (string, error) {
		name, _, err := w.Repo.Config().Program(ctx, "GIT_PAGER")
		return name, err
	}
	return w, nil
}

// openToDecide is open for a command by which only a person decides.
func (env *Env) openToDecide(ctx context.Context, command string, ids ...string) (*workspace, error) {
	w, err := env.openWith(ctx, ids...)
	if err == nil {
		err = w.WantPerson(command)
	}
	if err == nil {
		err = clone.CheckFormat(ctx, w.Clone)
	}
	return w, err
}

// tellNote words what a reader notes.
func (w *workspace) tellNote(n reader.Note) {
	switch n.About {
	case reader.Doubted:
		w.env.Warn("%v; all unapproved memories are withheld", n.Err)
	case reader.Unindexed:
		if w.env.Verbose && !w.told[n.Err.Error()] {
			w.told[n.Err.Error()] = true
			w.env.Warn("%v; the next search indexes it again", n.Err)
		}
	case reader.Unreadable:
		w.tellPassedOver(n.Files)
	case reader.Unrecorded:
		w.env.Warn("%v", n.Err)
	case reader.Committed:
		w.tellCommitted(n.Text)
	case reader.OwnFaulty:
		if !w.env.hook || !errors.Is(n.Err, config.ErrNewer) { // else it would be told at every prompt
			w.env.Warn("your own memory was left out: %v", n.Err)
		}
	case reader.Passed:
		w.env.Warn("passed over: %v", n.Err)
	case reader.Unplaced:
		if w.env.Verbose {
			w.env.Warn("%v", n.Err)
		}
	}
}

// tellCommitted prints git's notes on commits, each once.
func (w *workspace) tellCommitted(notes ...string) {
	for _, note := range notes {
		if note != "" && !w.told[note] {
			w.told[note] = true
			w.env.Say("%s", note)
		}
	}
}

// hasRemote reports whether the repository has a remote to sync with.
func (env *Env) hasRemote(ctx context.Context) bool {
	repo, err := git.Find(ctx, env.Dir)
	if err != nil {
		return false
	}
	names, err := repo.Git(ctx, nil, "remote")
	return err == nil && len(bytes.TrimSpace(names)) > 0
}

// with opens the repository for a command.
func (env *Env) with(ctx context.Context, run func(w *workspace) error) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	return run(w)
}

// paged is with for a command whose output may be long.
func (env *Env) paged(ctx context.Context, run func(w *workspace) error) error {
	return env.Paged(ctx, func() error { return env.with(ctx, run) })
}
