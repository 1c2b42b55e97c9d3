package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/share"
)

// ensure makes the memory branch if it is not there, and reports whether it did.
func (w *workspace) ensure(ctx context.Context) (created bool, err error) {
	switch begun, err := share.Begin(ctx, w.Clone); {
	case err != nil || begun == share.Existed:
		return false, err
	case w.Own:
		w.env.Say("started your own memory in %s", w.Repo.CommonDir)
		return true, nil
	case begun == share.Adopted:
		w.env.Say("adopted origin/%s as %s", w.Branch(), w.Branch())
		w.claimAgents(ctx)
		return true, tellForeign(ctx, w)
	}
	w.env.Say("started a memory on the branch %s; your own branches and files are untouched", w.Branch())
	if remote, err := w.Repo.Remote(ctx, "", w.Branch()); err == nil {
		w.env.Say("no memory of %s was fetched; if it has one: reverie sync", remote.Name)
	}
	w.claimAgents(ctx)
	return true, nil
}

// create is ensure for callers below cmd.
func (w *workspace) create(ctx context.Context) error {
	_, err := w.ensure(ctx)
	return err
}
