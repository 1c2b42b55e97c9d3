package cmd

import (
	"context"
	"errors"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// foreignRecords reports of a path in the journal whether somebody not trusted here changed it last: a journal that
// was synced may be anybody's who may push there. If history cannot be read, every path is foreign.
func (w *workspace) foreignRecords(ctx context.Context, v *record.View) (func(path string) bool, error) {
	nobody := func(string) bool { return false }
	c, err := w.restrict(v)
	if err != nil || c.Trust.Everyone {
		return nobody, err
	}
	journal := gitstore.Open(w.repo, journalRef)
	tip, err := journal.Tip(ctx)
	if err != nil {
		if errors.Is(err, gitstore.ErrNoStore) {
			err = nil
		}
		return nobody, err
	}
	g, err := w.newAssessor(c.Trust)
	if err == nil {
		err = g.ask(ctx)
	}
	if err != nil {
		return nobody, err
	}
	if only, err := journal.Only(ctx, tip, "", g.signatures(), g.trusts); only || ctx.Err() != nil {
		return nobody, err
	}
	strange := map[string]bool{}
	for _, dir := range []string{record.ReflectionDir, record.DreamDir} {
		found, err := journal.Origins(ctx, tip, dir, nil, g.signatures(), g.trusts)
		if err != nil {
			if ctx.Err() == nil {
				w.env.warn("%v; nothing is learned from the journal", err)
			}
			return func(string) bool { return true }, ctx.Err()
		}
		for path, o := range found.Files {
			strange[path] = len(o.By) == 0 || slices.ContainsFunc(o.By, g.strange)
		}
	}
	return func(path string) bool { return strange[path] }, nil
}
