package brief

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Shown is a memory of an injection in its current state.
type Shown struct {
	Given
	Memory  record.Memory // zero where it is not here any more, or damaged
	Damaged bool          // its file is here, and cannot be read
}

// Look returns the current state of an injection's memories.
func Look(ctx context.Context, r *reader.Reader, in Injection) (all []Shown, err error) {
	err = r.View(ctx, func(v *record.View) error {
		for _, g := range in.Items {
			m, err := v.Find(g.ID)
			if errors.Is(err, record.ErrNoMemory) {
				m, err = reader.FindBeside(ctx, r, v, g.ID)
			}
			if err != nil && !errors.Is(err, record.ErrNoMemory) {
				return err
			}
			all = append(all, Shown{g, m, err != nil && damaged(v, g.ID)})
		}
		return nil
	})
	return all, err
}

// damaged reports whether a memory's file is here and cannot be read.
func damaged(v *record.View, id string) bool {
	return slices.ContainsFunc(v.Bad(), func(e *record.FormatError) bool {
		of, ok := record.MemoryID(e.Path)
		return ok && of == id
	})
}

// Uses lists the times that a memory was given.
type Uses struct {
	Memory  record.Memory // its id alone where it is not here any more
	Caveats reader.Caveats
	Times   []Use
	Heed    Heed
}

// Sessions counts the sessions that were given the memory.
func (u Uses) Sessions() int {
	names := map[string]bool{}
	for _, use := range u.Times {
		names[use.Injection.Session] = true
	}
	return len(names)
}

// Use is one time that a memory was given.
type Use struct {
	Injection Injection
	Given     Given
}

// UsesOf finds when a memory was given, by the beginning of its id.
func UsesOf(ctx context.Context, r *reader.Reader, all []Injection, id string) (u Uses, err error) {
	err = r.View(ctx, func(v *record.View) (err error) {
		if u.Memory, err = v.Find(id); err != nil {
			return err
		}
		caveats, err := r.Caveats(ctx, v)
		if err == nil {
			u.Caveats = caveats(u.Memory)
		}
		return err
	})
	if errors.Is(err, record.ErrNoMemory) {
		if own, missing := reader.FindOwn(ctx, r, id); missing == nil {
			u.Memory, err = own, nil
		}
	}
	switch {
	case errors.Is(err, record.ErrNoMemory) || errors.Is(err, gitstore.ErrNoStore):
		if u.Memory.ID = lostID(all, id); u.Memory.ID == "" {
			return u, err
		}
	case err != nil:
		return u, err
	}
	var its []Injection
	for _, in := range all {
		if i := slices.IndexFunc(in.Items, func(g Given) bool { return g.ID == u.Memory.ID }); i >= 0 {
			u.Times = append(u.Times, Use{in, in.Items[i]})
			its = append(its, in)
		}
	}
	if t, err := ReadGuards(ctx, r); err == nil {
		u.Heed = KeptHeeds(r, its, t)[u.Memory.ID]
	}
	return u, nil
}

// lostID returns the full id of a memory that was given and no longer exists, or "".
func lostID(all []Injection, prefix string) string {
	for _, in := range all {
		for _, g := range in.Items {
			if len(prefix) >= 4 && strings.HasPrefix(g.ID, prefix) {
				return g.ID
			}
		}
	}
	return ""
}
