package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
)

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
		s.w.env.Say("nothing is proposed while %s undecided here; next: reverie conflicts", term.Count(held, "memory is", "memories are"))
		return err
	}
	name, old := proposalFolder+"sync-"+string(tip[:8]), gitstore.ID("")
	if open := s.known.Own(); open != nil {
		descends, err := s.w.Repo.IsAncestor(ctx, string(open.Commit), string(tip))
		if err != nil {
			return err
		}
		// A forge that merges as text needs theirs in the proposal even where that changes nothing.
		behind := descends && !open.Closed && open.Base != theirs
		if open.Commit == tip || open.Tree == tree && !behind {
			return nil // nothing to add to it, or it was closed as it is
		}
		if descends && !open.Closed {
			name, old = open.Branch, open.Commit
		}
	}
	p := remotes.Proposal{Branch: name, Commit: tip, Tree: tree, Base: theirs}
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
	if open := s.known.Own(); open != nil {
		s.known.Drop(open.Branch)
	}
	return s.opened(p)
}

// undecided counts the memories that are contested here and not there. A reviewer who changed the words of what
// was proposed meant them: proposing both again would ask the same question.
func (s *syncer) undecided(ctx context.Context, l lane, theirs gitstore.ID) (n int, err error) {
	err = s.w.Book.View(ctx, func(v *record.View) error {
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
func (s *syncer) follow(ctx context.Context, l lane, p *remotes.Proposal) (moved bool, err error) {
	at := lane{name: "proposal/memory", ref: "refs/heads/" + p.Branch, store: l.store}
	if err := s.w.Repo.ClearRefLock(s.fresh(at)); err != nil {
		return false, err
	}
	id, err := s.remote.Fetch(ctx, at.ref, s.fresh(at))
	if errors.Is(err, git.ErrNoRemoteRef) {
		s.w.env.Say("%s is gone from %s: a new proposal takes its place", p.Branch, s.remote.Name)
		p.Branch = proposalFolder + "sync-" + string(p.Commit[:8])
		return s.pushProposal(ctx, p, "")
	}
	if err != nil {
		return false, explainFetch(err)
	}
	s.w.env.Say("somebody added to %s on %s: merged", p.Branch, s.remote.Name)
	m, err := s.w.Book.Merge(ctx, gitstore.ID(id), gitstore.Commit{Subject: "merge: " + p.Branch + " of " + s.remote.Name}, s.accept)
	if err != nil {
		return false, s.explainMerge(err)
	}
	if _, err := l.out.tally(ctx, l.store, m); err != nil {
		return false, err
	}
	if err := l.out.overrule(ctx, l.store, m, gitstore.ID(id)); err != nil {
		return false, err
	}
	p.Commit, p.Tree, l.out.Commit = m.Commit, m.Tree, string(m.Commit)
	return s.pushProposal(ctx, p, gitstore.ID(id))
}

// pushProposal pushes a proposal's commit to its branch, which is expected at old. It reports false
// if the branch is elsewhere.
func (s *syncer) pushProposal(ctx context.Context, p *remotes.Proposal, old gitstore.ID) (moved bool, err error) {
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
		return false, exit.New(exit.NeedsPerson, fmt.Errorf("push to %s: it refuses the proposal %s too: %s", s.remote.Name, p.Branch, pushed.Reason),
			"ask whoever keeps the remote what may be pushed; everything is kept here")
	}
	p.URL = compareURL(s.remote.PushURL, s.w.Branch(), p.Branch)
	return true, nil
}

// opened remembers a proposal that was published now.
func (s *syncer) opened(p remotes.Proposal) error {
	p.Time = s.w.env.Now().UTC()
	s.known.Proposals = append(s.known.Proposals, p)
	s.note(p, "proposed")
	return s.all.Save()
}

func (s *syncer) treeOf(ctx context.Context, l lane, at gitstore.ID) (tree gitstore.ID, err error) {
	err = l.store.ViewAt(ctx, string(at), func(t *gitstore.Tree) error { tree = t.ID(); return nil })
	return tree, err
}

// landed reports whether the remote's branch says what the proposal of ours would have it say.
func (s *syncer) landed(ctx context.Context, l lane, p remotes.Proposal, tip, theirs gitstore.ID) (bool, error) {
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
	return s.contentLanded(ctx, l, p, theirs)
}

// contentLanded reports whether the remote's branch has every file that a proposal changes as that has it.
func (s *syncer) contentLanded(ctx context.Context, l lane, p remotes.Proposal, theirs gitstore.ID) (bool, error) {
	if !s.w.Repo.Whole(ctx, string(p.Commit)) { // no ref of ours keeps it
		return false, nil
	}
	missing := false
	err := l.store.ViewAt(ctx, string(theirs), func(now *gitstore.Tree) error {
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
