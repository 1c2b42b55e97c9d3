package cmd

import (
	"context"
	"errors"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
)

// wayNothing is a merge of what was here already; the others have their words.
const wayNothing = string(gitstore.Nothing)

func wayWords(way string) string {
	switch way {
	case string(gitstore.Adopted):
		return ", and took over their history, which says the same"
	case string(gitstore.Joined):
		return ", with changes of both sides"
	}
	return ""
}

// merge brings what the remote has into our store and returns our tip.
func (s *syncer) merge(ctx context.Context, l lane, ours, theirs gitstore.ID) (gitstore.ID, error) {
	l.out.Way, l.out.Commit = wayNothing, string(ours)
	if theirs == "" || ours == theirs {
		return ours, s.settled(ctx, l, ours, theirs)
	}
	n, _, err := s.remote.Apart(ctx, string(theirs), string(ours))
	if err != nil {
		return ours, err
	}
	if n == 0 {
		return ours, s.settled(ctx, l, ours, theirs)
	}
	l.out.Fetched += n
	var m gitstore.Merged
	message := gitstore.Commit{Subject: "merge: " + l.name + " of " + s.remote.Name, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "sync"}}}
	switch {
	case l.name == "journal":
		m, err = s.w.Book.MergeJournal(ctx, theirs, message)
	case ours == "":
		m, err = s.adopt(ctx, l)
	default:
		m, err = s.w.Book.Merge(ctx, theirs, message, s.accept)
	}
	if err != nil {
		return ours, s.explainMerge(err)
	}
	if m.Note != "" && !s.w.told[m.Note] {
		s.w.told[m.Note] = true
		s.w.env.Say("%s", m.Note)
	}
	if m.Way != gitstore.Nothing || l.out.Way == "" {
		l.out.Way = string(m.Way)
	}
	l.out.Commit, l.out.Dropped = string(m.Commit), append(l.out.Dropped, m.Dropped...)
	if m.Backup != "" {
		l.out.Backup = m.Backup
	}
	if _, err := l.out.tally(ctx, l.store, m); err != nil {
		return m.Commit, err
	}
	if err := l.out.overrule(ctx, l.store, m, theirs); err != nil {
		return m.Commit, err
	}
	return m.Commit, s.settled(ctx, l, m.Commit, theirs)
}

// settled settles proposals, which only the memory branch has.
func (s *syncer) settled(ctx context.Context, l lane, tip, theirs gitstore.ID) error {
	if l.name != "memory" {
		return nil
	}
	return s.settle(ctx, l, tip, theirs)
}

// accept refuses a tree that is no memory branch, or one of a format that this program is too old for.
func (s *syncer) accept(theirs *gitstore.Tree) error {
	return s.w.accepts(s.remote.Name+"/"+s.w.Branch(), theirs)
}

// adopt begins our branch with theirs.
func (s *syncer) adopt(ctx context.Context, l lane) (gitstore.Merged, error) {
	res, err := l.store.Adopt(ctx, s.seen(l))
	return gitstore.Merged{Result: res, Way: gitstore.FastForward}, err
}

// explainMerge says what to do about a history that was not taken over.
func (s *syncer) explainMerge(err error) error {
	switch {
	case errors.Is(err, gitstore.ErrShallow):
		return exit.New(exit.NeedsPerson, err, "deepen it: git fetch --unshallow "+s.remote.Name)
	}
	return refusedEntries(err, s.remote.Name)
}

// bookOn is the book with another store in the place of the memory branch and the inbox, which is left
// alone.
func (w *workspace) bookOn(memory *gitstore.Store) *record.Book {
	return record.Open(record.Stores{Memory: memory, Journal: gitstore.Open(w.Repo, clone.JournalRef), Inbox: memory}, w.State, w.Scanner)
}
