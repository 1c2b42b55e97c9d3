package share

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
)

// fetch fetches the remote's tip, empty without one, and returns in clean the commit to merge. The
// ref of the last seen tip moves only if no commit was lost.
func (l *lane) fetch(ctx context.Context) (theirs, clean gitstore.ID, err error) {
	repo := l.c.Repo
	if err := repo.Refs().ClearLock(l.fresh()); err != nil {
		return "", "", err
	}
	now, err := l.remote.Fetch(ctx, l.ref, l.fresh())
	absent := errors.Is(err, git.ErrNoRemoteRef)
	if err != nil && !absent {
		return "", "", explainFetch(err)
	}
	theirs, clean = gitstore.ID(now), gitstore.ID(now)
	if !absent && !l.o.DryRun {
		if clean, err = l.purged(ctx, theirs); err != nil {
			return "", "", err
		}
		now = string(clean) // a purged part is not kept as seen either
	}
	seen, err := repo.Refs().Read(ctx, l.seen())
	if errors.Is(err, git.ErrNoRef) || err == nil && seen == now {
		if !absent && err != nil {
			return theirs, clean, l.see(ctx, now, "")
		}
		return theirs, clean, nil
	}
	if err != nil {
		return "", "", err
	}
	descends := false
	if !absent {
		if descends, err = repo.History().IsAncestor(ctx, seen, now); err != nil {
			return "", "", err
		}
	}
	if !descends && l.known.Saw(l.name, seen) || absent {
		if err := l.lost(ctx, seen, now); err != nil || absent {
			return "", "", err
		}
	}
	return theirs, clean, l.see(ctx, now, seen)
}

// see notes the remote's tip once all of it may be accepted. A refused history that the remote
// later removes was never seen.
func (l *lane) see(ctx context.Context, now, seen string) error {
	known := gitstore.ID(seen) // and accepted then
	if tip, err := l.store.Tip(ctx); err == nil && known == "" {
		known = tip
	}
	var base gitstore.ID
	if known != "" {
		var err error
		if base, err = treeOf(ctx, l.store, known); err != nil {
			return err
		}
	}
	err := l.store.ViewAt(ctx, now, func(t *gitstore.Tree) error {
		if _, err := t.Admit(base); err != nil || l.name != "memory" {
			return err
		}
		return l.accept(t)
	})
	if err != nil {
		return l.explainMerge(err)
	}
	if l.o.DryRun {
		return nil
	}
	return l.moveSeen(ctx, now, seen, "fetch")
}

// moveSeen notes the remote's tip.
func (l *lane) moveSeen(ctx context.Context, now, old, why string) error {
	ctx, unlock, err := l.store.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.c.Repo.Refs().Move(ctx, l.seen(), now, old, "reverie sync: "+why); err != nil {
		return err
	}
	l.known.See(l.name, now)
	return l.file.Save()
}

// lost decides about a remote that lost commits without a purge record to explain it. now is empty
// if the whole ref is gone. Without an error the sync continues with the remote's current state. No
// ref has moved yet.
func (l *lane) lost(ctx context.Context, seen, now string) error {
	var others []string
	if now != "" {
		others = []string{now}
	}
	lost, err := l.c.Repo.History().Missing(ctx, seen, others...)
	if err != nil {
		return err
	}
	l.out.Lost = lost
	if l.o.Restore {
		if l.o.DryRun {
			return nil
		}
		kept, err := l.store.Backup(ctx, gitstore.ID(seen))
		if err != nil {
			return err
		}
		l.o.Report(Restoring{len(lost), l.ref, l.remote.Name, kept})
		if now == "" {
			return l.forgetSeen(ctx, seen)
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
	what := "has lost " + plural.Count(len(lost), "commit", "commits") + " of"
	if now == "" {
		what = "no longer has"
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s %s %s: %s", l.remote.Name, what, l.ref, strings.Join(short, " ")),
		fmt.Sprintf("nothing was changed. Look at them with 'git log %s' and ask who rewrote it; what is here of them is published again by: reverie sync --restore %s", l.seen(), l.remote.Name))
}

// forgetSeen drops the ref of the last seen tip, so that the whole lane is pushed again.
func (l *lane) forgetSeen(ctx context.Context, seen string) error {
	ctx, unlock, err := l.store.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.c.Repo.Refs().Delete(ctx, l.seen(), seen); err != nil {
		return err
	}
	l.known.See(l.name, "")
	return l.file.Save()
}
