package cmd

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
)

// Env is the world of a command. Tests, hooks and servers give their own.
type Env struct {
	term.Terminal
	Dir string           // where to look for the repository
	Now func() time.Time // the clock

	own, makes bool   // --user: work on the person's own memory, and make it if it is missing
	background bool   // no person waits for it
	hook       bool   // an agent or git runs it at every event
	caller     string // the agent behind a tool, as agentShell names it; "" for a person

	// follow shows a loop on a full screen until its end, or until the person leaves; nil without one.
	follow func(ctx context.Context, w *workspace, name string) (*worktree.State, error)

	opened *workspace // the one that the command has opened last, if any

	// embedder replaces the configured model if not nil.
	embedder func(context.Context) (vector.Embed, vector.Space, error)
}

// path resolves a file of the command line against the folder of -C.
func (env *Env) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(env.Dir, file)
}

// system is the Env of a process.
func system() *Env {
	env := &Env{Terminal: term.Process(), Dir: ".", Now: time.Now}
	if env.agentShell() != "" { // an agent does not turn pages
		env.Height = 0
	}
	return env
}

// toBackground marks a background command: warnings go to a log, with dates.
func (env *Env) toBackground() { env.background, env.Stamp = true, env.Now }

// openNamed is openFile for a file that a person named; its error is without the path, which the
// caller names.
func (env *Env) openNamed(ctx context.Context, name string) (*os.File, error) {
	f, err := term.OpenFile(ctx, env.path(name))
	return f, file.Bare(err)
}

// agentShell names the session whose agent runs this command; "" for a person.
func (env *Env) agentShell() string { return cmp.Or(env.caller, clone.Shell()) }
