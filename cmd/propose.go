package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/git"
)

// proposalFolder is where proposals lie on a remote, as branches.
const proposalFolder = "reverie/proposal/"

// proposingRef is the store in which a proposal of operations is made. It exists only meanwhile.
const proposingRef = "refs/reverie/proposals/new"

// opsLanded reports whether the remote's branch says what every operation of a proposal would have it
// say. Those that it does leave the inbox, and so does the count of those that were decided here.
func (s *syncer) opsLanded(ctx context.Context, l lane, p proposal, theirs gitstore.ID) (bool, error) {
	var there []record.Operation
	open := 0
	err := s.w.book.View(ctx, func(v *record.View) error {
		pending, err := s.w.pending(v)
		if err != nil {
			return err
		}
		return l.store.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
			for _, o := range pending {
				if !slices.Contains(p.Ops, o.ID) {
					continue
				}
				open++
				data, err := t.Read(o.Path)
				if errors.Is(err, gitstore.ErrNotFound) {
					continue
				}
				if err != nil {
					return err
				}
				m, err := record.ParseMemory(o.Path, data)
				if err == nil && m.Text == o.Memory.Text && m.Body == o.Memory.Body && m.Status == o.Memory.Status {
					there = append(there, o)
				}
			}
			return nil
		})
	})
	if err != nil || len(there) < open {
		return false, err
	}
	return true, s.w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		for _, o := range there {
			tx.DropOperation(o.ID)
		}
		return nil
	})
}

// propose publishes operations of the inbox as a branch: one commit on top of what the remote has.
// They stay in the inbox until they landed, or are decided here.
func (s *syncer) propose(ctx context.Context, l lane) error {
	theirs, err := s.w.repo.ReadRef(ctx, s.seen(l))
	if errors.Is(err, git.ErrNoRef) {
		return &failure{exitPerson, fmt.Errorf("%s has no branch %s yet to propose a change of", s.remote.Name, s.w.branch()), "publish it first: reverie sync " + s.remote.Name}
	}
	if err != nil {
		return err
	}
	if err := s.closed(ctx); err != nil {
		return err
	}
	ops, err := s.proposable(ctx)
	if err != nil || len(ops) == 0 {
		return err
	}
	if s.o.dryRun {
		for _, o := range ops {
			s.w.line("?", dim, o.Memory, "would be proposed")
		}
		return nil
	}
	if !s.known.agreed(l.name, s.remote.PushURL) {
		if err := s.agree(l.name, count(len(ops), "pending operation", "pending operations")+" as a proposal"); err != nil {
			return err
		}
	}
	p, err := s.build(ctx, l, ops, gitstore.ID(theirs))
	if err != nil {
		return err
	}
	moved, err := s.pushProposal(ctx, &p, "")
	if err == nil && !moved {
		p.Branch += "-" + string(p.Commit[:4])
		if moved, err = s.pushProposal(ctx, &p, ""); err == nil && !moved {
			err = fmt.Errorf("push to %s: a branch %s is there already", s.remote.Name, p.Branch)
		}
	}
	if err != nil {
		return err
	}
	return s.opened(p)
}

// closed finds out which proposals of operations are gone from the remote though they did not land, so
// that they may be proposed again when they are named.
func (s *syncer) closed(ctx context.Context) error {
	if !slices.ContainsFunc(s.known.Proposals, func(p proposal) bool { return !p.Closed }) {
		return nil
	}
	refs, err := s.remote.Refs(ctx, "refs/heads/"+proposalFolder)
	if err != nil {
		return explainFetch(err)
	}
	for i := range s.known.Proposals {
		if p := &s.known.Proposals[i]; !p.Closed && refs.Refs["refs/heads/"+p.Branch] == "" {
			p.Closed = true
			s.note(*p, "closed")
		}
	}
	return s.all.save()
}

// proposable picks the operations to propose: those named, or all that are not private and were not
// proposed before.
func (s *syncer) proposable(ctx context.Context) ([]record.Operation, error) {
	var ops []record.Operation
	err := s.w.view(ctx, func(v *record.View) error {
		var err error
		ops, err = s.w.pick(v, s.o.ops, len(s.o.ops) == 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	named := len(s.o.ops) > 0
	var out []record.Operation
	for _, o := range ops {
		at := slices.IndexFunc(s.known.Proposals, func(p proposal) bool { return slices.Contains(p.Ops, o.ID) })
		switch {
		case o.Private && named:
			return nil, &failure{exitPerson, fmt.Errorf("operation %s is private", o.ID), "accept it here instead: reverie accept " + o.ID}
		case o.Private:
		case at >= 0 && !s.known.Proposals[at].Closed:
			s.w.env.say("%s is proposed already, in %s", o.ID, s.known.Proposals[at].Branch)
		case at >= 0 && !named:
			s.w.env.say("%s was proposed in %s and did not land; name it to propose it again", o.ID, s.known.Proposals[at].Branch)
		default:
			if at >= 0 {
				s.known.drop(s.known.Proposals[at].Branch)
			}
			out = append(out, o)
		}
	}
	if len(ops) == 0 {
		s.w.env.say("nothing waits to be proposed")
	}
	return out, nil
}

// build makes the commit of a proposal, on a store of its own that begins at what the remote has.
func (s *syncer) build(ctx context.Context, l lane, ops []record.Operation, theirs gitstore.ID) (proposal, error) {
	p := proposal{Branch: proposalFolder + ops[0].ID[:8], Base: theirs}
	if len(ops) > 1 {
		p.Branch += fmt.Sprintf("-and-%d", len(ops)-1)
	}
	for _, o := range ops {
		p.Ops = append(p.Ops, o.ID)
	}
	ctx, unlock, err := l.store.Lock(ctx)
	if err != nil {
		return p, err
	}
	defer unlock()
	if err := s.clearProposing(ctx); err != nil { // of a sync that was killed
		return p, err
	}
	store := gitstore.Open(s.w.repo, proposingRef)
	if _, err := store.Adopt(ctx, s.seen(l)); err != nil {
		return p, err
	}
	book := s.w.bookOn(store)
	err = book.Update(ctx, func(tx *record.Tx) error {
		for _, o := range ops {
			if err := tx.Accept(o); err != nil {
				return err
			}
		}
		tx.Describe(proposalText(ops, func(id string) (record.Memory, bool) {
			m, err := tx.Find(id)
			return m, err == nil
		}))
		return nil
	})
	if err == nil {
		p.Commit, err = store.Tip(ctx)
	}
	if err == nil {
		p.Tree, err = s.treeOf(ctx, l, p.Commit)
	}
	if err == nil && p.Commit == theirs {
		err = &failure{exitPerson, fmt.Errorf("%s has what these operations say already", s.remote.Name), "reverie sync brings it here"}
	}
	if err == nil {
		return p, s.clearProposing(ctx)
	}
	if undecidable(err) {
		err = &failure{exitPerson, fmt.Errorf("propose to %s: %w", s.remote.Name, err), "its branch says something else there: look with reverie show ID, or name the others"}
	}
	return p, errors.Join(err, s.clearProposing(ctx))
}

// clearProposing removes the store in which proposals are made.
func (s *syncer) clearProposing(ctx context.Context) error {
	id, err := s.w.repo.ReadRef(ctx, proposingRef)
	if errors.Is(err, git.ErrNoRef) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.w.repo.DeleteRef(ctx, proposingRef, id)
}
