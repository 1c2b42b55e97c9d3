// Package loop starts, resumes, cancels, shows and removes the loops of a clone. Package worktree
// holds the state machine; this package connects it to settings, agents, containers, models,
// memories and git's hooks. Begin with Loops.Start or Loops.Resume, then Claim.Carry.
//
// One process at a time runs a loop: the one that holds its lease. Every process may read.
package loop

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/container"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/reverie-memory/reverie/worktree/loop/status"
)

// Loops are the loops of one clone. All functions must be set.
type Loops struct {
	*plan.Planner

	// Ingest keeps the sessions of the loops' agents that wait in the spool.
	Ingest func(context.Context) error
	// Learn learns from a kept session. It returns how many operations wait if the session added one.
	Learn func(ctx context.Context, session string) (waiting int, err error)
}

// Notes that Loops reports beside those of package plan.
type (
	// Stepped tells of a step that a loop took.
	Stepped struct {
		Before, After worktree.State
		Event         worktree.Event
	}
	// NoSubmodules says that a work tree lacks the files of submodules.
	NoSubmodules struct{ Text string }
	// Lacks says why a prompt holds no memories. Its reader is "agent" or "auditor".
	Lacks struct {
		Reader string
		Err    error
	}
	// Stays says why the work tree of a loop that is done was not removed.
	Stays struct {
		Loop string
		Err  error
	}
	// Interrupted says that a loop was interrupted, and can be resumed.
	Interrupted struct{ Loop string }
	// NotIngested says why sessions of a loop's agents wait in the spool.
	NotIngested struct{ Err error }
	// NotLearned says why Reverie learns nothing from a loop.
	NotLearned struct{ Err error }
	// Kept names the session of a loop in a clone without a memory.
	Kept struct{ Session string }
	// Learned says that the session of a loop added operations. Waiting counts all that wait.
	Learned struct{ Waiting int }
)

// own is Open for a caller that follows the record or ends what it names.
func (l *Loops) own(ctx context.Context, name string) (*worktree.Record, worktree.Loop, error) {
	record, found, err := status.Open(ctx, l.Clone, name)
	if err == nil {
		found, err = record.LoadOwn(ctx)
	}
	return record, found, fault.Explain(err)
}

// place returns the place of a loop that was started. A loop in the user's own work tree is opened
// from there; Check reports a work tree that is gone or belongs to another repository now.
func (l *Loops) place(ctx context.Context, s worktree.State) (*worktree.Place, error) {
	repo := l.Repo
	if s.InPlace != "" && s.InPlace != repo.WorkTree {
		found, err := git.Find(ctx, s.InPlace)
		_, missing := os.Lstat(s.InPlace)
		switch {
		case err == nil && found.CommonDir == repo.CommonDir:
			repo = found
		case err != nil && !errors.Is(err, git.ErrNotRepository) && !errors.Is(missing, fs.ErrNotExist):
			return nil, fault.New(worktree.WorktreeGone, err, "")
		}
	}
	place, err := worktree.PlaceOf(repo, s, l.Scanner)
	if err == nil && s.Settings.Sandboxed() && !s.ByHand() {
		container.Guard(place, l.Tree(s, place.Dir), s, l.Scanner)
	}
	return place, err
}

// folder returns the folder of a loop in the state folder.
func folder(repo *git.Repo, name string) string { return filepath.Join(worktree.Folder(repo), name) }

// branchName returns the name of a loop's branch as people type it.
func branchName(s worktree.State) string { return strings.TrimPrefix(s.Branch, "refs/heads/") }

// Waive settles open findings of a loop for a reason. It returns those that it settled before an
// error.
func Waive(ctx context.Context, c *clone.Clone, name string, ids []string, reason string) (waived []worktree.Finding, err error) {
	if err := fault.Outside("findings --waive"); err != nil {
		return nil, err
	}
	record, _, err := status.Open(ctx, c, name)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		f, err := record.Waive(ctx, id, reason)
		if err != nil {
			return waived, fault.Explain(err)
		}
		waived = append(waived, f)
	}
	return waived, nil
}
