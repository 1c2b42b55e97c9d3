// Package undo takes back decisions that the user of a clone made about memories and pending
// operations. Begin with Newest. A decision may have a commit on each of the clone's refs. Undoing
// it reverts each, in new commits.
package undo

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/history"
)

// ErrNothing means that there is no decision to undo.
var ErrNothing = errors.New("nothing was decided here that could be undone")

// Decision is a decision of this clone's user.
type Decision struct {
	Subject string    `json:"undone"`
	Time    time.Time `json:"time"`
	Commits []string  `json:"commits"` // of the decision, those of the memory branch first

	stores []*gitstore.Store // by commit
}

// look bounds the commits of a ref that Last reads.
const look = 500

// together bounds the time between the commits of one decision: signing may ask for a passphrase.
const together = time.Minute

// decides reports whether a person made a commit with this operation, rather than the pipeline.
func decides(op string) bool {
	return slices.Contains([]string{"remember", "edit", "forget", "accept", "review", "reject", "restore", "keep", "import", "conflicts"}, op)
}

// Last returns the newest decision since a time that is not undone yet. Authors of commits are
// compared with this clone's identity. Without a decision the error is ErrNothing; without a memory
// it wraps gitstore.ErrNoStore.
func Last(ctx context.Context, c *clone.Clone, since time.Time) (d Decision, err error) {
	who, err := c.Repo.Config().Identity(ctx)
	if err != nil {
		return d, err
	}
	if _, err := c.Memory.Tip(ctx); err != nil {
		return d, err
	}
	stores := []*gitstore.Store{c.Memory, c.Journal(), gitstore.Open(c.Repo, clone.InboxRef)}
	all := make([][]history.Commit, len(stores)) // by store, the newest first
	var last history.Commit
	for i, s := range stores {
		if all[i], err = open(ctx, s, who.Email); err != nil {
			return d, err
		}
	}
	for _, k := range slices.Concat(all...) {
		// Times are whole seconds: a decision that a later one covers on some ref is not the last.
		hidden := slices.ContainsFunc(all, func(log []history.Commit) bool {
			return slices.IndexFunc(log, func(o history.Commit) bool { return same(o, k) }) > 0
		})
		if k.Time.After(last.Time) && !hidden {
			last = k
		}
	}
	if last.ID == "" || last.Time.Before(since.Truncate(time.Second)) {
		return d, ErrNothing
	}
	d = Decision{Subject: last.Subject, Time: last.Time}
	for i, s := range stores {
		for _, k := range all[i][:min(1, len(all[i]))] {
			if same(k, last) {
				d.Commits, d.stores = append(d.Commits, k.ID), append(d.stores, s)
			}
		}
	}
	return d, nil
}

// Newest is Last of a clone and of the person's own memory.
func Newest(ctx context.Context, c *clone.Clone, since time.Time) (Decision, error) {
	d, err := Last(ctx, c, since)
	if c.Own || !c.Config.UserMemory {
		return d, err
	}
	own, missing := clone.OpenOwn(ctx, c)
	if missing != nil {
		return d, err
	}
	if o, none := Last(ctx, own, since); none == nil && (err != nil || o.Time.After(d.Time)) {
		return o, nil
	}
	return d, err
}

// same reports whether two commits belong to one decision.
func same(a, b history.Commit) bool {
	return a.Subject == b.Subject && a.Body == b.Body && a.Time.Sub(b.Time).Abs() < together
}

// open returns the decisions of an author in a store that are not undone, the newest first.
func open(ctx context.Context, s *gitstore.Store, author string) (all []history.Commit, err error) {
	if _, err := s.Tip(ctx); errors.Is(err, gitstore.ErrNoStore) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	undone := map[string]bool{}
	err = history.Log(ctx, s.Repo(), s.Ref(), nil, look, func(k history.Commit) error {
		if of := gitstore.Reverts(k.Body); of != "" && !undone[k.ID] {
			undone[string(of)] = true
		} else if !undone[k.ID] && decides(k.Op) && strings.EqualFold(k.Email, author) {
			all = append(all, k)
		}
		return nil
	})
	return all, err
}

// Revertible reports whether a change of this path may be undone: neither settings nor READMEs.
func Revertible(path string) bool {
	return slices.ContainsFunc([]string{"memories/", "reflections/", record.SkillDir + "/", "ops/", "rejected/"}, func(dir string) bool {
		return strings.HasPrefix(path, dir)
	})
}

// Undo reverts the commits of a decision. The error is a *gitstore.RevertError if later commits
// changed the same files.
func (d Decision) Undo(ctx context.Context) error {
	for i, s := range d.stores {
		if _, err := s.Revert(ctx, d.Commits[i], Revertible); err != nil {
			return err
		}
	}
	return nil
}
