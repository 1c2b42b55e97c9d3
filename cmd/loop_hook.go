package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/worktree"
)

// runLoopHook is what git's hooks call that have a part in a loop.
func runLoopHook(ctx context.Context, env *Env, name string, _ loopOptions) error {
	switch name {
	case "pre-commit":
		return loopPreCommit(ctx, env)
	case "commit-msg":
		return loopCommitMessage(ctx, env)
	case "post-commit":
		return loopPostCommit(ctx, env)
	}
	return exit.Usage("git's hooks call it", "loop hook %s: no such hook", name)
}

// maxCommitMessage is how much of a commit's message is looked at before it is made, in bytes. Of one that was made it is all.
const maxCommitMessage = 1 << 20

// loopPreCommit looks at what an agent of a loop commits. An error refuses the commit.
func loopPreCommit(ctx context.Context, env *Env) error {
	index := os.Getenv("GIT_INDEX_FILE")
	git.LeaveRepository()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	limit := worktree.DefaultSettings().MaxFile
	if l, err := worktree.Open(w.Repo, os.Getenv(job.Loop), w.Scanner).Load(ctx); err == nil {
		limit = l.State.Settings.MaxFile
	}
	left, err := worktree.CheckStaged(ctx, w.Repo, index, limit, w.Scanner)
	if err != nil || len(left) == 0 {
		return err
	}
	var lines []string
	for _, f := range left {
		lines = append(lines, fmt.Sprintf("%s must not be committed: %s", f.Path, f.Why))
	}
	return loopFailure(worktree.Refusal, errors.New(strings.Join(lines, "\n")), "git restore --staged FILE, or have .gitignore name it")
}

// loopCommitMessage looks at the message of an agent's commit, on standard input. What git cuts off below it, a diff, is none of it.
func loopCommitMessage(ctx context.Context, env *Env) error {
	git.LeaveRepository()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(env.In, maxCommitMessage))
	if err != nil {
		return err
	}
	message, _, _ := strings.Cut(string(text), "\n# ------------------------ >8 ------------------------\n")
	if why := worktree.CheckMessage(message, w.Scanner); why != "" {
		return loopFailure(worktree.Refusal, errors.New("it must not be committed: "+why), "commit with another message")
	}
	return nil
}

// loopPostCommit has the loop go on that works where a commit was just made, if nobody carries it on. Nobody waits for it, nor reads what
// it says.
func loopPostCommit(ctx context.Context, env *Env) error {
	if job.Disabled() {
		return nil
	}
	git.LeaveRepository()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	name, err := w.committedLoop(ctx, os.Getenv(job.Loop))
	if err != nil || name == "" || !worktree.Free(ctx, w.Repo, name) {
		return err
	}
	// What goes on is no part of who committed: neither of the loop whose processes are ended now, nor of a session of an agent's.
	for _, v := range append(hooks.Marks(os.Getenv), "REVERIE_PHASE", "REVERIE_ITERATION") {
		os.Unsetenv(v)
	}
	dir := w.Repo.CommonDir // a work tree of a loop's own may go with its end
	if filepath.Dir(w.Repo.WorkTree) != w.loopFolder(name) {
		dir = w.Repo.WorkTree
	}
	return job.Start(dir, w.State, "loop", "wake", name)
}

// committedLoop is the loop that a commit in this work tree, on its branch, is about, as far as its record tells; "" if there is none. in is
// the loop whose agent made the commit, which has to do with no other.
func (w *workspace) committedLoop(ctx context.Context, in string) (string, error) {
	if err := w.Narrow(ctx); err != nil || w.Settings.Config.Background == config.Off || w.Repo.WorkTree == "" {
		return "", err
	}
	for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer"} { // there is more to come
		if _, err := os.Lstat(filepath.Join(w.Repo.GitDir, name)); err == nil {
			return "", nil
		}
	}
	_, branch, err := w.Repo.Head(ctx)
	if err != nil || branch == "" {
		return "", err
	}
	names, err := worktree.List(ctx, w.Repo)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		l, err := worktree.Open(w.Repo, name, w.Scanner).Load(ctx)
		if err != nil || !l.Own || in != "" && in != name {
			continue // one that cannot be read is not carried on, nor one that a fetch brought
		}
		place, err := worktree.PlaceOf(w.Repo, l.State, w.Scanner)
		switch {
		case err != nil:
			return "", err
		case l.State.Phase.Over() || l.State.Phase != worktree.Coding && !l.State.ByHand():
		case strings.TrimPrefix(l.State.Branch, "refs/heads/") == strings.TrimPrefix(branch, "refs/heads/") && file.Same(place.Dir, w.Repo.WorkTree):
			return name, nil
		}
	}
	return "", worktree.ForgetPlaces(ctx, w.Repo)
}

