package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/reader"
)

// workspace is a clone as one command sees it.
type workspace struct {
	*reader.Reader
	env  *Env
	told map[string]bool // notes that are given once
}

// open finds the repository and reads the settings. It writes nothing.
func (env *Env) open(ctx context.Context) (*workspace, error) {
	o := clone.Options{Dir: env.Dir, Now: env.Now, Caller: env.caller, Background: env.background}
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
		name, _, err := w.Repo.Program(ctx, "GIT_PAGER")
		return name, err
	}
	return w, nil
}

// ensure makes the store if it is not there: from origin's branch where there is one, else
// anew. It reports whether it made it.
func (w *workspace) ensure(ctx context.Context) (created bool, err error) {
	if _, err = w.Memory.Tip(ctx); !errors.Is(err, gitstore.ErrNoStore) {
		return false, err
	}
	if branch, ok := strings.CutPrefix(w.Config.Ref, "refs/heads/"); ok {
		origin := "refs/remotes/origin/" + branch
		_, err := w.Memory.Adopt(ctx, origin)
		switch {
		case err == nil:
			w.env.Say("adopted origin/%s as %s", branch, branch)
			w.claimAgents(ctx)
			return true, w.tellForeign(ctx)
		case errors.Is(err, gitstore.ErrExists): // another process was first
			return false, nil
		}
		if !errors.Is(err, git.ErrNoRef) {
			return false, share.RefusedEntries(err, "origin/"+branch)
		}
	}
	err = w.Book.Create(ctx, firstFiles())
	if errors.Is(err, gitstore.ErrExists) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w.env.Say("started a memory on the branch %s; your own branches and files are untouched", w.Branch())
	w.claimAgents(ctx)
	return true, nil
}

// tellNote words what a reader notes.
func (w *workspace) tellNote(n reader.Note) {
	switch n.About {
	case reader.Doubted:
		w.env.Warn("%v; all that nobody approved is withheld", n.Err)
	case reader.Unindexed:
		if w.env.Verbose && !w.told[n.Err.Error()] {
			w.told[n.Err.Error()] = true
			w.env.Warn("%v; whoever searches next indexes the same again", n.Err)
		}
	case reader.Unreadable:
		w.tellPassedOver(n.Files)
	case reader.Unrecorded:
		w.env.Warn("%v", n.Err)
	case reader.Unplaced:
		if w.env.Verbose {
			w.env.Warn("%v", n.Err)
		}
	}
}

// pending reads the inbox.
func (w *workspace) pending(v *record.View) ([]record.Operation, error) {
	ops, err := v.Operations()
	return ops, w.Tolerate(err)
}

// view is View, for what has not moved out of cmd yet.
func (w *workspace) view(ctx context.Context, fn func(*record.View) error) error {
	return w.View(ctx, fn)
}

// update is View for writers. It tells the notes of git about the commits, each once.
func (w *workspace) update(ctx context.Context, fn func(*record.Tx, config.Config) error) error {
	notes, err := w.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		w.Settings = t
		return fn(tx, t.Config)
	})
	w.tellCommitted(notes...)
	return err
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
