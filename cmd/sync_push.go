package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// withholds reports whether a run publishes proposals and not the branch: nobody agreed to more.
func (s *syncer) withholds(l lane) bool {
	return s.o.propose && l.name == "memory" && !s.known.Agreed(l.name, s.remote.PushURL)
}

// publish pushes the tip, or, where the server takes no pushes of the branch, a proposal. lost says
// that somebody else was faster.
func (s *syncer) publish(ctx context.Context, l lane, tip, theirs gitstore.ID) (lost bool, err error) {
	if tip == theirs || s.withholds(l) {
		return false, nil
	}
	if l.name == "memory" && s.known.ReviewOnly != "" && !s.o.push {
		return false, s.proposeBranch(ctx, l, tip, theirs)
	}
	s.contested = s.lookForContested(ctx)
	report, err := s.remote.Push(ctx, git.Update{Ref: l.ref, ID: string(tip), Old: string(theirs)})
	if err != nil {
		return false, explainPush(err)
	}
	p := report.Refs[0]
	switch p.Outcome {
	case git.LostRace:
		s.report = report
		return true, nil
	case git.Broken:
		return false, s.broken(p, report)
	case git.Refused:
		return false, s.refused(ctx, l, p, report, tip, theirs)
	}
	l.out.Pushed = p.Commits
	if s.known.ReviewOnly != "" && l.name == "memory" {
		s.known.ReviewOnly = ""
		if err := s.all.Save(); err != nil {
			return false, err
		}
	}
	return false, s.moveSeen(ctx, l, string(tip), string(theirs), "push")
}

func explainPush(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exit.New(exit.Failed, err, "what was fetched is merged here, and nothing is lost; run it again when the remote can be reached")
}

// broken is for a server that failed at something that trying again may cure, and a proposal would not.
func (s *syncer) broken(p git.Pushed, report git.Report) error {
	s.quote(report)
	return exit.New(exit.Failed, fmt.Errorf("push to %s: the server failed: %s", s.remote.Name, p.Reason), "what was fetched is merged here, and nothing is lost; run it again")
}

// quote passes on what the server had to say.
func (s *syncer) quote(report git.Report) {
	for _, line := range report.Said {
		s.w.env.Warn("%s says: %s", s.remote.Name, line)
	}
}

// refused turns to a proposal where the server does not take the branch. What it said about that is
// passed on, and the remote remembered if it takes the proposal.
func (s *syncer) refused(ctx context.Context, l lane, p git.Pushed, report git.Report, tip, theirs gitstore.ID) error {
	s.quote(report)
	err := fmt.Errorf("push to %s: refused: %s", s.remote.Name, p.Reason)
	if l.name != "memory" || theirs == "" {
		return exit.New(exit.NeedsPerson, err, "ask whoever keeps the remote to let "+l.ref+" be pushed; what was fetched is merged here")
	}
	s.w.env.Say("%s takes no pushes of %s (%s): proposing the changes instead", s.remote.Name, s.w.Branch(), p.Reason)
	before := s.known.ReviewOnly
	s.known.ReviewOnly = p.Reason
	if perr := s.proposeBranch(ctx, l, tip, theirs); perr != nil {
		s.known.ReviewOnly = before
		return errors.Join(perr, err)
	}
	return s.all.Save()
}
