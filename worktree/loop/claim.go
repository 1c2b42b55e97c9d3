package loop

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/phase"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/reverie-memory/reverie/worktree/loop/status"
)

// Claim is a loop whose lease this process holds. Its owner calls Carry or Detach once; both
// release the lease.
type Claim struct {
	State worktree.State // as of the claim

	loops  *Loops
	record *worktree.Record
	lease  *worktree.Lease
}

// Take claims a loop that Detach left to this process. It returns nil if the loop ended meanwhile.
func (l *Loops) Take(ctx context.Context, name string) (*Claim, error) {
	if err := fault.Outside("carry"); err != nil {
		return nil, err
	}
	record, found, err := status.Open(ctx, l.Clone, name)
	if err != nil {
		return nil, err
	}
	lease, err := worktree.TakeLease(ctx, l.Repo, found.State.Name, worktree.Mark(found.State))
	if err != nil {
		return nil, fault.Explain(err)
	}
	if found, err = record.Load(ctx); err != nil || found.State.Phase.Over() {
		lease.Release()
		return nil, err
	}
	return &Claim{found.State, l, record, lease}, nil
}

// Carry carries the loop on until it ends or waits for a commit by hand.
func (c *Claim) Carry(ctx context.Context) (end worktree.State, waits bool, err error) {
	place, do, err := c.doers(ctx)
	if err != nil {
		c.lease.Release()
		return end, false, fault.Explain(err)
	}
	do.Waits = func(worktree.State) { waits = true }
	end, err = worktree.Carry(ctx, c.record, place, c.lease, do)
	if err != nil && ctx.Err() != nil {
		c.loops.Notify(Interrupted{c.State.Name})
	}
	return end, waits && !end.Phase.Over(), fault.Explain(err)
}

// doers returns the loop's place, and the functions that do its phases there.
func (c *Claim) doers(ctx context.Context) (place *worktree.Place, do worktree.Doers, err error) {
	l, s := c.loops, c.State
	if place, err = l.place(ctx, s); err != nil {
		return nil, do, err
	}
	p := &phase.Phases{Reader: l.Reader, Record: c.record, Place: place, Model: l.Model, Lacks: func(who string, err error) { l.Notify(Lacks{who, err}) }}
	if p.Inside, err = l.Runner(ctx, s, place.Dir); err != nil {
		return nil, do, err
	}
	if p.Inside == nil {
		if p.Env, err = hostEnv(ctx, place); err != nil {
			return nil, do, err
		}
	}
	do = worktree.Doers{
		Code: p.Code, Verify: p.Verify, Now: l.Now,
		Stays: func(err error) { l.Notify(Stays{s.Name, err}) },
		Ended: func(end worktree.State) { l.learn(ctx, c.record, end) },
		Told: func(before, after worktree.State, e worktree.Event) {
			l.Notify(Stepped{before, after, e})
			if e.Kind == worktree.Placed && s.InPlace == "" {
				if why, err := plan.NoSubmodules(ctx, l.Repo, s.Base); err == nil && why != "" {
					l.Notify(NoSubmodules{why})
				}
			}
		},
	}
	if s.Settings.Audited() {
		do.Audit = p.Audit
	}
	if p.Inside != nil && s.ByHand() {
		do.Verify, do.Audit = p.Apart(do.Verify), p.Apart(do.Audit)
	}
	return place, do, nil
}

// hostEnv returns the environment of commands on this machine.
func hostEnv(ctx context.Context, place *worktree.Place) (env []string, err error) {
	program, err := os.Executable()
	if err != nil {
		program = "" // the hook lets everything pass; the loop's own commit does not
	}
	hookEnv, err := place.HookEnv(ctx, program)
	if err != nil {
		return nil, err
	}
	for _, kv := range git.Environ() {
		if !strings.HasPrefix(kv, job.Depth+"=") {
			env = append(env, kv)
		}
	}
	return append(env, hookEnv...), nil
}

// detachTime bounds the wait for a process in the background to take the lease.
const detachTime = 15 * time.Second

// Detach leaves the loop to a process in the background. It waits until that process has the
// lease, so that the next reader finds it. ended is the state of a loop that ended already, else
// nil.
func (c *Claim) Detach(ctx context.Context) (ended *worktree.State, err error) {
	dir := cmp.Or(c.loops.Repo.WorkTree, c.loops.Repo.CommonDir)
	cmd, err := job.Begin(dir, c.loops.State, "loop", "carry", c.State.Name)
	c.lease.Release()
	if err != nil {
		return nil, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	return c.handOver(ctx, cmd.Process.Pid, exited)
}

// handOver waits until the process pid has the lease or has exited.
func (c *Claim) handOver(ctx context.Context, pid int, exited <-chan error) (ended *worktree.State, err error) {
	l, name := c.loops, c.State.Name
	late := time.NewTimer(detachTime)
	defer late.Stop()
	for {
		if h := worktree.Held(ctx, l.Repo, name); h != nil && h.PID == pid {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			return nil, nil
		case failed := <-exited:
			found, err := c.record.Load(ctx)
			switch {
			case err != nil:
				return nil, err
			case found.State.Phase.Over():
				return &found.State, nil
			case failed != nil && worktree.Held(ctx, l.Repo, name) == nil:
				return nil, exit.New(exit.Failed, fmt.Errorf("the loop %s did not go on in the background: %w; %s says why", name, failed, filepath.Join(l.State, "log")), "reverie loop resume "+name)
			}
			return nil, nil // it waits for a commit, or another process carries it on
		case <-time.After(10 * time.Millisecond):
		}
	}
}
