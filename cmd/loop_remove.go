package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
)

// loopRemovedJSON is the answer of loop remove.
type loopRemovedJSON struct {
	Name    string   `json:"name"`
	Branch  string   `json:"branch"`  // which stays
	Removed []string `json:"removed"` // refs, and the folder
}

// runLoopRemove removes what is kept of a loop that has ended. Its branch stays.
func runLoopRemove(ctx context.Context, env *Env, name string, o loopOptions) error {
	if err := notInLoop("remove"); err != nil {
		return err
	}
	if name == "" {
		return exit.Usage("'reverie loop status' lists them", "loop remove wants the name of a loop")
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.WantPerson("loop remove"); err != nil {
		return err
	}
	if _, l, err := w.openLoop(ctx, name); err == nil && !l.Own {
		return w.removeForeign(ctx, l.State, o)
	}
	s, err := w.endedLoop(ctx, name)
	if err != nil {
		return err
	}
	lease, err := worktree.TakeLease(ctx, w.Repo, s.Name, "")
	if err != nil {
		return explainLoop(err)
	}
	defer lease.Release()
	place, err := w.loopPlace(ctx, s)
	if err != nil {
		return explainLoop(err)
	}
	if !place.InPlace && place.Check() == nil {
		if err := place.Clean(ctx); err != nil {
			return exit.New(exit.NeedsPerson, fmt.Errorf("loop remove %s: %w", s.Name, err), uncommittedHint(s))
		}
	}
	done := loopRemovedJSON{Name: s.Name, Branch: strings.TrimPrefix(s.Branch, "refs/heads/"), Removed: []string{w.loopFolder(s.Name)}}
	refs, err := worktree.KeptBy(ctx, w.Repo, s.Name)
	if err != nil {
		return err
	}
	for _, r := range refs {
		done.Removed = append(done.Removed, r.Name)
	}
	if _, err := w.Repo.ReadRef(ctx, worktree.Refs+s.Name); err == nil {
		done.Removed = append(done.Removed, worktree.Refs+s.Name)
	}
	if !env.JSON {
		for _, what := range done.Removed {
			env.Print("remove  %s\n", term.Visible(what))
		}
	}
	if !o.yes && !w.env.Ask("Remove these? The branch "+done.Branch+" stays.", "n") {
		return exit.New(exit.NeedsPerson, errors.New("loop remove: nothing was removed"), "to go ahead: reverie loop remove "+s.Name+" --yes")
	}
	if err := place.Remove(ctx, s.Tip); err != nil {
		return explainLoop(err)
	}
	if err := worktree.Discard(ctx, w.Repo, s.Name); err != nil {
		return err
	}
	if env.JSON {
		return env.Object(done)
	}
	env.Say("the branch %s stays", done.Branch)
	return nil
}

// removeForeign removes the record of a loop that was not begun here, and nothing of what it names.
func (w *workspace) removeForeign(ctx context.Context, s worktree.State, o loopOptions) error {
	ref := worktree.Refs + s.Name
	if !w.env.JSON {
		w.env.Print("remove  %s\n", term.Visible(ref))
	}
	if !o.yes && !w.env.Ask("It was not begun here. Remove its record?", "n") {
		return exit.New(exit.NeedsPerson, errors.New("loop remove: nothing was removed"), "to go ahead: reverie loop remove "+s.Name+" --yes")
	}
	left, err := worktree.DiscardForeign(ctx, w.Repo, s.Name)
	if err != nil {
		return err
	}
	if left != "" {
		w.env.Say("%s stays, with what a loop of that name left; to remove it, too: reverie loop remove %s", left, s.Name)
	}
	if w.env.JSON {
		return w.env.Object(loopRemovedJSON{Name: s.Name, Branch: strings.TrimPrefix(s.Branch, "refs/heads/"), Removed: []string{ref}})
	}
	return nil
}

// endedLoop is the state of a loop that has ended; of one whose record is gone already, what is known without it.
func (w *workspace) endedLoop(ctx context.Context, name string) (worktree.State, error) {
	_, l, err := w.openLoop(ctx, name)
	if errors.Is(err, worktree.ErrNoLoop) && worktree.Slug(name) == name {
		kept, keptErr := worktree.KeptBy(ctx, w.Repo, name)
		_, dirErr := os.Lstat(w.loopFolder(name))
		if keptErr == nil && (len(kept) > 0 || dirErr == nil) {
			s := worktree.State{Name: name, Phase: worktree.Stopped, Branch: worktree.Branches + name, Settings: worktree.Settings{Sandbox: config.Off}}
			s.Tip, _ = w.Repo.ReadRef(ctx, s.Branch)
			return s, nil
		}
	}
	if err == nil && !l.State.Phase.Over() {
		err = exit.New(exit.Failed, fmt.Errorf("loop %s has not ended", l.State.Name), "reverie loop cancel "+l.State.Name)
	}
	return l.State, err
}
