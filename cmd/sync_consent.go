package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// consent asks a person before anything is published to an address for the first time. What no person should
// agree to it refuses each time.
func (s *syncer) consent(ctx context.Context, l lane, ours, theirs gitstore.ID) error {
	if theirs == "" && strings.HasPrefix(l.ref, "refs/heads/") {
		if err := s.notFirst(ctx); err != nil {
			return err
		}
	}
	if s.known.agreed(l.name, s.remote.PushURL) || s.o.propose && l.name == "memory" || ours == "" && !s.o.yes {
		return nil
	}
	if ours == "" {
		return s.agree(l.name, "")
	}
	what, n, err := s.unpublished(ctx, l, ours, theirs)
	if err != nil || n == 0 && !s.o.yes {
		return err
	}
	return s.agree(l.name, what)
}

// agree asks a person whether something may be published to the remote, and remembers a yes.
func (s *syncer) agree(lane, what string) error {
	to := fmt.Sprintf("%s, %s", s.remote.Name, s.done.URL)
	s.clock.Stop()
	defer s.clock.Reset(s.o.timeout)
	if !s.o.yes && !s.w.ask(fmt.Sprintf("Publish %s to %s?", what, to), "n") {
		err := fmt.Errorf("nothing was published: the first sync with %s would publish %s", to, what)
		return &failure{exitPerson, err, "if that is wanted, run it again with --yes"}
	}
	if what != "" {
		s.w.env.say("publish  %s to %s", what, to)
	}
	s.known.agree(lane, s.remote.PushURL)
	return s.all.save()
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
	return &failure{exitPerson, fmt.Errorf("%s is empty, and a forge would make %s its default branch", s.remote.Name, s.w.branch()),
		"push the code first: git push -u " + s.remote.Name + " BRANCH"}
}

// unpublished says what a push would publish, and how many commits that is.
func (s *syncer) unpublished(ctx context.Context, l lane, ours, theirs gitstore.ID) (what string, commits int, err error) {
	var others []string
	if theirs != "" {
		others = []string{string(theirs)}
	}
	ids, err := s.w.repo.Missing(ctx, 0, string(ours), others...)
	if err != nil || len(ids) == 0 {
		return "", 0, err
	}
	n := 0
	err = s.w.view(ctx, func(v *record.View) error {
		for _, m := range v.Memories() {
			if m.Private == (l.name == "journal") {
				n++
			}
		}
		return nil
	})
	if l.name == "journal" {
		return fmt.Sprintf("the journal (%s; %s with reflections, dreams and checkpoints)", count(n, "private memory", "private memories"), count(len(ids), "commit", "commits")), len(ids), err
	}
	return fmt.Sprintf("the branch %s (%s in %s; the journal stays here)", s.w.branch(), count(n, "memory", "memories"), count(len(ids), "commit", "commits")), len(ids), err
}
