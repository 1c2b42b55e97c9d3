package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

// consent asks a person before anything is published to an address for the first time. What no person should
// agree to it refuses each time. tip has theirs in it.
func (s *syncer) consent(ctx context.Context, l lane, tip, theirs gitstore.ID) error {
	if theirs == "" && strings.HasPrefix(l.ref, "refs/heads/") {
		if err := s.notFirst(ctx); err != nil {
			return err
		}
	}
	if s.known.Agreed(l.name, s.remote.PushURL) || s.withholds(l) {
		return nil
	}
	what, n, err := s.unpublished(ctx, l, tip, theirs)
	if err != nil || n == 0 && !s.o.yes {
		return err
	}
	return s.agree(l.name, what)
}

// agree asks a person whether something may be published to the remote, and remembers a yes.
func (s *syncer) agree(lane, what string) error {
	to := fmt.Sprintf("%s, %s", s.remote.Name, s.done.URL)
	s.watch.Pause()
	defer s.watch.Resume()
	if err := s.w.WantPerson("sync --yes"); err != nil && what != "" {
		return err
	}
	if !s.o.yes && !s.w.env.Ask(fmt.Sprintf("Publish %s to %s?", what, to), "n") {
		s.done.Consent = what
		err := fmt.Errorf("nothing was published: the first sync with %s would publish %s", to, what)
		return exit.New(exit.NeedsPerson, err, "what was there to fetch is merged here. If it is to be published too, run it again with --yes")
	}
	if what != "" {
		s.w.env.Say("publish  %s to %s", what, to)
	}
	s.known.Agree(lane, s.remote.PushURL)
	return s.all.Save()
}

// notFirst refuses a remote without any branch: a forge makes the first one that it gets its default.
func (s *syncer) notFirst(ctx context.Context) error {
	refs, err := s.remote.Refs(ctx, "refs/heads/")
	if err != nil {
		return explainFetch(err)
	}
	for name := range refs.Refs {
		if !strings.HasPrefix(name, "refs/heads/reverie/") {
			return nil
		}
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s is empty, and a forge would make %s its default branch", s.remote.Name, s.w.Branch()),
		"push the code first: git push -u "+s.remote.Name+" BRANCH")
}

// unpublished says what a push would publish, and how many commits that is.
func (s *syncer) unpublished(ctx context.Context, l lane, ours, theirs gitstore.ID) (what string, commits int, err error) {
	var others []string
	var base gitstore.ID
	if theirs != "" {
		others = []string{string(theirs)}
		common, err := s.w.Repo.MergeBase(ctx, string(ours), others...)
		if err != nil {
			return "", 0, err
		}
		base = gitstore.ID(common)
	}
	ids, err := s.w.Repo.Missing(ctx, string(ours), others...)
	if err != nil || len(ids) == 0 {
		return "", 0, err
	}
	memories, err := s.changed(ctx, l, base, ours)
	if err != nil {
		return "", 0, err
	}
	if l.name == "journal" {
		return fmt.Sprintf("the journal (%s; %s with reflections, dreams and checkpoints)", memories, term.Count(len(ids), "commit", "commits")), len(ids), nil
	}
	return fmt.Sprintf("the branch %s (%s in %s; the journal stays here)", s.w.Branch(), memories, term.Count(len(ids), "commit", "commits")), len(ids), nil
}

// changed counts in words the memories that differ between two commits of a lane; before is empty where all are new.
func (s *syncer) changed(ctx context.Context, l lane, before, now gitstore.ID) (string, error) {
	var old gitstore.ID
	var err error
	if before != "" {
		if old, err = s.treeOf(ctx, l, before); err != nil {
			return "", err
		}
	}
	added, changed := 0, 0
	err = l.store.ViewAt(ctx, string(now), func(t *gitstore.Tree) error {
		return t.Diff(old, func(c gitstore.Change) error {
			if _, ok := record.MemoryID(c.Path); !ok {
				return nil
			}
			if c.Old == "" {
				added++
			} else {
				changed++
			}
			return nil
		})
	})
	var bad gitstore.EntryErrors
	if errors.As(err, &bad) { // they were ours before, and check names them
		err = nil
	}
	one, many := "memory", "memories"
	if l.name == "journal" {
		one, many = "private memory", "private memories"
	}
	switch {
	case before == "":
		return term.Count(added, one, many), err
	case changed == 0:
		return term.Count(added, "new "+one, "new "+many), err
	}
	return fmt.Sprintf("%s, %d changed", term.Count(added, "new "+one, "new "+many), changed), err
}
