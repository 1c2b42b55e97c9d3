package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
)

// proposalsLane names proposals of operations in remotes.Remote.Published: consent to them is not
// consent to publish the branch.
const proposalsLane = "proposals"

// scratchRef is the store in which a proposal of operations is made. It exists only meanwhile.
const scratchRef = "refs/reverie/proposals/new"

// propose publishes operations of the inbox as a branch: one commit on top of the remote's tip,
// after the branch was brought together with it. They stay in the inbox until they land or are
// decided here.
func (p *proposals) propose(ctx context.Context) error {
	if p.remote.NoPush != nil {
		return ExplainRemote(p.remote.NoPush)
	}
	at := p.seen()
	if p.o.DryRun {
		at = p.fresh()
	}
	theirs, err := p.c.Repo.Refs().Read(ctx, at)
	if errors.Is(err, git.ErrNoRef) {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%s has no branch %s yet to propose a change of", p.remote.Name, p.c.Branch()), "publish it first: reverie sync "+p.remote.Name)
	}
	if err != nil {
		return err
	}
	ops, err := p.proposable(ctx)
	if err != nil || len(ops) == 0 {
		return err
	}
	if p.o.DryRun {
		p.done.Proposing = ops
		p.note(proposalOf(ops, gitstore.ID(theirs)), "would propose")
		return nil
	}
	if !p.known.Agreed(p.name, p.remote.PushURL) && !p.known.Agreed(proposalsLane, p.remote.PushURL) {
		if err := p.agree(proposalsLane, plural.Count(len(ops), "pending operation", "pending operations")+" as a proposal"); err != nil {
			return err
		}
	}
	next, err := p.build(ctx, ops, gitstore.ID(theirs))
	if err != nil {
		return err
	}
	moved, err := p.push(ctx, &next, "")
	if err == nil && !moved {
		next.Branch += "-" + string(next.Commit[:4])
		if moved, err = p.push(ctx, &next, ""); err == nil && !moved {
			err = branchExists(p.remote.Name, next.Branch)
		}
	}
	if err != nil {
		return err
	}
	// git fails if the setting is missing.
	specs, err := p.c.Repo.Git(ctx, nil, "config", "--get-all", "remote."+p.remote.Name+".fetch")
	p.done.Tracked = err == nil && slices.Contains(strings.Fields(string(specs)), "+refs/heads/*:refs/remotes/"+p.remote.Name+"/*")
	return p.opened(next)
}

