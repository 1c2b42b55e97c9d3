package loop

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/status"
)

// Removal removes the records of a loop that has ended. Its owner calls Release.
type Removal struct {
	Name    string
	Branch  string   // stays
	Foreign bool     // a fetch brought the loop: only its record goes
	Refs    []string // refs, and the folder, that go

	loops *Loops
	state worktree.State
	place *worktree.Place // nil for a foreign loop
	lease *worktree.Lease // likewise
}

// Removal prepares to remove a loop, and holds its lease so that nothing changes before a person
// agrees. Work that is not committed is an error.
func (l *Loops) Removal(ctx context.Context, name string) (*Removal, error) {
	if err := fault.Outside("remove"); err != nil {
		return nil, err
	}
	if err := l.WantPerson("loop remove"); err != nil {
		return nil, err
	}
	r := &Removal{loops: l}
	if _, found, err := status.Open(ctx, l.Clone, name); err == nil && !found.Own {
		s := found.State
		r.state, r.Name, r.Branch, r.Foreign, r.Refs = s, s.Name, branchName(s), true, []string{worktree.Refs + s.Name}
		return r, nil
	}
	s, err := l.ended(ctx, name)
	if err != nil {
		return nil, err
	}
	r.state, r.Name, r.Branch, r.Refs = s, s.Name, branchName(s), []string{folder(l.Repo, s.Name)}
	if r.lease, err = worktree.TakeLease(ctx, l.Repo, s.Name, ""); err != nil {
		return nil, fault.Explain(err)
	}
	if err := r.prepare(ctx); err != nil {
		r.Release()
		return nil, err
	}
	return r, nil
}

// prepare finds the place and refs of the loop.
func (r *Removal) prepare(ctx context.Context) (err error) {
	l, s := r.loops, r.state
	if r.place, err = l.place(ctx, s); err != nil {
		return fault.Explain(err)
	}
	if !r.place.InPlace && r.place.Check() == nil {
		if err := r.place.Clean(ctx); err != nil {
			return exit.New(exit.NeedsPerson, fmt.Errorf("loop remove %s: %w", s.Name, err), fault.Uncommitted(s))
		}
	}
	refs, err := worktree.KeptBy(ctx, l.Repo, s.Name)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		r.Refs = append(r.Refs, ref.Name)
	}
	if _, err := l.Repo.Refs().Read(ctx, worktree.Refs+s.Name); err == nil {
		r.Refs = append(r.Refs, worktree.Refs+s.Name)
	}
	return nil
}

// Run removes the loop. left is the folder of a loop of the same name that stays when a foreign
// loop goes.
func (r *Removal) Run(ctx context.Context) (left string, err error) {
	if r.Foreign {
		return worktree.DiscardForeign(ctx, r.loops.Repo, r.Name)
	}
	if err := r.place.Remove(ctx, r.state.Tip); err != nil {
		return "", fault.Explain(err)
	}
	return "", worktree.Discard(ctx, r.loops.Repo, r.Name)
}

// Release gives the lease back.
func (r *Removal) Release() {
	if r.lease != nil {
		r.lease.Release()
	}
}

// ended returns the state of a loop that has ended. If its record is gone, the state says what is
// known without it.
func (l *Loops) ended(ctx context.Context, name string) (worktree.State, error) {
	_, found, err := status.Open(ctx, l.Clone, name)
	if errors.Is(err, worktree.ErrNoLoop) && worktree.Slug(name) == name {
		kept, keptErr := worktree.KeptBy(ctx, l.Repo, name)
		_, dirErr := os.Lstat(folder(l.Repo, name))
		if keptErr == nil && (len(kept) > 0 || dirErr == nil) {
			s := worktree.State{Name: name, Phase: worktree.Stopped, Branch: worktree.Branches + name, Settings: worktree.Settings{Sandbox: config.Off}}
			s.Tip, _ = l.Repo.Refs().Read(ctx, s.Branch)
			return s, nil
		}
	}
	if err == nil && !found.State.Phase.Over() {
		err = exit.New(exit.Failed, fmt.Errorf("loop %s has not ended", found.State.Name), "reverie loop cancel "+found.State.Name)
	}
	return found.State, err
}

// Tree is the work tree of a loop in the state folder.
type Tree struct {
	Loop, Dir string
	Remove    func(context.Context) error
}

// Trees lists the loops' own work trees before the state folder is removed. A loop that goes on,
// or work that is not committed, is an error.
func (l *Loops) Trees(ctx context.Context) (all []Tree, err error) {
	names, err := worktree.List(ctx, l.Repo)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		found, err := worktree.Open(l.Repo, name, l.Scanner).Load(ctx)
		if err != nil {
			return nil, err
		}
		s := found.State
		if worktree.Held(ctx, l.Repo, name) != nil {
			return nil, exit.New(exit.NeedsPerson, fmt.Errorf("the loop %s goes on", name), "reverie loop cancel "+name)
		}
		if s.InPlace != "" {
			continue
		}
		place, err := l.place(ctx, s)
		if err != nil {
			return nil, err
		}
		if place.Check() != nil {
			continue
		}
		if err := place.Clean(ctx); err != nil {
			return nil, exit.New(exit.NeedsPerson, fmt.Errorf("the loop %s: %w", name, err), fault.Uncommitted(s))
		}
		all = append(all, Tree{name, place.Dir, func(ctx context.Context) error { return place.Remove(ctx, s.Tip) }})
	}
	return all, nil
}
