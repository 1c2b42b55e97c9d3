package share

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
)

// withholds reports whether a run does not publish the lane: the remote takes no push, or a person
// agreed to proposals only.
func (l *lane) withholds() bool {
	return l.remote.NoPush != nil || l.o.Propose && l.name == "memory" && !l.known.Agreed(l.name, l.remote.PushURL)
}

// consent asks a person before anything is published to an address for the first time. It always
// refuses to publish the first branch of a remote. tip contains theirs.
func (l *lane) consent(ctx context.Context, tip, theirs gitstore.ID) error {
	if l.remote.NoPush != nil {
		return nil
	}
	if theirs == "" && !l.c.Own && strings.HasPrefix(l.ref, "refs/heads/") {
		if err := l.notFirst(ctx); err != nil {
			return err
		}
	}
	if l.known.Agreed(l.name, l.remote.PushURL) || l.withholds() {
		return nil
	}
	what, n, err := l.unpublished(ctx, tip, theirs)
	if err != nil || n == 0 && !l.o.Yes {
		return err
	}
	return l.agree(l.name, what)
}

// notFirst refuses a remote without any branch: a forge makes the first one that it gets its
// default.
func (s *session) notFirst(ctx context.Context) error {
	refs, err := s.remote.Refs(ctx, "refs/heads/")
	if err != nil {
		return explainFetch(err)
	}
	for name := range refs.Refs {
		if !strings.HasPrefix(name, "refs/heads/reverie/") {
			return nil
		}
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s is empty, and a forge would make %s its default branch", s.remote.Name, s.c.Branch()),
		"push the code first: git push -u "+s.remote.Name+" BRANCH")
}

// agree asks a person whether something may be published to the remote, and remembers a yes.
func (s *session) agree(lane, what string) error {
	if err := s.c.WantPerson("sync --yes"); err != nil && what != "" {
		return err
	}
	if !s.o.Yes && !s.o.Ask(Publish{what, s.remote.Name, s.done.URL}) {
		s.done.Consent = what
		err := fmt.Errorf("nothing was published: the first sync with %s, %s would publish %s", s.remote.Name, s.done.URL, what)
		return exit.New(exit.NeedsPerson, err, "what was there to fetch is merged here. If it is to be published too, run it again with --yes")
	}
	if what != "" {
		s.o.Report(Publishing{what, s.remote.Name, s.done.URL})
	}
	s.known.Agree(lane, s.remote.PushURL)
	return s.file.Save()
}

// unpublished describes the commits that a push would publish, and counts them.
func (l *lane) unpublished(ctx context.Context, ours, theirs gitstore.ID) (what string, commits int, err error) {
	var others []string
	var base gitstore.ID
	if theirs != "" {
		others = []string{string(theirs)}
		common, err := l.c.Repo.History().MergeBase(ctx, string(ours), others...)
		if err != nil {
			return "", 0, err
		}
		base = gitstore.ID(common)
	}
	ids, err := l.c.Repo.History().Missing(ctx, string(ours), others...)
	if err != nil || len(ids) == 0 {
		return "", 0, err
	}
	memories, err := changed(ctx, l.store, l.name == "journal", base, ours)
	if err != nil {
		return "", 0, err
	}
	if l.name == "journal" {
		return fmt.Sprintf("the journal (%s; %s with reflections, dreams and checkpoints)", memories, plural.Count(len(ids), "commit", "commits")), len(ids), nil
	}
	return fmt.Sprintf("the branch %s (%s in %s; the journal stays here)", l.c.Branch(), memories, plural.Count(len(ids), "commit", "commits")), len(ids), nil
}

// changed describes the number of memories that differ between two commits; an empty before means
// that all are new.
func changed(ctx context.Context, s *gitstore.Store, journal bool, before, now gitstore.ID) (string, error) {
	var old gitstore.ID
	var err error
	if before != "" {
		if old, err = treeOf(ctx, s, before); err != nil {
			return "", err
		}
	}
	added, changed := 0, 0
	err = s.ViewAt(ctx, string(now), func(t *gitstore.Tree) error {
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
	if journal {
		one, many = "private memory", "private memories"
	}
	switch {
	case before == "":
		return plural.Count(added, one, many), err
	case changed == 0:
		return plural.Count(added, "new "+one, "new "+many), err
	}
	return fmt.Sprintf("%s, %d changed", plural.Count(added, "new "+one, "new "+many), changed), err
}
