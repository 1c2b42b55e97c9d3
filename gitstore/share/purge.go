package share

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/exit"
)

// purged follows a purge. It runs on every fetched history before the comparison with the last seen
// tip and before a merge. If their history or ours was purged, it rewrites our own refs and returns
// the commit to merge in place of theirs. If the two differ, nothing can be pushed on top.
func (l *lane) purged(ctx context.Context, theirs gitstore.ID) (clean gitstore.ID, err error) {
	c, err := l.o.Purge()
	if err != nil {
		return "", err
	}
	done, err := purge.Settle(ctx, c, l.store, theirs, func(f *purge.Follow, found purge.Found) error { return l.agreeToFollow(ctx, theirs, f, found) })
	if done.New != nil {
		l.rewrote = done.New
	}
	l.said(done.Notes...)
	if err != nil {
		return "", err
	}
	if done.Records > 0 {
		l.o.Report(PurgeFollowed{l.remote.Name, done.Found, done.Left})
	}
	if l.rewrote == nil {
		return done.To, nil
	}
	dropped, err := purge.DropProposals(l.file, l.rewrote)
	l.o.Report(StillThere(dropped))
	return done.To, err
}

// agreeToFollow reports the parts that following a purge removes here, and asks.
func (s *session) agreeToFollow(ctx context.Context, theirs gitstore.ID, f *purge.Follow, found purge.Found) error {
	gone, err := f.Statements(ctx)
	if err != nil {
		return err
	}
	s.o.Report(Purged{s.remote.Name, f.Records, found, gone})
	if !s.o.Yes && !s.o.Ask(FollowPurge{s.remote.Name}) {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%s was purged, and this clone still holds what went there: nothing was merged", s.remote.Name),
			"look at 'git log "+string(theirs)+" -- purged', then: reverie sync --yes")
	}
	return nil
}
