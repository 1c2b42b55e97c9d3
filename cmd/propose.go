package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
)

// proposalFolder is where proposals lie on a remote, as branches.
const proposalFolder = "reverie/proposal/"

// proposalsLane is what a person agrees to who lets operations be proposed: it is not the branch.
const proposalsLane = "proposals"

// proposingRef is the store in which a proposal of operations is made. It exists only meanwhile.
const proposingRef = "refs/reverie/proposals/new"

// propose publishes operations of the inbox as a branch: one commit on top of what the remote has, after the
// branch was brought together with it. They stay in the inbox until they landed, or are decided here.
func (s *syncer) propose(ctx context.Context, l lane) error {
	at := s.seen(l)
	if s.o.dryRun {
		at = s.fresh(l)
	}
	theirs, err := s.w.Repo.ReadRef(ctx, at)
	if errors.Is(err, git.ErrNoRef) {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%s has no branch %s yet to propose a change of", s.remote.Name, s.w.Branch()), "publish it first: reverie sync "+s.remote.Name)
	}
	if err != nil {
		return err
	}
	ops, err := s.proposable(ctx)
	if err != nil || len(ops) == 0 {
		return err
	}
	if s.o.dryRun {
		s.proposing = ops
		s.note(proposalOf(ops, gitstore.ID(theirs)), "would propose")
		return nil
	}
	if !s.known.Agreed(l.name, s.remote.PushURL) && !s.known.Agreed(proposalsLane, s.remote.PushURL) {
		if err := s.agree(proposalsLane, term.Count(len(ops), "pending operation", "pending operations")+" as a proposal"); err != nil {
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
	specs, err := s.w.Repo.Git(ctx, nil, "config", "--get-all", "remote."+s.remote.Name+".fetch") // an error is none
	s.tracked = err == nil && slices.Contains(strings.Fields(string(specs)), "+refs/heads/*:refs/remotes/"+s.remote.Name+"/*")
	return s.opened(p)
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
		at := slices.IndexFunc(s.known.Proposals, func(p remotes.Proposal) bool { return slices.Contains(p.Ops, o.ID) })
		switch {
		case o.Private && named:
			return nil, exit.New(exit.NeedsPerson, fmt.Errorf("operation %s is private", o.ID), "accept it here instead: reverie accept "+o.ID)
		case o.Private:
		case at >= 0 && !s.known.Proposals[at].Closed:
			s.w.env.Say("%s is proposed already, in %s", o.ID, s.known.Proposals[at].Branch)
		case at >= 0 && !named:
			s.w.env.Say("%s was proposed in %s and did not land; name it to propose it again", o.ID, s.known.Proposals[at].Branch)
		default:
			if at >= 0 {
				s.known.Drop(s.known.Proposals[at].Branch)
			}
			out = append(out, o)
		}
	}
	if len(ops) == 0 {
		s.w.env.Say("nothing waits to be proposed")
	}
	return out, nil
}

// proposalOf is the proposal of operations, on top of what the remote has.
func proposalOf(ops []record.Operation, theirs gitstore.ID) remotes.Proposal {
	p := remotes.Proposal{Branch: proposalFolder + ops[0].ID[:8], Base: theirs}
	if len(ops) > 1 {
		p.Branch += fmt.Sprintf("-and-%d", len(ops)-1)
	}
	for _, o := range ops {
		p.Ops = append(p.Ops, o.ID)
	}
	return p
}

// build makes the commit of a proposal, on a store of its own that begins at what the remote has.
func (s *syncer) build(ctx context.Context, l lane, ops []record.Operation, theirs gitstore.ID) (remotes.Proposal, error) {
	p := proposalOf(ops, theirs)
	ctx, unlock, err := l.store.Lock(ctx)
	if err != nil {
		return p, err
	}
	defer unlock()
	if err := s.clearProposing(ctx); err != nil { // of a sync that was killed
		return p, err
	}
	store := gitstore.Open(s.w.Repo, proposingRef)
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
		err = exit.New(exit.NeedsPerson, fmt.Errorf("%s has what these operations say already", s.remote.Name), "reverie sync brings it here")
	}
	if err == nil {
		return p, s.clearProposing(ctx)
	}
	if undecidable(err) {
		err = exit.New(exit.NeedsPerson, fmt.Errorf("propose to %s: %w", s.remote.Name, err), "its branch says something else there: look with reverie show ID, or name the others")
	}
	return p, errors.Join(err, s.clearProposing(ctx))
}

// clearProposing removes the store in which proposals are made.
func (s *syncer) clearProposing(ctx context.Context) error {
	id, err := s.w.Repo.ReadRef(ctx, proposingRef)
	if errors.Is(err, git.ErrNoRef) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.w.Repo.DeleteRef(ctx, proposingRef, id)
}