// proposable picks the operations to propose: the named ones, or all that are not private and were
// not proposed before.
func (p *proposals) proposable(ctx context.Context) ([]record.Operation, error) {
	var ops []record.Operation
	named := len(p.o.Operations) > 0
	err := p.c.View(ctx, func(v *record.View, _ clone.Team) error {
		pending, err := p.pending(v)
		if err != nil || !named {
			ops = pending
			return err
		}
		for _, id := range p.o.Operations {
			o, err := record.FindOperation(pending, id)
			if _, rerr := p.c.Repo.Remote(ctx, id, ""); rerr == nil && errors.Is(err, record.ErrNoMemory) {
				return exit.New(exit.BadUsage, err, "operations are named here, and a remote so: reverie sync --propose --remote "+id)
			}
			if err != nil {
				return err
			}
			ops = append(ops, o)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []record.Operation
	for _, o := range ops {
		at := slices.IndexFunc(p.known.Proposals, func(q remotes.Proposal) bool { return slices.Contains(q.Ops, o.ID) })
		switch {
		case o.Private && named:
			return nil, exit.New(exit.NeedsPerson, fmt.Errorf("operation %s is private", o.ID), "accept it here instead: reverie accept "+o.ID)
		case o.Private:
		case at >= 0 && !(named && p.known.Proposals[at].Closed):
			p.o.Report(ProposedBefore{o.ID, p.known.Proposals[at].Branch, p.known.Proposals[at].Closed})
		default:
			if at >= 0 {
				p.known.Drop(p.known.Proposals[at].Branch)
			}
			out = append(out, o)
		}
	}
	if len(ops) == 0 {
		p.o.Report(NothingPending{})
	}
	return out, nil
}

// proposalOf names a proposal of operations, on top of the remote's tip.
func proposalOf(ops []record.Operation, theirs gitstore.ID) remotes.Proposal {
	p := remotes.Proposal{Branch: folder + ops[0].ID[:8], Base: theirs}
	if len(ops) > 1 {
		p.Branch += fmt.Sprintf("-and-%d", len(ops)-1)
	}
	for _, o := range ops {
		p.Ops = append(p.Ops, o.ID)
	}
	return p
}

// build makes the commit of a proposal, in a store of its own that begins at the remote's tip.
func (p *proposals) build(ctx context.Context, ops []record.Operation, theirs gitstore.ID) (remotes.Proposal, error) {
	next := proposalOf(ops, theirs)
	ctx, unlock, err := p.store.Lock(ctx)
	if err != nil {
		return next, err
	}
	defer unlock()
	if err := p.clearScratch(ctx); err != nil { // left by a killed sync
		return next, err
	}
	store := gitstore.Open(p.c.Repo, scratchRef)
	if _, err := store.Adopt(ctx, p.seen()); err != nil {
		return next, err
	}
	err = p.book(store).Update(ctx, func(tx *record.Tx) error {
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
		next.Commit, err = store.Tip(ctx)
	}
	if err == nil {
		next.Tree, err = treeOf(ctx, p.store, next.Commit)
	}
	if err == nil && next.Commit == theirs {
		err = exit.New(exit.NeedsPerson, fmt.Errorf("%s has what these operations say already", p.remote.Name), "reverie sync brings it here")
	}
	if record.Undecidable(err) {
		err = exit.New(exit.NeedsPerson, fmt.Errorf("propose to %s: %w", p.remote.Name, err), "its branch says something else there: look with reverie show ID, or name the others")
	}
	return next, errors.Join(err, p.clearScratch(ctx))
}

// clearScratch removes the store in which proposals are made.
func (p *proposals) clearScratch(ctx context.Context) error {
	return gitstore.Open(p.c.Repo, scratchRef).Discard(ctx)
}

// refresh merges the remote's newest tip into the open proposals of operations. Operations of one
// session share the file of its reflection. A forge that merges two versions of that as text finds
// a conflict that our merge rules do not have.
func (p *proposals) refresh(ctx context.Context) error {
	id, err := p.c.Repo.Refs().Read(ctx, p.seen())
	if errors.Is(err, git.ErrNoRef) {
		return nil
	}
	if err != nil {
		return err
	}
	theirs := gitstore.ID(id)
	for i := range p.known.Proposals {
		open := &p.known.Proposals[i]
		head := gitstore.ID(p.heads["refs/heads/"+open.Branch])
		if open.Ops == nil || open.Closed || head == "" || head == open.Tip() && open.On() == theirs {
			continue
		}
		now := *open
		moved, failed := p.refreshOne(ctx, &now, theirs)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if moved || failed != nil {
			p.o.Report(Refreshed{open.Branch, p.c.Branch(), p.remote.Name, failed})
		}
		if failed != nil {
			continue
		}
		*open = now
		if err := p.file.Save(); err != nil {
			return err
		}
	}
	return nil
}

// refreshOne merges the remote's tip into one proposal, as the remote has that, and moves its
// branch on. It reports false where there was nothing to do, or another clone moved it.
func (p *proposals) refreshOne(ctx context.Context, open *remotes.Proposal, theirs gitstore.ID) (moved bool, err error) {
	at := p.laneOf(*open)
	if err := p.c.Repo.Refs().ClearLock(at.fresh()); err != nil {
		return false, err
	}
	head, err := p.remote.Fetch(ctx, at.ref, at.fresh())
	if err != nil {
		return false, err
	}
	merged, err := p.mergeInto(ctx, at, gitstore.ID(head), theirs, head != string(open.Tip()))
	err = errors.Join(err, p.c.Repo.Refs().Delete(ctx, at.fresh(), head))
	if err != nil || merged == "" {
		return false, err
	}
	if open.Head, open.With = merged, theirs; string(merged) == head {
		return false, nil
	}
	next := *open
	next.Commit = merged
	moved, err = p.push(ctx, &next, gitstore.ID(head))
	if err == nil && !moved {
		err = errors.New("another process is changing it; the next sync does it")
	}
	return moved, err
}

// mergeInto merges theirs into a proposal at head and returns the commit. That is head if it has
// theirs already, and empty if nothing remains to propose. It first checks commits that others
// added.
func (p *proposals) mergeInto(ctx context.Context, at *lane, head, theirs gitstore.ID, added bool) (gitstore.ID, error) {
	if has, err := p.c.Repo.History().IsAncestor(ctx, string(theirs), string(head)); has || err != nil {
		return head, err
	}
	ctx, unlock, err := p.store.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if added {
		have, err := treeOf(ctx, p.store, theirs)
		if err == nil {
			err = p.store.ViewAt(ctx, string(head), func(t *gitstore.Tree) error { _, err := t.Admit(have); return err })
		}
		if err != nil {
			return "", refusedEntries(err, p.remote.Name)
		}
	}
	if err := p.clearScratch(ctx); err != nil { // left by a killed sync
		return "", err
	}
	store := gitstore.Open(p.c.Repo, scratchRef)
	_, err = store.Adopt(ctx, at.fresh())
	var m gitstore.Merged
	if err == nil {
		message := gitstore.Commit{Subject: fmt.Sprintf("merge: %s of %s", p.c.Branch(), p.remote.Name), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "propose"}}}
		m, err = p.book(store).Merge(ctx, theirs, message, nil)
	}
	if err = errors.Join(err, p.clearScratch(ctx)); err != nil || m.Way != gitstore.Joined {
		return "", err
	}
	return m.Commit, nil
}
