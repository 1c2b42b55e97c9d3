package trust

import (
	"context"
	"errors"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
)

// Records says whose the reflections and dreams in the journal are. The zero value takes all of
// them for this clone's.
type Records struct {
	Doubt error // why history could not be read: every path is foreign

	strange map[string]bool
}

// Foreign reports of a path in the journal whether somebody not trusted here changed it last.
func (r Records) Foreign(path string) bool { return r.Doubt != nil || r.strange[path] }

// Records decides for the journal as it is now: one that was synced may be anybody's who may push
// there.
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
	if only, err := j.Journal.Only(ctx, tip, "", g.signatures(), g.trusts); only || ctx.Err() != nil {
		return Records{}, err
	}
	r := Records{strange: map[string]bool{}}
	for _, dir := range []string{record.ReflectionDir, record.DreamDir} {
		found, err := j.Journal.Origins(ctx, tip, dir, nil, g.signatures(), gitstore.Belief{Author: g.trusts})
		if err != nil {
			return Records{Doubt: err}, ctx.Err()
		}
		for path, o := range found.Files {
			r.strange[path] = len(o.By) == 0 || slices.ContainsFunc(o.By, g.strange)
		}
	}
	return r, nil
}
