package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

// followPurge asks and does what a history needs that was fetched from a remote, before it is merged into a store, and
// returns what to merge in its place. Where that differs from theirs a person replaces the remote's branch by purge --push, and has to be told so.
func (w *workspace) followPurge(ctx context.Context, remote string, s *gitstore.Store, theirs gitstore.ID, agree func(question string) bool) (gitstore.ID, error) {
	clone, err := w.purgeable()
	if err != nil {
		return "", err
	}
	f, err := clone.Follow(ctx, s, theirs)
	if err != nil {
		return "", err
	}
	if f == nil {
		return theirs, nil
	}
	var found purge.Found
	if f.Records > 0 {
		if found, err = f.Find(ctx); err != nil {
			return "", err
		}
		if err := w.agreeToFollow(ctx, remote, theirs, f, found, agree); err != nil {
			return "", err
		}
	}
	left := found.Left
	done, err := f.Apply(ctx)
	if done != nil {
		w.applied(done)
		more, failed := done.Finish(ctx, "")
		left, err = append(left, more...), errors.Join(err, failed)
	}
	if err != nil {
		return "", err
	}
	if f.Records > 0 {
		w.tellFollowed(remote, found, left)
	}
	to := done.New[theirs]
	if to == "" {
		return "", fmt.Errorf("follow the purge of %s: %.12s was not rewritten", remote, theirs)
	}
	return to, nil
}

// maxGone is how many statements are shown before a person lets them go.
const maxGone = 10

// agreeToFollow shows a person what goes here, if anything does, and asks.
func (w *workspace) agreeToFollow(ctx context.Context, remote string, theirs gitstore.ID, f *purge.Follow, found purge.Found, agree func(question string) bool) error {
	if len(found.Refs)+len(found.Sessions)+len(found.State) == 0 {
		return nil
	}
	files := 0
	for _, n := range found.Files {
		files += n
	}
	w.env.Say("%s was purged of something (%s); to follow takes out for good, here:", remote, term.Count(f.Records, "record", "records"))
	w.env.Say("%s, %s in %s, %s", term.Count(len(found.Memories), "memory", "memories"), term.Count(files, "file", "files"),
		term.Count(len(found.Refs), "ref", "refs"), term.Count(len(found.Sessions), "session", "sessions"))
	gone, err := f.Statements(ctx)
	if err != nil {
		return err
	}
	for _, m := range gone[:min(maxGone, len(gone))] {
		w.env.Say("  - %s %s", m.ID[:8], term.Visible(m.Text))
	}
	if more := len(gone) - maxGone; more > 0 {
		w.env.Say("  and %d more", more)
	}
	if !agree("Take the same out here?") {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%s was purged, and this clone still holds what went there: nothing was merged", remote),
			"look at 'git log "+string(theirs)+" -- purged', then: reverie sync --yes")
	}
	return nil
}

// tellFollowed says what is left to do here after a purge of others, and which memories went.
func (w *workspace) tellFollowed(remote string, found purge.Found, left []purge.Left) {
	for _, l := range w.leftovers(left) {
		if l.Next != "" && !strings.Contains(l.Next, "--push") { // to their remote nothing has to be pushed
			w.env.Say("still there: %s: %s", l.What, l.Next)
		}
	}
	if len(found.Memories) > 0 {
		ids := make([]string, len(found.Memories))
		for i, m := range found.Memories {
			ids[i] = m.ID
		}
		w.env.Say("gone, as from %s: %s: %s", remote, term.Count(len(ids), "memory", "memories"), strings.Join(ids, " "))
	}
}

// applied notes what a purge rewrote, and says what it had to say, once.
func (w *workspace) applied(done *purge.Done) {
	if done.New != nil {
		w.rewrote = done.New
	}
	for _, note := range done.Notes {
		if !w.told[note] {
			w.told[note] = true
			w.env.Say("%s", note)
		}
	}
}
