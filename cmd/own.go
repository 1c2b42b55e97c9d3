package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/internal/reader"
)

// ownCommand reports whether a command works on the person's own memory with --user, and whether it
// makes that memory if it is missing.
func ownCommand(name string) (takes, makes bool) {
	switch name {
	case "remember", "sync":
		return true, true
	case "recall", "list", "review", "accept", "reject", "show", "edit", "forget", "log", "diff", "blame", "revert", "undo", "check", "conflicts", "export", "purge":
		return true, false
	}
	return false, false
}

// openWith opens the clone, or the person's own memory if only that has all of some ids.
func (env *Env) openWith(ctx context.Context, ids ...string) (*workspace, error) {
	w, err := env.open(ctx)
	if err != nil || w.Own || len(ids) == 0 || !reader.OnlyOwn(ctx, w.Reader, ids) {
		return w, err
	}
	env.own = true
	return env.open(ctx)
}
