// Package anchor says whether a statement is still true of the code. A memory is tied to the code
// in two ways: by its anchors to lines of files, and by its side to the branch on which it was
// learned. A line that is gone makes it stale; a side branch that has landed on the default branch,
// by a merge, a squash or a rebase, makes it hold everywhere.
//
// Make a Code for a clone. Code.Here is the Commit for which a command answers: Commit.Gone says
// what a memory rests on that is no longer there, Commit.Find what a new one rests on, Code.Holds
// whether what was learned on a side branch holds there, Code.Land what has become of side
// branches. What is not committed does not count.
//
// Only git's objects are read, nothing is fetched, and what one command does is bounded in time and
// bytes, for memories may come from a stranger. Beyond a bound, on errors, and in a shallow clone
// nothing is known: that makes nothing stale, and holds back what a side branch taught. What was
// found out at a commit is kept in the folder code of the state folder, so that the next command
// there reads no code.
//
// A Code and its Commits are not safe for concurrent use. Code.Done keeps what was found out.
package anchor

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
)

// Code is the code of a clone.
type Code struct {
	Repo     *git.Repo // offline: see git.Repo.Offline
	State    string    // the state folder, which may not exist yet
	Main     string    // the name of the default branch; "" is what git says
	Memories string    // the ref of the branch of memories, which is no side branch of the code
	Book     *record.Book

	// Note is given what kept something from being found out that is not known now. It may be nil.
	Note func(error)

	here *Commit
	on   map[string]*Commit // tips of branches
	main *git.Default       // once asked for
}

// Here is the code where the asker stands: HEAD of this worktree, or what Stand named.
func (c *Code) Here(ctx context.Context) *Commit {
	if c.here == nil {
		id, branch, err := c.Repo.Head(ctx)
		if err != nil {
			id = "" // before the first commit, or nothing that can be read
		}
		c.here = c.at(id, branch)
	}
	return c.here
}

// Stand has the asker stand at a commit from now on, which is on a branch, or on none that counts.
func (c *Code) Stand(commit, branch string) { c.here = c.at(commit, branch) }

// On is the code that work was about which began on a branch: its tip, where that is a side branch
// of this clone, else Here, for work that began on the default branch may have made the branch that
// HEAD is on.
func (c *Code) On(ctx context.Context, branch string) *Commit {
	here := c.Here(ctx)
	if branch == "" || branch == here.Branch || branch == c.Mainline(ctx).Name {
		return here
	}
	tip, err := c.Repo.ReadRef(ctx, "refs/heads/"+branch)
	if err != nil {
		return here
	}
	if c.on == nil {
		c.on = map[string]*Commit{}
	}
	if c.on[branch] == nil {
		c.on[branch] = c.at(tip, branch)
	}
	return c.on[branch]
}

// Mainline is the default branch of the code, which is the zero value where there is none.
func (c *Code) Mainline(ctx context.Context) git.Default {
	if c.main == nil {
		d, err := c.Repo.Default(ctx, c.Main)
		if err != nil {
			c.note(fmt.Errorf("find the default branch: %w", err))
		}
		c.main = &d
	}
	return *c.main
}

// Reset forgets where HEAD and the branches were: they may have moved.
func (c *Code) Reset() { c.here, c.on, c.main = nil, nil, nil }

// Done keeps what was found out where the asker stands, and closes what is open there. More may be
// asked behind it. Nothing is to be done of nil.
func (c *Code) Done() {
	if c != nil && c.here != nil {
		c.here.done()
	}
}

func (c *Code) note(err error) {
	if c.Note != nil {
		c.Note(err)
	}
}
