package share

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
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

// settle drops decided proposals and removes their operations from the inbox. Only content tells
// whether one has landed: a squash or a rebase leaves no commit to recognise. A proposal whose
// branch is gone without that is closed.
func (p *proposals) settle(ctx context.Context, tip, theirs gitstore.ID) error {
	if theirs == "" || len(p.known.Proposals) == 0 {
		return nil
	}
	closed, err := p.closed(ctx)
	if err != nil {
		return err
	}
	for _, of := range slices.Clone(p.known.Proposals) {
		fate := "open"
		if of.Ops != nil {
			fate, err = p.decideOperations(ctx, of, theirs)
		} else if landed, lerr := p.landed(ctx, of, tip, theirs); landed || lerr != nil {
			fate, err = "landed", lerr
		}
		if err == nil && fate == "landed" && of.Ops != nil {
			err = p.c.Judge.ApproveProposed(ctx, of.Commit, of.Base, theirs)
		}
		switch {
		case err != nil:
			return err
		case fate == "open":
			if slices.Contains(closed, of.Branch) {
				p.note(of, "closed")
			}
			continue
		case fate == "withdrawn" && of.Closed: // by both
		default:
			p.note(of, fate)
		}
		p.known.Drop(of.Branch)
	}
	return p.file.Save()
}

// closed reads which branches of proposals the remote has, and returns the ones that are gone since
// the last sync. Their operations may be proposed again by name.
func (p *proposals) closed(ctx context.Context) (now []string, err error) {
	if !slices.ContainsFunc(p.known.Proposals, func(of remotes.Proposal) bool { return !of.Closed }) {
		return nil, nil
	}
	refs, err := p.remote.Refs(ctx, "refs/heads/"+folder)
	if err != nil {
		return nil, explainFetch(err)
	}
	p.heads = refs.Refs
	for i := range p.known.Proposals {
		if of := &p.known.Proposals[i]; !of.Closed && p.heads["refs/heads/"+of.Branch] == "" {
			of.Closed = true
			now = append(now, of.Branch)
		}
	}
	return now, nil
}

// landed reports whether the remote's branch has the content of our proposal of the branch.
func (p *proposals) landed(ctx context.Context, of remotes.Proposal, tip, theirs gitstore.ID) (bool, error) {
	if tip == theirs {
		return true, nil
	}
	have, err := treeOf(ctx, p.store, theirs)
	if err != nil {
		return false, err
	}
	if tree, err := treeOf(ctx, p.store, tip); err != nil || tree == have {
		return err == nil, err
	}
	return p.contentLanded(ctx, of, theirs)
}

