package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/docs"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
)

// Refs of this clone alone. The memory branch's name is a setting.
const (
	journalRef = "refs/reverie/journal"
	inboxRef   = "refs/reverie/inbox"
)

// workspace is a repository with everything that a command needs of it.
type workspace struct {
	env      *Env
	repo     *git.Repo
	local    *git.Repo     // the same, for reading code: nothing is fetched
	state    string        // <common git dir>/reverie; may not exist yet
	config   config.Config // the user's
	narrowed config.Config // by the team, once the branch was read
	memory   *gitstore.Store
	book     *record.Book
	scanner  *redact.Scanner
	told     map[string]bool             // notes that are given once
	rewrote  map[gitstore.ID]gitstore.ID // commits that a purge of this process replaced, and by which
	sessions reflect.Sessions
	code     *anchor.Code

	judge     *trust.Judge
	strangers withheldOf // whose memories are withheld; see foreign
	settings  trust.Settings

	says *docs.Tree // what the work tree's documents state; see documents

	index *recall.Index // as it is kept; see openIndex
	mark  string        // of the purges before the view that is open; see keepDerived
}

// open finds the repository and reads the settings. It writes nothing.
func (env *Env) open(ctx context.Context) (*workspace, error) {
	repo, err := git.FindCached(ctx, env.Dir)
	if err != nil {
		return nil, err
	}
	w := &workspace{env: env, repo: repo, local: repo.Offline(), told: map[string]bool{}, state: filepath.Join(repo.CommonDir, "reverie")}
	if w.config, err = config.Load(config.UserFile(), cloneFile(w.state)); err != nil {
		return nil, err
	}
	w.narrowed = w.config
	w.scanner = redact.New(someSecrets(ctx, w.repo)...)
	w.memory = gitstore.Open(repo, w.config.Ref)
	stores := record.Stores{Memory: w.memory, Journal: gitstore.Open(repo, journalRef), Inbox: gitstore.Open(repo, inboxRef)}
	if branch, ok := strings.CutPrefix(w.config.Ref, "refs/heads/"); ok {
		stores.Fallback = gitstore.Open(repo, "refs/remotes/origin/"+branch)
	}
	w.book = record.Open(stores, w.state, w.scanner)
	w.judge = &trust.Judge{State: w.state, Memory: w.memory, Fallback: stores.Fallback, Journal: stores.Journal, Keep: w.keepDerived}
	w.code = &anchor.Code{Repo: w.local, State: w.state, Main: w.config.Main, Memories: w.config.Ref, Book: w.book}
	if env.Verbose {
		w.code.Note = func(err error) { env.Warn("%v", err) }
	}
	w.sessions = reflect.Sessions{Dir: filepath.Join(w.state, "sessions"), Scanner: w.scanner, Command: w.openCodeCommand()}
	env.opened, env.Scanner = w, w.scanner
	env.Program = func(ctx context.Context) (string, error) {
		name, _, err := repo.Program(ctx, "GIT_PAGER")
		return name, err
	}
	return w, nil
}

// cloneFile is the settings file of a clone, in its state folder.
func cloneFile(state string) string { return filepath.Join(state, "config.toml") }

// branch is the memory branch's name as people type it.
func (w *workspace) branch() string { return strings.TrimPrefix(w.config.Ref, "refs/heads/") }

// ensure makes the store if it is not there: from origin's branch where there is one, else
// anew. It reports whether it made it.
func (w *workspace) ensure(ctx context.Context) (created bool, err error) {
	if _, err = w.memory.Tip(ctx); !errors.Is(err, gitstore.ErrNoStore) {
		return false, err
	}
	if branch, ok := strings.CutPrefix(w.config.Ref, "refs/heads/"); ok {
		origin := "refs/remotes/origin/" + branch
		_, err := w.memory.Adopt(ctx, origin)
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
	err = w.book.Create(ctx, firstFiles())
	if errors.Is(err, gitstore.ErrExists) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w.env.Say("started a memory on the branch %s; your own branches and files are untouched", w.branch())
	w.claimAgents(ctx)
	return true, nil
}

// restrict narrows the settings by the team's reverie.toml. From then on upkeep follows them too.
func (w *workspace) restrict(ctx context.Context, v *record.View) (config.Config, error) {
	c := w.config
	text, err := v.Config()
	if err != nil {
		return c, err
	}
	if w.settings, err = w.judge.Settings(ctx, v, c.Trust); err != nil {
		return c, err
	}
	if w.settings.Text != nil {
		text = w.settings.Text
	}
	if text == nil {
		err := fmt.Errorf("%s has no reverie.toml: not a memory branch, or a damaged one", w.branch())
		return c, exit.New(exit.NeedsPerson, err, "'git log "+w.branch()+"' shows what took it away; the setting memory.ref names the branch")
	}
	err = c.Restrict(w.branch()+":reverie.toml", text)
	w.narrowed = c
	return c, err
}

func policy(c config.Config) dream.Policy {
	p := dream.Policy{Sightings: c.Sightings}
	for _, how := range c.Accept {
		p.Accept = append(p.Accept, record.How(how))
	}
	return p
}

func private(c config.Config) []record.Kind {
	var out []record.Kind
	for _, k := range c.Private {
		out = append(out, record.Kind(k))
	}
	return out
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
	defer w.code.Done()
	defer w.markPurges()()
	return w.book.View(ctx, func(v *record.View) error {
		if _, err := w.restrict(ctx, v); err != nil {
			return err
		}
		return fn(v)
	})
}

// update is view for writers. It tells what the making of commits had to say, once.
func (w *workspace) update(ctx context.Context, fn func(*record.Tx, config.Config) error) error {
	var tx *record.Tx
	err := w.book.Update(ctx, func(t *record.Tx) error {
		tx = t
		c, err := w.restrict(ctx, t.View)
		if err != nil {
			return err
		}
		return fn(t, c)
	})
	if err != nil {
		return err
	}
	for _, r := range tx.Results {
		if r.Note != "" && !w.told[r.Note] {
			w.told[r.Note] = true
			w.env.Say("%s", r.Note)
		}
	}
	return nil
}

// missing reports whether an error says that there is no memory here, and never was.
func missing(err error) bool {
	return errors.Is(err, gitstore.ErrNoStore) && !errors.Is(err, gitstore.ErrDeleted)
}
