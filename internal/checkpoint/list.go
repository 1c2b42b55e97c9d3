package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
)

// Kept is a checkpoint with the shelf that has it.
type Kept struct {
	record.Checkpoint
	Shared bool // on the memory branch
}

// of reports whether a checkpoint belongs to a session whose name or id begins with a prefix.
func (k Kept) of(prefix string) bool {
	return strings.HasPrefix(k.Client+"/"+k.Session, prefix) || strings.HasPrefix(k.Session, prefix)
}

// List returns the checkpoints of this clone and of the branch, the oldest first. session may be
// the beginning of a name, or empty.
func (n *Notebook) List(ctx context.Context, session string) (all []Kept, err error) {
	err = n.View(ctx, func(v *record.View) error {
		all = nil
		own, err := v.Journal().Checkpoints("")
		shared, err2 := v.Branch().Checkpoints("")
		if err := n.Tolerate(errors.Join(err, err2)); err != nil {
			return err
		}
		has := func(some []record.Checkpoint, path string) bool {
			return slices.ContainsFunc(some, func(c record.Checkpoint) bool { return c.Path() == path })
		}
		for _, c := range own {
			all = append(all, Kept{c, has(shared, c.Path())})
		}
		for _, c := range shared {
			if !has(own, c.Path()) {
				all = append(all, Kept{c, true})
			}
		}
		return nil
	})
	all = slices.DeleteFunc(all, func(k Kept) bool { return !k.of(session) })
	slices.SortStableFunc(all, func(a, b Kept) int { return a.Time.Compare(b.Time) })
	return all, err
}

// Find finds a checkpoint by SESSION#N, or by N: in the session given, or without one in the
// session of the newest checkpoint.
func (n *Notebook) Find(ctx context.Context, name, session string) (Kept, error) {
	all, err := n.List(ctx, "")
	if err != nil {
		return Kept{}, err
	}
	if of, number, ok := strings.Cut(name, "#"); ok {
		session, name = of, number
	}
	number, err := strconv.Atoi(name)
	if err != nil || number < 1 {
		return Kept{}, exit.Usage("as 'reverie checkpoint list' names them: 2, or claude/4b91b8f5…#2", "%q is not the number of a checkpoint", name)
	}
	if session == "" && len(all) > 0 {
		last := all[len(all)-1]
		session = last.Client + "/" + last.Session
	}
	all = slices.DeleteFunc(all, func(k Kept) bool { return k.N != number || !k.of(session) })
	switch {
	case len(all) == 0:
		of := ""
		if session != "" {
			of = " of " + session
		}
		return Kept{}, exit.New(exit.Failed, fmt.Errorf("checkpoint %d%s: there is none", number, of), "'reverie checkpoint list' lists them")
	case len(all) > 1:
		return Kept{}, exit.New(exit.Failed, fmt.Errorf("checkpoint %d: several sessions begin like %s", number, session), "name it whole: "+all[0].Name())
	}
	return all[0], nil
}

// Share copies a checkpoint to the memory branch. A person decides that.
func (n *Notebook) Share(ctx context.Context, k *Kept) error {
	if err := n.WantPerson("checkpoint share"); err != nil || k.Shared {
		return err
	}
	err := n.Update(ctx, func(tx *record.Tx, _ clone.Team) error { return put(tx, record.Branch, k.Checkpoint) })
	k.Shared = err == nil
	return err
}