// contentLanded reports whether the remote's branch has every file that a proposal changes, with
// the proposal's content.
func (p *proposals) contentLanded(ctx context.Context, of remotes.Proposal, theirs gitstore.ID) (bool, error) {
	if !p.c.Repo.History().Whole(ctx, string(of.Commit)) { // none of our refs keeps it
		return false, nil
	}
	missing := false
	err := p.store.ViewAt(ctx, string(theirs), func(now *gitstore.Tree) error {
		base, err := treeOf(ctx, p.store, of.Base)
		if err != nil {
			return err
		}
		return p.store.ViewAt(ctx, string(of.Commit), func(proposed *gitstore.Tree) error {
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

// decideOperations returns the fate of a proposal of operations: landed, withdrawn or open.
// Operations that the remote's branch decided leave the inbox, even if it reworded them.
func (p *proposals) decideOperations(ctx context.Context, of remotes.Proposal, theirs gitstore.ID) (fate string, err error) {
	decided, waiting, rejected, err := p.decided(ctx, of, theirs)
	if err == nil && len(decided) > 0 {
		var notes []string
		notes, err = p.c.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
			for _, id := range decided {
				tx.DropOperation(id)
			}
			what := plural.Count(len(decided), "operation was accepted in a pull request", "operations were accepted in a pull request")
			tx.Describe(gitstore.Commit{Subject: "sync: " + what, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "sync"}}})
			return nil
		})
		p.said(notes...)
	}
	switch {
	case err != nil:
		return "", err
	case waiting:
		return "open", nil
	case rejected && len(decided) == 0:
		landed, err := p.contentLanded(ctx, of, theirs)
		if err != nil || !landed {
			return "withdrawn", err
		}
	}
	return "landed", nil
}

// decided returns the pending operations of a proposal that the remote's branch decided. It reports
// whether others wait, and whether a person rejected one here.
func (p *proposals) decided(ctx context.Context, of remotes.Proposal, theirs gitstore.ID) (ids []string, waiting, rejected bool, err error) {
	err = p.c.Book.View(ctx, func(v *record.View) error {
		pending, err := p.pending(v)
		if err != nil {
			return err
		}
		no, err := v.Inbox().Rejections()
		if err := p.tolerate(err); err != nil {
			return err
		}
		rejected = slices.ContainsFunc(no, func(r record.Rejection) bool { return slices.Contains(of.Ops, r.ID) })
		for _, o := range pending {
			if !slices.Contains(of.Ops, o.ID) {
				continue
			}
			there, reworded, err := decidedThere(ctx, p.store, of, o, theirs)
			if err != nil {
				return err
			}
			if !there {
				waiting = true
				continue
			}
			ids = append(ids, o.ID)
			if reworded != nil {
				p.reworded[of.Branch] = append(p.reworded[of.Branch], *reworded)
			}
		}
		return nil
	})
	return ids, waiting, rejected, err
}

// decidedThere reports whether the remote's branch has decided a proposed operation. It has if the
// content is equal. Different content counts if the proposal's base lacked the file. Otherwise
// another person may have changed the file, so it counts only once the proposal's branch is gone.
func decidedThere(ctx context.Context, s *gitstore.Store, of remotes.Proposal, o record.Operation, theirs gitstore.ID) (yes bool, reworded *Reworded, err error) {
	if o.Op == record.Skill {
		return skillThere(ctx, s, of, o, theirs)
	}
	var now gitstore.ID
	var m record.Memory
	err = s.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
		data, err := t.Read(o.Path)
		if err == nil {
			now, err = t.Stat(o.Path)
		}
		if err == nil {
			m, err = record.ParseMemory(o.Path, data)
		}
		return err
	})
	var unreadable *record.FormatError
	switch {
	case errors.Is(err, gitstore.ErrNotFound), errors.As(err, &unreadable):
		return false, nil, nil
	case err != nil:
		return false, nil, err
	case m.Text == o.Memory.Text && m.Body == o.Memory.Body && m.Status == o.Memory.Status:
		return true, nil, nil
	}
	var was gitstore.ID
	err = s.ViewAt(ctx, string(of.On()), func(t *gitstore.Tree) error {
		was, err = t.Stat(o.Path)
		return err
	})
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return false, nil, err
	}
	if was != "" && (was == now || !of.Closed) {
		return false, nil, nil
	}
	return true, &Reworded{Operation: o.ID, Proposed: wording(o.Memory), Landed: wording(m)}, nil
}

// skillThere is decidedThere for a skill. Other words count only once the proposal's branch is
// gone.
func skillThere(ctx context.Context, s *gitstore.Store, of remotes.Proposal, o record.Operation, theirs gitstore.ID) (yes bool, reworded *Reworded, err error) {
	var data []byte
	err = s.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
		data, err = t.Read(o.Path)
		return err
	})
	switch {
	case errors.Is(err, gitstore.ErrNotFound):
		return false, nil, nil
	case err != nil:
		return false, nil, err
	case string(data) == o.File:
		return true, nil, nil
	case !of.Closed:
		return false, nil, nil
	}
	return true, &Reworded{Operation: o.ID, Proposed: o.File, Landed: string(data)}, nil
}

// wording returns the text of a memory, and its status unless that is active.
func wording(m record.Memory) string {
	text := m.Text
	if m.Body != "" {
		text += "\n\n" + m.Body
	}
	if m.Status != record.Active {
		text += "\n\n(" + string(m.Status) + ")"
	}
	return text
}
