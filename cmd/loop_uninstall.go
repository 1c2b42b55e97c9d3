package cmd

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/worktree"
)

// loopArtefacts are the work trees of loops, which lie in the state folder. One in which somebody works, or that has work that is not
// committed, is an error: it would go with the folder.
func (w *workspace) loopArtefacts(ctx context.Context) ([]setup.Artefact, error) {
	names, err := worktree.List(ctx, w.Repo)
	if err != nil {
		return nil, err
	}
	var found []setup.Artefact
	for _, name := range names {
		l, err := worktree.Open(w.Repo, name, w.Scanner).Load(ctx)
		if err != nil {
			return nil, err
		}
		s := l.State
		if worktree.Held(ctx, w.Repo, name) != nil {
			return nil, exit.New(exit.NeedsPerson, fmt.Errorf("the loop %s goes on", name), "reverie loop cancel "+name)
		}
		if s.InPlace != "" {
			continue
		}
		place, err := w.loopPlace(ctx, s)
		if err != nil {
			return nil, err
		}
		if place.Check() != nil {
			continue
		}
		if err := place.Clean(ctx); err != nil {
			return nil, exit.New(exit.NeedsPerson, fmt.Errorf("the loop %s: %w", name, err), uncommittedHint(s))
		}
		found = append(found, setup.Artefact{Name: "the work tree of the loop " + name + " in " + place.Dir, Remove: func(ctx context.Context) error { return place.Remove(ctx, s.Tip) }})
	}
	return found, nil
}
