package share

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// folder holds the branches of proposals on a remote.
const folder = "reverie/proposal/"

// proposals are the branches published for a review of changes to the memory branch. There are two
// kinds: our branch itself, for a server that refuses it, and chosen operations of the inbox.
type proposals struct {
	*lane                          // the memory branch
	heads    map[string]string     // the remote's branches of proposals, once they were read
	reworded map[string][]Reworded // by branch of a proposal
}

// branch pushes our tip as a proposal to a remote that takes no pushes of the branch. One such
// proposal is open at a time and moves on with our tip. Nothing is proposed that theirs has.
func (p *proposals) branch(ctx context.Context, tip, theirs gitstore.ID) error {
	tree, err := treeOf(ctx, p.store, tip)
	if err != nil {
		return err
	}
	have, err := treeOf(ctx, p.store, theirs)
	if err != nil || tree == have {
		return err
	}
	if held, err := p.undecided(ctx, theirs); held > 0 || err != nil {
		p.o.Report(UndecidedHere{held})
		return err
	}
	name, old := folder+"sync-"+string(tip[:8]), gitstore.ID("")
	if open := p.known.Own(); open != nil {
		descends, err := p.c.Repo.History().IsAncestor(ctx, string(open.Commit), string(tip))
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
	next := remotes.Proposal{Branch: name, Commit: tip, Tree: tree, Base: theirs}
	moved, err := p.push(ctx, &next, old)
	if err == nil && !moved && old != "" {
		moved, err = p.follow(ctx, &next)
	}
	if err == nil && !moved {
		err = branchExists(p.remote.Name, next.Branch)
	}
	if err != nil {
		return err
	}
	if open := p.known.Own(); open != nil {
		p.known.Drop(open.Branch)
	}
	return p.opened(next)
}

func branchExists(remote, branch string) error {
	return fmt.Errorf("push to %s: a branch %s is there already", remote, branch)
}

// undecided counts the memories that are contested here and not there. A reviewer who changed the
// words of a proposal meant them: to propose both texts again would ask the same question.
func (p *proposals) undecided(ctx context.Context, theirs gitstore.ID) (n int, err error) {
	err = p.c.Book.View(ctx, func(v *record.View) error {
		return p.store.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
			for _, m := range Contested(v) {
				if m.Private {
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

// follow updates our proposal after another person moved or deleted its branch. It merges a
// reviewer's additions, and replaces a deleted branch.
func (p *proposals) follow(ctx context.Context, next *remotes.Proposal) (moved bool, err error) {
	at := p.laneOf(*next)
	if err := p.c.Repo.Refs().ClearLock(at.fresh()); err != nil {
		return false, err
	}
	id, err := p.remote.Fetch(ctx, at.ref, at.fresh())
	if errors.Is(err, git.ErrNoRemoteRef) {
		p.o.Report(ProposalGone{next.Branch, p.remote.Name})
		next.Branch = folder + "sync-" + string(next.Commit[:8])
		return p.push(ctx, next, "")
	}
	if err != nil {
		return false, explainFetch(err)
	}
	p.o.Report(ProposalMerged{next.Branch, p.remote.Name})
	m, err := p.c.Book.Merge(ctx, gitstore.ID(id), gitstore.Commit{Subject: "merge: " + next.Branch + " of " + p.remote.Name}, p.accept)
	if err != nil {
		return false, p.explainMerge(err)
	}
	if _, err := p.out.add(ctx, p.store, m, gitstore.ID(id)); err != nil {
		return false, err
	}
	next.Commit, next.Tree, p.out.Commit = m.Commit, m.Tree, string(m.Commit)
	return p.push(ctx, next, gitstore.ID(id))
}

// laneOf returns the lane by which a proposal's branch is fetched.
func (p *proposals) laneOf(next remotes.Proposal) *lane {
	return &lane{session: p.session, name: "proposal/memory", ref: "refs/heads/" + next.Branch, store: p.store}
}

// push pushes a proposal's commit to its branch, which is expected at old. It reports false if the
// branch is elsewhere.
func (p *proposals) push(ctx context.Context, next *remotes.Proposal, old gitstore.ID) (moved bool, err error) {
	report, err := p.remote.Push(ctx, git.Update{Ref: "refs/heads/" + next.Branch, ID: string(next.Commit), Old: string(old)})
	if err != nil {
		return false, explainPush(err)
	}
	switch pushed := report.Refs[0]; pushed.Outcome {
	case git.LostRace:
		return false, nil
	case git.Broken:
		return false, p.broken(pushed, report)
	case git.Refused:
		p.quote(report)
		return false, exit.New(exit.NeedsPerson, fmt.Errorf("push to %s: it refuses the proposal %s too: %s", p.remote.Name, next.Branch, pushed.Reason),
			"ask the remote's maintainer what you may push; everything is kept here")
	}
	next.URL = compareURL(p.remote.PushURL, p.c.Branch(), next.Branch)
	return true, nil
}

// opened remembers a proposal that was just published.
func (p *proposals) opened(next remotes.Proposal) error {
	next.Time = p.c.Now().UTC()
	p.known.Proposals = append(p.known.Proposals, next)
	p.note(next, "proposed")
	return p.file.Save()
}

// note puts a proposal into the result, once.
func (p *proposals) note(of remotes.Proposal, state string) {
	if of.Closed && state == "open" {
		return
	}
	for _, told := range p.done.Proposals {
		if told.Branch == of.Branch {
			return
		}
	}
	ops := of.Ops
	if ops == nil {
		ops = []string{}
	}
	p.done.Proposals = append(p.done.Proposals, ProposalResult{Branch: of.Branch, Commit: string(of.Tip()), URL: of.URL, Operations: ops, State: state, Reworded: p.reworded[of.Branch], Base: of.On()})
}
