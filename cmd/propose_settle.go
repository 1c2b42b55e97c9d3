package cmd

import (
	"context"
	"errors"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/config"
)

// rewordedJSON is an operation that a reviewer let in with other words.
type rewordedJSON struct {
	Operation string `json:"operation"`
	Proposed  string `json:"proposed"`
	Landed    string `json:"landed"`
}

// settle drops the proposals that are decided, and takes their operations out of the inbox. Whether one has landed
// only content says: a squash or a rebase leaves no commit to recognise. Those whose branch is gone without that
// are closed.
func (s *syncer) settle(ctx context.Context, l lane, tip, theirs gitstore.ID) error {
	if theirs == "" || len(s.known.Proposals) == 0 {
		return nil
	}
	closed, err := s.closed(ctx)
	if err != nil {
		return err
	}
	for _, p := range slices.Clone(s.known.Proposals) {
		fate := "open"
		if p.Ops != nil {
			fate, err = s.decideOps(ctx, l, p, theirs)
		} else if landed, lerr := s.landed(ctx, l, p, tip, theirs); landed || lerr != nil {
			fate, err = "landed", lerr
		}
		if err == nil && fate == "landed" && p.Ops != nil {
			err = s.w.Judge.ApproveProposed(ctx, p.Commit, p.Base, theirs)
		}
		switch {
		case err != nil:
			return err
		case fate == "open":
			if slices.Contains(closed, p.Branch) {
				s.note(p, "closed")
			}
			continue
		case fate == "withdrawn" && p.Closed: // by both
		default:
			s.note(p, fate)
		}
		s.known.Drop(p.Branch)
	}
	return s.all.Save()
}

// closed looks which branches of proposals the remote has, and returns those that are gone since the last time. What
// they proposed may be proposed again when it is named.
func (s *syncer) closed(ctx context.Context) (now []string, err error) {
	if !slices.ContainsFunc(s.known.Proposals, func(p remotes.Proposal) bool { return !p.Closed }) {
		return nil, nil
	}
	refs, err := s.remote.Refs(ctx, "refs/heads/"+proposalFolder)
	if err != nil {
		return nil, explainFetch(err)
	}
	s.heads = refs.Refs
	for i := range s.known.Proposals {
		if p := &s.known.Proposals[i]; !p.Closed && s.heads["refs/heads/"+p.Branch] == "" {
			p.Closed = true
			now = append(now, p.Branch)
		}
	}
	return now, nil
}

// decideOps finds out what became of a proposal of operations: landed, withdrawn or open. Those of its operations
// that the remote's branch decided leave the inbox, in the words that were proposed or in others.
func (s *syncer) decideOps(ctx context.Context, l lane, p remotes.Proposal, theirs gitstore.ID) (fate string, err error) {
	var decided []string
	waiting, rejected := 0, false
	err = s.w.Book.View(ctx, func(v *record.View) error {
		pending, err := s.w.pending(v)
		if err != nil {
			return err
		}
		no, err := v.Rejections()
		if err := s.w.Tolerate(err); err != nil {
			return err
		}
		rejected = slices.ContainsFunc(no, func(r record.Rejection) bool { return slices.Contains(p.Ops, r.ID) })
		for _, o := range pending {
			if !slices.Contains(p.Ops, o.ID) {
				continue
			}
			there, reworded, err := s.decidedThere(ctx, l, p, o, theirs)
			if err != nil {
				return err
			}
			if !there {
				waiting++
				continue
			}
			decided = append(decided, o.ID)
			if reworded != nil {
				s.reworded[p.Branch] = append(s.reworded[p.Branch], *reworded)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(decided) > 0 {
		err = s.w.update(ctx, func(tx *record.Tx, _ config.Config) error {
			for _, id := range decided {
				tx.DropOperation(id)
			}
			return nil
		})
	}
	switch {
	case err != nil:
		return "", err
	case waiting > 0:
		return "open", nil
	case rejected && len(decided) == 0:
		landed, err := s.contentLanded(ctx, l, p, theirs)
		if err != nil || !landed {
			return "withdrawn", err
		}
	}
	return "landed", nil
}

// decidedThere reports whether the remote's branch has decided a proposed operation. It has when it says what was
// proposed. In other words it has when it holds a file that was not there when it was proposed; one that was there
// may have been changed by anybody, so that it counts only once the proposal's branch is gone.
func (s *syncer) decidedThere(ctx context.Context, l lane, p remotes.Proposal, o record.Operation, theirs gitstore.ID) (yes bool, reworded *rewordedJSON, err error) {
	if o.Op == record.Skill {
		return s.skillThere(ctx, l, p, o, theirs)
	}
	var now gitstore.ID
	var m record.Memory
	err = l.store.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
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
	err = l.store.ViewAt(ctx, string(p.On()), func(t *gitstore.Tree) error {
		was, err = t.Stat(o.Path)
		return err
	})
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return false, nil, err
	}
	if was != "" && (was == now || !p.Closed) {
		return false, nil, nil
	}
	return true, &rewordedJSON{Operation: o.ID, Proposed: wording(o.Memory), Landed: wording(m)}, nil
}

// skillThere is decidedThere for a skill: its file is there as proposed, or, once the proposal's branch is gone, in other
// words.
func (s *syncer) skillThere(ctx context.Context, l lane, p remotes.Proposal, o record.Operation, theirs gitstore.ID) (yes bool, reworded *rewordedJSON, err error) {
	var data []byte
	err = l.store.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
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
	case !p.Closed:
		return false, nil, nil
	}
	return true, &rewordedJSON{Operation: o.ID, Proposed: o.File, Landed: string(data)}, nil
}

// wording is all that a memory says, and its status where that is not the usual one.
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
