// Package clone opens a repository for one question: its settings, stores, sessions and secrets,
// and the identity of the asker. Begin with Open, then View or Update. A Clone is immutable except
// for its open view.
package clone

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// Refs of this clone alone. The memory branch's name is a setting.
const (
	JournalRef = "refs/reverie/journal"
	InboxRef   = "refs/reverie/inbox"
)

// Options select a clone and identify the asker.
type Options struct {
	Dir  string           // a folder of the repository
	Own  bool             // the person's own memory instead of that repository
	Make bool             // Own: make it if it is missing
	Now  func() time.Time // the clock
	// agent behind a tool's call, as Shell names it; "" for a possible person
	Caller     string
	Background bool        // no user waits for an answer
	Note       func(error) // receives errors from reading the repository's code; may be nil
}

// Clone is an opened repository. Its fields never change after Open. Several goroutines may use it,
// but View and Update serve one at a time.
type Clone struct {
	Options
	Repo     *git.Repo
	Local    *git.Repo     // the same, for reading code; never fetches
	State    string        // <common git dir>/reverie; may not exist yet
	Config   config.Config // the user's settings
	Memory   *gitstore.Store
	Book     *record.Book
	Scanner  *redact.Scanner
	Sessions reflect.Sessions
	Code     *anchor.Code
	Judge    *trust.Judge

	mark string // of the purges before the open view; see KeepDerived
}

// Open finds the repository and reads the settings. It writes nothing, unless Options.Make is set.
func Open(ctx context.Context, o Options) (*Clone, error) {
	if o.Own {
		return openOwn(ctx, o, nil, nil)
	}
	repo, err := git.FindCached(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	c := &Clone{Options: o, Repo: repo, Scanner: redact.New(someSecrets(ctx, repo)...)}
	if c.Config, err = config.Load(config.UserFile(), SettingsFile(StateOf(repo))); err != nil {
		return nil, err
	}
	if !c.Background && c.Agent() == "" {
		if err := c.Config.Environment(os.Getenv); err != nil {
			return nil, err
		}
	}
	return connect(c), nil
}

// StateOf names the state folder of a repository's clone.
func StateOf(repo *git.Repo) string { return filepath.Join(repo.CommonDir, "reverie") }

// connect opens the stores of a clone that has its repository, settings and scanner, without I/O.
func connect(c *Clone) *Clone {
	repo := c.Repo
	c.Local, c.State = repo.Offline(), StateOf(repo)
	c.Memory = gitstore.Open(repo, c.Config.Ref)
	stores := record.Stores{Memory: c.Memory, Journal: c.Journal(), Inbox: gitstore.Open(repo, InboxRef)}
	if branch, ok := strings.CutPrefix(c.Config.Ref, "refs/heads/"); ok {
		stores.Fallback = gitstore.Open(repo, "refs/remotes/origin/"+branch)
	}
	c.Book = record.Open(stores, c.State, c.Scanner)
	c.Judge = &trust.Judge{State: c.State, Memory: c.Memory, Fallback: stores.Fallback, Journal: stores.Journal, Keep: c.KeepDerived}
	c.Code = &anchor.Code{Repo: c.Local, State: c.State, Main: c.Config.Main, Memories: c.Config.Ref, Book: c.Book, Note: c.Note}
	c.Sessions = reflect.Sessions{Dir: filepath.Join(c.State, "sessions"), Scanner: c.Scanner, Command: past.OpenCodeCommand(repo.WorkTree)}
	return c
}

// Started reports whether the clone has a state folder. Uninstalling removes it.
func (c *Clone) Started() bool {
	info, err := os.Stat(c.State)
	return err == nil && info.IsDir()
}

// SettingsFile names the settings file of a clone, in its state folder.
func SettingsFile(state string) string { return filepath.Join(state, "config.toml") }

// Branch returns the memory branch's name as people type it.
func (c *Clone) Branch() string { return strings.TrimPrefix(c.Config.Ref, "refs/heads/") }

// Spool returns the folder where hook events wait.
func (c *Clone) Spool() hooks.Spool {
	return hooks.Spool{Dir: SpoolDir(c.State), Scanner: c.Scanner}
}

// SpoolDir names the folder of the spool, in the state folder of a clone.
func SpoolDir(state string) string { return filepath.Join(state, "spool") }

// Journal opens the store that is private to this clone.
func (c *Clone) Journal() *gitstore.Store { return gitstore.Open(c.Repo, JournalRef) }

// Team holds the effective settings of a view: the user's, narrowed by the team's.
type Team struct {
	Config config.Config
	Trust  trust.Settings
}

// Team narrows the user's settings by the reverie.toml of a view.
func (c *Clone) Team(ctx context.Context, v *record.View) (Team, error) {
	t := Team{Config: c.Config}
	text, err := v.Config()
	if err != nil {
		return t, err
	}
	if t.Trust, err = c.Judge.Settings(ctx, v, c.Config.Trust); err != nil {
		return t, err
	}
	if t.Trust.Text != nil {
		text = t.Trust.Text
	}
	if text == nil {
		err := fmt.Errorf("%s has no reverie.toml: not a memory branch, or a damaged one", c.Branch())
		return t, exit.New(exit.NeedsPerson, err, "'git log "+c.Branch()+"' shows what took it away; the setting memory.ref names the branch")
	}
	return t, t.Config.Restrict(c.Branch()+":reverie.toml", text)
}

func Policy(c config.Config) dream.Policy {
	p := dream.Policy{Sightings: c.Sightings}
	for _, how := range c.Accept {
		p.Accept = append(p.Accept, record.How(how))
	}
	return p
}

func Private(c config.Config) []record.Kind {
	var out []record.Kind
	for _, k := range c.Private {
		out = append(out, record.Kind(k))
	}
	return out
}

// View runs fn on the newest state of the memory, with its effective settings.
func (c *Clone) View(ctx context.Context, fn func(*record.View, Team) error) error {
	defer c.Reading()()
	return c.Book.View(ctx, func(v *record.View) error {
		t, err := c.Team(ctx, v)
		if err != nil {
			return err
		}
		return fn(v, t)
	})
}

// Update is View for writers. It returns the notes of its commits, such as git's on signing.
func (c *Clone) Update(ctx context.Context, fn func(*record.Tx, Team) error) (notes []string, err error) {
	var tx *record.Tx
	err = c.Book.Update(ctx, func(now *record.Tx) error {
		tx = now
		t, err := c.Team(ctx, now.View)
		if err != nil {
			return err
		}
		return fn(now, t)
	})
	if err != nil {
		return nil, err
	}
	for _, r := range tx.Results {
		if r.Note != "" {
			notes = append(notes, r.Note)
		}
	}
	return notes, nil
}

// Reading prepares a new view: it notes the mark of purges. done ends the process that reads code.
func (c *Clone) Reading() (done func()) {
	before := c.mark
	c.mark = purge.Mark(c.State)
	return func() { c.mark = before; c.Code.Done() }
}

// KeepDerived stores a value derived from the open view, and removes it if a purge came meanwhile,
// because it may contain purged text. A purge changes the mark before it removes files, so checking
// the mark after the write suffices.
func (c *Clone) KeepDerived(path string, value any) {
	derived.Write(path, value)
	if purge.Since(c.State, c.mark) != nil {
		os.Remove(path)
	}
}

// NoMemory reports whether an error means that there is no memory here and never was.
func NoMemory(err error) bool {
	return errors.Is(err, gitstore.ErrNoStore) && !errors.Is(err, gitstore.ErrDeleted)
}
