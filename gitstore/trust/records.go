package trust

import (
	"context"
	"errors"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
)

// Records knows the foreign reflections and dreams in the journal. The zero value treats all of
// them as this clone's.
type Records struct {
	Doubt error // reason that history could not be read: every path is foreign

	strange map[string]bool
}

// Foreign reports whether an untrusted author changed a path in the journal last.
func (r Records) Foreign(path string) bool { return r.Doubt != nil || r.strange[path] }

// Records judges the current journal. Anyone who can push may have written to a synced one.
func (j *Judge) Records(ctx context.Context, c config.Trust) (Records, error) {
	if c.Everyone {
		return Records{}, nil
	}
	tip, err := j.Journal.Tip(ctx)
	if err != nil {
		if errors.Is(err, gitstore.ErrNoStore) {
			err = nil
		}
		return Records{}, err
	}
	g, err := j.assessor(c)
	if err == nil {
		err = g.ask(ctx)
	}
	if err != nil {
		return Records{}, err
	}
	if only, err := j.Journal.Authors().Only(ctx, tip, "", g.signatures(), g.trusts); only || ctx.Err() != nil {
		return Records{}, err
	}
	r := Records{strange: map[string]bool{}}
	for _, dir := range []string{record.ReflectionDir, record.DreamDir} {
		found, err := j.Journal.Authors().Origins(ctx, tip, dir, nil, g.signatures(), gitstore.Belief{Author: g.trusts})
		if err != nil {
			return Records{Doubt: err}, ctx.Err()
		}
		for path, o := range found.Files {
			r.strange[path] = len(o.By) == 0 || slices.ContainsFunc(o.By, g.strange)
		}
	}
	return r, nil
}