// runLoopWake carries a loop on that a commit has something to do for. It is started by git's hooks, in the background.
func runLoopWake(ctx context.Context, env *Env, name string, _ loopOptions) error {
	if err := notInLoop("wake"); err != nil {
		return err
	}
	env.toBackground()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	record, l, err := w.ownLoop(ctx, name)
	if err != nil {
		return err
	}
	lease, err := worktree.TakeLease(ctx, w.Repo, l.State.Name, worktree.Mark(l.State))
	if errors.Is(err, worktree.ErrHeld) { // who has it has looked at the branch later than the commit was made, or will
		return nil
	}
	if err != nil {
		return explainLoop(err)
	}
	place, err := w.loopPlace(ctx, l.State)
	var s worktree.State
	wanted := false
	if err == nil {
		s, wanted, err = worktree.Wake(ctx, record, place, env.Now())
	}
	if err != nil || !wanted {
		lease.Release()
		return explainLoop(err)
	}
	return w.carryOn(ctx, record, s, lease)
}

// wakes reports whether a commit in a loop's work tree, made outside of the loop, carries the loop on.
func (w *workspace) wakes(ctx context.Context) bool {
	hook := githook.All[0]
	script, err := os.ReadFile(hook.ScriptFile(w.Repo))
	if err != nil || !strings.Contains(string(script), "loop hook "+hook.Name) || w.Narrow(ctx) != nil || w.Settings.Config.Background == config.Off {
		return false
	}
	return hook.Runs(ctx, w.Repo)
}

// howOn says how a loop goes on that nobody carries on. in is the work tree, where that has to be said.
func (w *workspace) howOn(ctx context.Context, s worktree.State, in string) string {
	resume := "reverie loop resume " + s.Name
	on := w.wakes(ctx)
	if !s.ByHand() || s.Phase != worktree.Coding {
		if s.Phase == worktree.Coding && s.Settings.Sandbox == config.Off && on {
			return "nobody carries it on: " + resume + ", or a commit in its work tree, which ends the iteration"
		}
		return "nobody carries it on: " + resume
	}
	branch := strings.TrimPrefix(s.Branch, "refs/heads/")
	if commit := w.unseen(ctx, s); commit != "" {
		return fmt.Sprintf("commit %.12s on %s waits to be looked at: %s", commit, branch, resume)
	}
	wait := "it waits for a commit on " + branch
	if in != "" {
		wait += " in " + in
	}
	hooks, err := githook.FindPlace(ctx, w.Repo)
	switch {
	case on:
		return wait
	case w.Settings.Config.Background == config.Off:
		return wait + "; then: " + resume + " (learn.background is off)"
	case err != nil || hooks.Avoid != "" || hooks.Tool != "":
		return wait + "; then: " + resume + " (it goes on by itself once git's post-commit hook calls Reverie: 'reverie init --git-hooks' says what to add to it)"
	}
	return wait + "; then: " + resume + " (after 'reverie init --git-hooks' it goes on by itself)"
}

// unseen is the last commit of a loop by hand that nobody has looked at yet; "" if there is none.
func (w *workspace) unseen(ctx context.Context, s worktree.State) string {
	if !s.ByHand() || s.Phase != worktree.Coding || s.Given != "" {
		return s.Given
	}
	tip, err := w.Repo.ReadRef(ctx, s.Branch)
	if err != nil || tip == s.Tip {
		return ""
	}
	return tip
}

// tellWait says what a loop by hand waits for.
func (w *workspace) tellWait(ctx context.Context, s worktree.State, place *worktree.Place) error {
	if w.env.JSON {
		j, err := w.loopJSON(ctx, s.Name)
		if err != nil {
			return err
		}
		return w.env.Object(j)
	}
	w.env.Print("%s\n", place.Dir)
	w.env.Say("loop %s, iteration %d: %s", s.Name, s.Iteration, w.howOn(ctx, s, place.Dir))
	return nil
}
