package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/git"
)

// refresh brings the open proposals of operations up to date with what the remote's branch has now. Operations of one
// session share the file of what it said, and a forge that merges two versions of it as text finds a conflict that
// our rules do not have.
func (s *syncer) refresh(ctx context.Context, l lane) error {
	id, err := s.w.Repo.ReadRef(ctx, s.seen(l))
	if errors.Is(err, git.ErrNoRef) {
		return nil
	}
	if err != nil {
		return err
	}
	theirs := gitstore.ID(id)
	for i := range s.known.Proposals {
		p := &s.known.Proposals[i]
		head := gitstore.ID(s.heads["refs/heads/"+p.Branch])
		if p.Ops == nil || p.Closed || head == "" || head == p.Tip() && p.On() == theirs {
			continue
		}
		now := *p
		moved, failed := s.refreshOne(ctx, l, &now, theirs)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case failed != nil:
			s.w.env.Warn("%s is not brought up to date: %v", p.Branch, failed)
			continue
		case moved:
			s.w.env.Say("%s is brought up to date with %s of %s", p.Branch, s.w.Branch(), s.remote.Name)
		}
		*p = now
		if err := s.all.Save(); err != nil {
			return err
		}
	}
	return nil
}

// refreshOne merges the remote's branch into one proposal, as it is on the remote, and moves that on. It reports
// false where there was nothing to do, or somebody else was at it.
func (s *syncer) refreshOne(ctx context.Context, l lane, p *remotes.Proposal, theirs gitstore.ID) (moved bool, err error) {
	at := lane{name: "proposal/memory", ref: "refs/heads/" + p.Branch, store: l.store}
	if err := s.w.Repo.ClearRefLock(s.fresh(at)); err != nil {
		return false, err
	}
	head, err := s.remote.Fetch(ctx, at.ref, s.fresh(at))
	if err != nil {
		return false, err
	}
	merged, err := s.mergeProposal(ctx, at, gitstore.ID(head), theirs, head != string(p.Tip()))
	err = errors.Join(err, s.w.Repo.DeleteRef(ctx, s.fresh(at), head))
	if err != nil || merged == "" {
		return false, err
	}
	if p.Head, p.With = merged, theirs; string(merged) == head {
		return false, nil
	}
	push := *p
	push.Commit = merged
	moved, err = s.pushProposal(ctx, &push, gitstore.ID(head))
	if err == nil && !moved {
		err = errors.New("somebody else is changing it; the next sync does it")
	}
	return moved, err
}

// mergeProposal merges theirs into a proposal and returns the commit, which is the proposal's own if it has theirs
// already, and empty if there would be nothing left to propose. What others added is looked at first.
func (s *syncer) mergeProposal(ctx context.Context, at lane, head, theirs gitstore.ID, added bool) (gitstore.ID, error) {
	if has, err := s.w.Repo.IsAncestor(ctx, string(theirs), string(head)); has || err != nil {
		return head, err
	}
	ctx, unlock, err := at.store.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if added {
		have, err := s.treeOf(ctx, at, theirs)
		if err == nil {
			err = at.store.ViewAt(ctx, string(head), func(t *gitstore.Tree) error { _, err := t.Admit(have); return err })
		}
		if err != nil {
			return "", refusedEntries(err, s.remote.Name)
		}
	}
	if err := s.clearProposing(ctx); err != nil { // of a sync that was killed
		return "", err
	}
	store := gitstore.Open(s.w.Repo, proposingRef)
	_, err = store.Adopt(ctx, s.fresh(at))
	var m gitstore.Merged
	if err == nil {
		message := gitstore.Commit{Subject: fmt.Sprintf("merge: %s of %s", s.w.Branch(), s.remote.Name), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "propose"}}}
		m, err = s.w.bookOn(store).Merge(ctx, theirs, message, nil)
	}
	if err = errors.Join(err, s.clearProposing(ctx)); err != nil || m.Way != gitstore.Joined {
		return "", err
	}
	return m.Commit, nil
}
