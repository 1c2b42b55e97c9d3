package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// pushPurge replaces what a remote has by what is here after a purge. The caller holds the lock of LockSync.
func (w *workspace) pushPurge(ctx context.Context, clone *purge.Clone, remote *git.Remote, done *purgeJSON) error {
	pushed, err := clone.Push(ctx, remote)
	done.Left = append(done.Left, w.leftovers(pushed.Left)...)
	replaced, current := false, false
	for _, l := range pushed.Lanes {
		if l.Current {
			w.env.Say("%s has the %s as it is here already", remote.Name, l.Name)
		}
		for _, line := range l.Said {
			w.env.Say("%s says: %s", remote.Name, w.env.Clean(line))
		}
		replaced, current = replaced || l.Replaced, current || l.Current
	}
	switch {
	case err != nil:
		return err
	case replaced:
		done.Pushed = remote.Name
	case !current:
		what := fmt.Sprintf("%s has nothing that was purged here: nothing was pushed", remote.Name)
		if !done.Done {
			return exit.New(exit.NeedsPerson, errors.New("purge: "+what), "to publish what is new: reverie sync "+remote.Name)
		}
		w.env.Say("%s", what)
	}
	return nil
}
