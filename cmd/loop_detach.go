package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/worktree"
)

// handTime is how long a process in the background may take to have the lease before it is no longer waited for.
const handTime = 15 * time.Second

// detachLoop leaves a loop to a process in the background, and returns when that has the lease: whoever looks then finds it. Should another
// take the lease in between and end the loop, it stays ended.
func (w *workspace) detachLoop(ctx context.Context, s worktree.State, lease *worktree.Lease) error {
	dir := w.Repo.WorkTree
	if dir == "" {
		dir = w.Repo.CommonDir
	}
	cmd, err := job.Begin(dir, w.State, "loop", "carry", s.Name)
	lease.Release()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := w.handed(ctx, s, cmd.Process.Pid, ended); err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(map[string]string{"name": s.Name, "branch": strings.TrimPrefix(s.Branch, "refs/heads/")})
	}
	w.env.Print("%s\n", s.Name)
	return nil
}

// handed waits until the process pid has a loop's lease, or has ended, and says which.
func (w *workspace) handed(ctx context.Context, s worktree.State, pid int, ended <-chan error) error {
	goesOn := func() {
		w.env.Say("loop %s goes on in the background; look at it: reverie loop status %s --watch", s.Name, s.Name)
	}
	late := time.NewTimer(handTime)
	defer late.Stop()
	for {
		if h := worktree.Held(ctx, w.Repo, s.Name); h != nil && h.PID == pid {
			goesOn()
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			goesOn()
			return nil
		case failed := <-ended:
			l, err := worktree.Open(w.Repo, s.Name, w.Scanner).Load(ctx)
			switch {
			case err != nil:
				return err
			case l.State.Phase.Over():
				w.env.Say("loop %s is %s", s.Name, strings.TrimSuffix(string(l.State.Phase)+": "+string(l.State.Reason), ": "))
			case failed != nil && worktree.Held(ctx, w.Repo, s.Name) == nil:
				return exit.New(exit.Failed, fmt.Errorf("the loop %s did not go on in the background: %w; %s says why", s.Name, failed, filepath.Join(w.State, "log")), "reverie loop resume "+s.Name)
			default: // it waits for a commit, or somebody else carries it on
				goesOn()
			}
			return nil
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// runLoopCarry carries on the loop that --detach has left to this process. One that somebody has ended meanwhile is left alone.
func runLoopCarry(ctx context.Context, env *Env, name string, _ loopOptions) error {
	if err := notInLoop("carry"); err != nil {
		return err
	}
	env.toBackground()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	record, l, err := w.openLoop(ctx, name)
	if err != nil {
		return err
	}
	lease, err := worktree.TakeLease(ctx, w.Repo, l.State.Name, worktree.Mark(l.State))
	if err != nil {
		return explainLoop(err)
	}
	if l, err = record.Load(ctx); err != nil || l.State.Phase.Over() {
		lease.Release()
		return err
	}
	return w.carryOn(ctx, record, l.State, lease)
}
