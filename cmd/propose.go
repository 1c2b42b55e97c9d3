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

// proposeBranch pushes our tip as a proposal to a remote that takes no pushes of the branch. One
// proposal is open at a time: it is moved on as ours does, and nothing is proposed that theirs has.
func (s *syncer) proposeBranch(ctx context.Context, l lane, tip, theirs gitstore.ID) error {
	tree, err := s.treeOf(ctx, l, tip)
	if err != nil {
		return err
	}
	have, err := s.treeOf(ctx, l, theirs)
	if err != nil || tree == have {
		return err
	}
	if held, err := s.undecided(ctx, l, theirs); held > 0 || err != nil {
		s.w.env.say("nothing is proposed while %s undecided here; next: reverie conflicts", count(held, "memory is", "memories are"))
		return err
	}
	name, old := proposalFolder+"sync-"+string(tip[:8]), gitstore.ID("")
	if open := s.known.own(); open != nil {
		if open.Commit == tip || open.Tree == tree {
			return nil // nothing to add to it, or it was closed as it is
		}
		descends, err := s.w.repo.IsAncestor(ctx, string(open.Commit), string(tip))
		if err != nil {
			return err
		}
		if descends && !open.Closed {
			name, old = open.Branch, open.Commit
		}
	}
	p := proposal{Branch: name, Commit: tip, Tree: tree, Base: theirs}
	moved, err := s.pushProposal(ctx, &p, old)
	if err == nil && !moved && old != "" {
		moved, err = s.follow(ctx, l, &p)
	}
	if err == nil && !moved {
		err = fmt.Errorf("push to %s: a branch %s is there already", s.remote.Name, p.Branch)
	}
	if err != nil {
		return err
	}
	if open := s.known.own(); open != nil {
		s.known.drop(open.Branch)
	}
	return s.opened(p)
}

// undecided counts the memories that are contested here and not there. A reviewer who changed the words of what
// was proposed meant them: proposing both again would ask the same question.
func (s *syncer) undecided(ctx context.Context, l lane, theirs gitstore.ID) (n int, err error) {
	err = s.w.book.View(ctx, func(v *record.View) error {
		return l.store.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
			for _, m := range v.Memories() {
				if m.Status != record.Contested || m.Private {
					continue
				}
				there, err := t.Stat(m.Path())
				if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
					return err
				}
				if here, _ := v.Blob(m.ID); here != there {
					n++
				}
			}
			return nil
		})
	})
	return n, err
}

// follow is for a proposal's branch that somebody else moved or deleted. What a reviewer added to it is
// merged here and the branch moved on from there; in the place of a deleted one there is a new one.
func (s *syncer) follow(ctx context.Context, l lane, p *proposal) (moved bool, err error) {
	at := lane{name: "proposal", ref: "refs/heads/" + p.Branch, store: l.store}
	if err := s.w.repo.ClearRefLock(s.fresh(at)); err != nil {
		return false, err
	}
	id, err := s.remote.Fetch(ctx, at.ref, s.fresh(at))
	if errors.Is(err, git.ErrNoRemoteRef) {
		s.w.env.say("%s is gone from %s: a new proposal takes its place", p.Branch, s.remote.Name)
		p.Branch = proposalFolder + "sync-" + string(p.Commit[:8])
		return s.pushProposal(ctx, p, "")
	}
	if err != nil {
		return false, explainFetch(err)
	}
	s.w.env.say("somebody added to %s on %s: merged", p.Branch, s.remote.Name)
	m, err := s.w.book.Merge(ctx, gitstore.ID(id), gitstore.Commit{Subject: "merge: " + p.Branch + " of " + s.remote.Name}, s.accept)
	if err != nil {
		return false, s.explainMerge(err)
	}
	if err := s.tally(ctx, l, m.Old, m.Commit); err != nil {
		return false, err
	}
	p.Commit, p.Tree, l.out.Commit = m.Commit, m.Tree, string(m.Commit)
	return s.pushProposal(ctx, p, gitstore.ID(id))
}

// pushProposal pushes a proposal's commit to its branch, which is expected at old. It reports false
// if the branch is elsewhere.
func (s *syncer) pushProposal(ctx context.Context, p *proposal, old gitstore.ID) (moved bool, err error) {
	report, err := s.remote.Push(ctx, git.Update{Ref: "refs/heads/" + p.Branch, ID: string(p.Commit), Old: string(old)})
	if err != nil {
		return false, explainPush(err)
	}
	switch pushed := report.Refs[0]; pushed.Outcome {
	case git.LostRace:
		return false, nil
	case git.Broken:
		return false, s.broken(pushed, report)
	case git.Refused:
		s.quote(report)
		return false, &failure{exitPerson, fmt.Errorf("push to %s: it refuses the proposal %s too: %s", s.remote.Name, p.Branch, pushed.Reason),
			"ask whoever keeps the remote what may be pushed; everything is kept here"}
	}
	p.URL = compareURL(s.remote.PushURL, s.w.branch(), p.Branch)
	return true, nil
}

// opened remembers a proposal that was published now.
func (s *syncer) opened(p proposal) error {
	p.Time = s.w.env.Now().UTC()
	s.known.Proposals = append(s.known.Proposals, p)
	s.note(p, "proposed")
	return s.all.save()
}

func (s *syncer) treeOf(ctx context.Context, l lane, at gitstore.ID) (tree gitstore.ID, err error) {
	err = l.store.ViewAt(ctx, string(at), func(t *gitstore.Tree) error { tree = t.ID(); return nil })
	return tree, err
}

// settle drops the proposals whose content the remote's branch has now, and takes their operations out of
// the inbox. Only content decides: a squash or a rebase leaves no commit to recognise.
func (s *syncer) settle(ctx context.Context, l lane, tip, theirs gitstore.ID) error {
	if theirs == "" || len(s.known.Proposals) == 0 {
		return nil
	}
	before := slices.Clone(s.known.Proposals)
	for _, p := range before {
		landed, err := s.landed(ctx, l, p, tip, theirs)
		if err != nil {
			return err
		}
		if landed {
			s.known.drop(p.Branch)
			s.note(p, "landed")
		}
	}
	if len(before) == len(s.known.Proposals) {
		return nil
	}
	return s.all.save()
}

func (s *syncer) landed(ctx context.Context, l lane, p proposal, tip, theirs gitstore.ID) (bool, error) {
	if p.Ops != nil {
		return s.opsLanded(ctx, l, p, theirs)
	}
	if tip == theirs {
		return true, nil
	}
	have, err := s.treeOf(ctx, l, theirs)
	if err != nil {
		return false, err
	}
	if tree, err := s.treeOf(ctx, l, tip); err != nil || tree == have {
		return err == nil, err
	}
	missing := false
	err = l.store.ViewAt(ctx, string(theirs), func(now *gitstore.Tree) error {
		base, err := s.treeOf(ctx, l, p.Base)
		if err != nil {
			return err
		}
		return l.store.ViewAt(ctx, string(p.Commit), func(proposed *gitstore.Tree) error {
			return proposed.Diff(base, func(c gitstore.Change) error {
				id, err := now.Stat(c.Path)
				if errors.Is(err, gitstore.ErrNotFound) {
					id, err = "", nil
				}
				missing = missing || id != c.New
				return err
			})
		})
	})
	return !missing, err
}

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
