package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

// rewritten decides what becomes of a sync with a remote that no longer has all that it was seen to have, and
// does not say itself why, by records of a purge; now is empty where the whole ref is gone. Without an error the sync goes on with what the remote has
// now. Nothing has been moved yet.
func (s *syncer) rewritten(ctx context.Context, l lane, seen, now string) error {
	var others []string
	if now != "" {
		others = []string{now}
	}
	lost, err := s.w.Repo.Missing(ctx, seen, others...)
	if err != nil {
		return err
	}
	l.out.Lost = lost
	if s.o.restore {
		if s.o.dryRun {
			return nil
		}
		kept, err := l.store.Backup(ctx, gitstore.ID(seen))
		if err != nil {
			return err
		}
		s.w.env.Say("restore  %s of %s that %s has lost; its old tip is kept as %s", term.Count(len(lost), "commit", "commits"), l.ref, s.remote.Name, kept)
		if now == "" {
			return s.forgetSeen(ctx, l, seen)
		}
		return nil
	}
	var short []string
	for _, id := range lost[:min(10, len(lost))] {
		short = append(short, id[:10])
	}
	if more := len(lost) - len(short); more > 0 {
		short = append(short, fmt.Sprintf("and %d more", more))
	}
	what := "has lost " + term.Count(len(lost), "commit", "commits") + " of"
	if now == "" {
		what = "no longer has"
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s %s %s: %s", s.remote.Name, what, l.ref, strings.Join(short, " ")),
		fmt.Sprintf("nothing was changed. Look at them with 'git log %s' and ask who rewrote it; what is here of them is published again by: reverie sync --restore %s", s.seen(l), s.remote.Name))
}

// purged is asked about every history that was fetched, before it is held against what was seen and before it
// is merged. Where that history or ours was purged of something, this is the place to follow: to rewrite our
// own refs, those that keep what was seen with them, and to return what may be merged in the place of theirs. If
// that differs from theirs it is merged, but nothing is pushed on top of theirs.
func (s *syncer) purged(ctx context.Context, l lane, theirs gitstore.ID) (clean gitstore.ID, err error) {
	clean, err = s.w.followPurge(ctx, s.remote.Name, l.store, theirs, func(question string) bool {
		s.watch.Pause()
		defer s.watch.Resume()
		return s.o.yes || s.w.env.Ask(question, "n")
	})
	if err != nil || s.w.rewrote == nil {
		return clean, err
	}
	dropped, err := purge.DropProposals(s.all, s.w.rewrote)
	for _, left := range s.w.leftovers(dropped) {
		s.w.env.Say("still there: %s: %s", left.What, left.Next)
	}
	return clean, err
}

// forgetSeen drops what the remote was seen to have, so that the ref may be pushed there anew.
func (s *syncer) forgetSeen(ctx context.Context, l lane, seen string) error {
	ctx, unlock, err := l.store.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.w.Repo.DeleteRef(ctx, s.seen(l), seen); err != nil {
		return err
	}
	s.known.See(l.name, "")
	return s.all.Save()
}
