package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/docs"
	"github.com/reverie-memory/reverie/internal/git"
)

// workspace is a clone as one command sees it.
type workspace struct {
	*clone.Clone
	env     *Env
	told    map[string]bool             // notes that are given once
	rewrote map[gitstore.ID]gitstore.ID // commits that a purge of this process replaced, and by which

	narrowed config.Config // the settings that the team's narrowed, once the branch was read
	settings trust.Settings

	strangers withheldOf // whose memories are withheld; see foreign

	says *docs.Tree // what the work tree's documents state; see documents

	index *recall.Index // as it is kept; see openIndex
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
	w := &workspace{Clone: c, env: env, told: map[string]bool{}, narrowed: c.Config}
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
			return false, refusedEntries(err, "origin/"+branch)
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

// restrict narrows the settings by the team's reverie.toml. From then on upkeep follows them too.
func (w *workspace) restrict(ctx context.Context, v *record.View) (config.Config, error) {
	t, err := w.Team(ctx, v)
	w.settings, w.narrowed = t.Trust, t.Config
	return t.Config, err
}

// tolerate tells records that cannot be read, which hide no others, and returns every other error.
func (w *workspace) tolerate(err error) error {
	var bad *record.FormatError
	var rest []error
	var why []string
	for _, e := range split(err) {
		if errors.As(e, &bad) {
			why = append(why, e.Error())
		} else {
			rest = append(rest, e)
		}
	}
	w.tellPassedOver(why)
	return errors.Join(rest...)
}

// split takes joined errors apart.
func split(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range many.Unwrap() {
			all = append(all, split(e)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// pending reads the inbox.
func (w *workspace) pending(v *record.View) ([]record.Operation, error) {
	ops, err := v.Operations()
	return ops, w.tolerate(err)
}

// view runs fn on the newest state after checking the team's settings.
func (w *workspace) view(ctx context.Context, fn func(*record.View) error) error {
	return w.View(ctx, func(v *record.View, t clone.Team) error {
		w.settings, w.narrowed = t.Trust, t.Config
		return fn(v)
	})
}

// update is view for writers. It tells what the making of commits had to say, once.
func (w *workspace) update(ctx context.Context, fn func(*record.Tx, config.Config) error) error {
	notes, err := w.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		w.settings, w.narrowed = t.Trust, t.Config
		return fn(tx, t.Config)
	})
	for _, note := range notes {
		if !w.told[note] {
			w.told[note] = true
			w.env.Say("%s", note)
		}
	}
	return err
}
