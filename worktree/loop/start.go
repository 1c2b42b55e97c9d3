package loop

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
)

// Start starts a loop. The caller carries the claim on.
func (l *Loops) Start(ctx context.Context, o plan.Order) (c *Claim, err error) {
	if err := fault.Outside("start"); err != nil {
		return nil, err
	}
	defer func() { err = fault.Explain(err) }()
	if o.InPlace {
		unlock, err := worktree.LockPlaces(ctx, l.Repo)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	s, text, err := l.Planner.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.InPlace {
		if err := l.inPlace(ctx, &s, o); err != nil {
			return nil, err
		}
	}
	return l.create(ctx, s, text, o.Name == "")
}

// inPlace has a loop work in the user's own work tree, if that is clean and on a branch.
func (l *Loops) inPlace(ctx context.Context, s *worktree.State, o plan.Order) error {
	_, branch, err := l.Repo.Head(ctx)
	switch {
	case err != nil:
		return err
	case l.Repo.WorkTree == "":
		return exit.Usage("", "--in-place: there is no work tree here")
	case o.Base != "":
		return exit.Usage("", "--in-place begins at HEAD; leave out --base")
	case branch == "":
		return fault.New(worktree.Refusal, errors.New("HEAD is on no branch"), "git switch BRANCH")
	}
	s.InPlace, s.Branch = l.Repo.WorkTree, "refs/heads/"+strings.TrimPrefix(branch, "refs/heads/")
	if err := l.alone(ctx, *s); err != nil {
		return err
	}
	if s.Settings.Sandboxed() { // its commands see the commit alone
		return nil
	}
	place, err := worktree.PlaceOf(l.Repo, worktree.State{Name: "check", InPlace: s.InPlace, Branch: s.Branch}, l.Scanner)
	if err != nil {
		return err
	}
	return place.Clean(ctx)
}

// alone refuses a second loop in a user's own work tree: each would commit the other's unfinished
// work.
func (l *Loops) alone(ctx context.Context, s worktree.State) error {
	other, err := worktree.Beside(ctx, l.Repo, s)
	if err == nil && other != "" {
		err = fault.New(worktree.Refusal, fmt.Errorf("the loop %s works in %s, on %s, and has not ended", other, s.InPlace, branchName(s)),
			"'reverie loop status "+other+"' shows it, 'reverie loop cancel "+other+"' ends it")
	}
	return err
}

// create gives a loop its name and record, and takes its lease. It numbers a name that is taken if
// free is true.
func (l *Loops) create(ctx context.Context, s worktree.State, text worktree.Plan, free bool) (*Claim, error) {
	stem := s.Name
	if free {
		if stem = worktree.Slug(text.Title); stem == "" {
			stem = "loop"
		}
	}
	own := s.Branch == ""
	for n := 1; n < 1000; n++ {
		if s.Name = stem; n > 1 {
			s.Name = fmt.Sprintf("%s-%d", stem, n)
		}
		if own {
			s.Branch = worktree.Branches + s.Name
		}
		c, err := l.claim(ctx, s, text, own)
		taken := errors.Is(err, worktree.ErrTaken)
		switch {
		case free && (taken || errors.Is(err, worktree.ErrHeld)):
			continue
		case taken:
			return nil, exit.New(exit.Failed, err, "'reverie loop status' lists the loops; 'reverie loop resume' goes on with one; or give another --name")
		}
		return c, err
	}
	return nil, fmt.Errorf("%s: %w", stem, worktree.ErrTaken)
}

// claim creates the record of a loop. The error wraps worktree.ErrTaken if the name is taken. own
// says that the branch is the loop's own.
func (l *Loops) claim(ctx context.Context, s worktree.State, text worktree.Plan, own bool) (*Claim, error) {
	if err := git.CheckRef(s.Branch); err != nil || worktree.Slug(s.Name) != s.Name && strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return nil, exit.Usage("letters a to z, digits, and - _ . between them", "--name %s: no name for a loop", s.Name)
	}
	if own {
		if err := branchFree(ctx, l.Repo, s); err != nil {
			return nil, err
		}
	}
	lease, err := worktree.TakeLease(ctx, l.Repo, s.Name, "")
	if err != nil {
		return nil, err
	}
	record := worktree.Open(l.Repo, s.Name, l.Scanner)
	if _, branchErr := l.Repo.Refs().Read(ctx, s.Branch); own && branchErr == nil {
		err = fmt.Errorf("branch %s: %w", branchName(s), worktree.ErrTaken)
	} else {
		err = record.Create(ctx, s, text)
	}
	if err != nil {
		lease.Release()
		return nil, err
	}
	return &Claim{s, l, record, lease}, nil
}

// branchFree refuses a loop's new branch if a branch with the name of one of its folders exists.
func branchFree(ctx context.Context, repo *git.Repo, s worktree.State) error {
	for dir := path.Dir(s.Branch); strings.HasPrefix(dir, "refs/heads/"); dir = path.Dir(dir) {
		if _, err := repo.Refs().Read(ctx, dir); err == nil {
			name := strings.TrimPrefix(dir, "refs/heads/")
			return fault.New(worktree.Refusal, fmt.Errorf("the branch %s is in the way of %s", name, branchName(s)),
				"rename it: git branch -m "+name+" NAME; or work on a branch of yours: --in-place")
		}
	}
	return nil
}
