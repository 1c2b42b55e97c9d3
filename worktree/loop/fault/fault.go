// Package fault gives each error of a loop an exit code and a hint. New and Explain are for the
// packages that do the work; Stopped says how a loop ended.
package fault

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/ollama"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
)

// New returns the error of a loop that ends for a reason. Its exit code is 20 and the reason's
// place in worktree.Reasons.
func New(reason worktree.Reason, err error, hint string) error {
	return exit.New(exit.Loop+slices.Index(worktree.Reasons[:], reason), err, hint)
}

// Sandbox returns the error of a loop that cannot have its sandbox.
func Sandbox(err error) error { return New(worktree.SandboxFailed, err, sandbox.Hint(err)) }

// Outside refuses a command to every process that a loop started.
func Outside(command string) error {
	if name := os.Getenv(job.Loop); name != "" {
		return New(worktree.Refusal, fmt.Errorf("loop %s: refused inside the loop %s", command, name),
			"who started that loop does it, or, if this is no agent of its: unset "+job.Loop)
	}
	return nil
}

// Stopped returns the error of a loop that stopped.
func Stopped(s worktree.State) error {
	why := fmt.Errorf("loop %s stopped in iteration %d: %s", s.Name, s.Iteration, s.Reason)
	if s.Detail != "" {
		why = fmt.Errorf("%w: %s", why, unseen.OneLine(s.Detail, 600))
	}
	hint := Work(s) + "; to go on: reverie loop resume " + s.Name
	switch {
	case s.At == worktree.Starting:
		hint = ""
	case s.Reason == worktree.MaxIterations:
		hint += fmt.Sprintf(" --max %d", s.Settings.MaxIterations*2)
	}
	return New(s.Reason, why, hint)
}

// Work says where a loop's work is, if there is any.
func Work(s worktree.State) string {
	if s.Tip == "" || s.Tip == s.Base {
		return "nothing was committed on " + strings.TrimPrefix(s.Branch, "refs/heads/")
	}
	return "its work is on " + strings.TrimPrefix(s.Branch, "refs/heads/")
}

// Uncommitted says what a person can do about a loop's work that is not committed. Nothing of the
// host may run on files that a container wrote.
func Uncommitted(s worktree.State) string {
	if !s.Settings.Sandboxed() {
		return "commit it there, take it away, or go on: reverie loop resume " + s.Name
	}
	return "take it away, or have the loop commit it: reverie loop resume " + s.Name + "; run nothing there, git included: it was written in a sandbox"
}

// Explain gives errors of package worktree and below their exit codes and hints.
func Explain(err error) error {
	unknown := new(agent.UnknownError)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		return exit.Usage("known are "+strings.Join(agent.Names(), ", ")+"; any other one: reverie loop start PLAN -- COMMAND…; to commit yourself: --agent "+worktree.Hand, "%w", err)
	case errors.Is(err, ollama.ErrUnavailable):
		return exit.New(exit.Failed, err, "'ollama serve' starts the server; or have somebody else look for defects: --audit CMD, --audit-agent NAME")
	case errors.As(err, new(*exit.Error)):
		return err
	case errors.Is(err, worktree.ErrDirty):
		return New(worktree.Refusal, err, "commit it, or take it away, first")
	case errors.Is(err, worktree.ErrGone):
		return New(worktree.WorktreeGone, err, "")
	case errors.Is(err, worktree.ErrForeign):
		return New(worktree.Refusal, err, "'reverie loop remove' takes its record away")
	case errors.Is(err, worktree.ErrRefused):
		return New(worktree.Refusal, err, "")
	case errors.Is(err, worktree.ErrSandbox):
		return Sandbox(err)
	case errors.As(err, new(*worktree.PlanError)):
		return exit.Usage("'reverie loop lint PLAN' shows all that is wrong with it", "%v", err)
	case errors.Is(err, worktree.ErrHeld):
		return exit.New(exit.Failed, err, "'reverie loop status' shows it, 'reverie loop cancel' ends it")
	case errors.Is(err, worktree.ErrDone):
		return exit.New(exit.Failed, err, "there is nothing to go on with; begin another from its branch: reverie loop start PLAN --base BRANCH")
	case errors.Is(err, worktree.ErrEnded):
		return exit.New(exit.Failed, err, "give it more: --max N, --time T; or start another")
	}
	return err
}
