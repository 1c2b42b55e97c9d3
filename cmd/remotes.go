package cmd

import (
	"bytes"
	"context"

	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// readRemotes reads what this clone remembers of the remotes it synced with.
func (w *workspace) readRemotes() (*remotes.File, error) {
	known, err := remotes.Read(w.State)
	if err != nil {
		return nil, exit.New(exit.Failed, err, "remove it: sync then asks again what it needs to know")
	}
	return known, nil
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
