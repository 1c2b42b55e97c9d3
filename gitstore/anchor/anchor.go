// Package anchor checks memories against the code. Two things tie a memory to code: anchors to
// lines of files, and the side branch on which it was learned. A missing line makes the memory
// stale. Once the side branch has landed on the default branch, by a merge, a squash or a rebase,
// the memory holds everywhere.
//
// Make a Code for a clone; Code.Here returns the Commit to check memories against. Commit.Gone
// lists a memory's missing anchors, and Commit.Find finds the anchors of a new memory. Code.Holds
// reports whether a side branch's lessons hold there, and Code.Land finds out whether side branches
// have landed. Uncommitted changes count only in TreeGone, which examines the few memories that an
// agent is about to be given.
//
// The package fetches nothing, and reads git's objects and the files of the work tree. A command's
// work is bounded in time and bytes, because memories may come from a stranger. Beyond a bound, on
// errors, and in a shallow clone the answer is unknown. An unknown answer makes no memory stale,
// and holds back the lessons of side branches. The folder code of the state folder caches the
// findings at a commit, so that the next command reads no code.
//
// A Code and its Commits are not safe for concurrent use. Code.Done saves the findings.
package anchor

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
)

// Code checks memories against the code of a clone.
type Code struct {
	Repo     *git.Repo // offline: see git.Repo.Offline
	State    string    // the state folder, which may not exist yet
	Main     string    // default branch; "" asks git
	Memories string    // the ref of the memory branch, which is no side branch of the code
	Book     *record.Book

	// Note receives errors that left an answer unknown. It may be nil.
	Note func(error)

	here   *Commit
	stands bool // here is the commit that Stand named
	tree   *Tree
	on     map[string]*Commit // tips of branches
	main   *git.Default       // once asked for
}

// Here returns the asker's commit: HEAD of this worktree, or the one that Stand named.
func (c *Code) Here(ctx context.Context) *Commit {
	if c.here == nil {
		id, branch, err := c.Repo.Head(ctx)
		if err != nil {
			id = "" // before the first commit, or unreadable
		}
		c.here = c.at(id, branch)
	}
	return c.here
}

// Stand makes a commit the asker's, on a branch or on none.
func (c *Code) Stand(commit, branch string) { c.here, c.stands = c.at(commit, branch), true }

// On returns the code for work that began on a branch: its tip, if it is a side branch of this
// clone, otherwise Here. Work that began on the default branch may have made the branch of HEAD.
func (c *Code) On(ctx context.Context, branch string) *Commit {
	here := c.Here(ctx)
	if branch == "" || branch == here.Branch || branch == c.Mainline(ctx).Name {
		return here
	}
	tip, err := c.Repo.Refs().Read(ctx, "refs/heads/"+branch)
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

// Mainline returns the default branch of the code, or the zero value.
func (c *Code) Mainline(ctx context.Context) git.Default {
	if c.main == nil {
		d, err := c.Repo.Refs().Default(ctx, c.Main)
		if err != nil {
			c.note(fmt.Errorf("find the default branch: %w", err))
		}
		c.main = &d
	}
	return *c.main
}

// Reset forgets HEAD and the branches, which may have moved.
func (c *Code) Reset() { c.here, c.stands, c.on, c.main = nil, false, nil, nil }

// Done saves the findings at the asker's commit and closes its resources. The Code remains usable.
// A nil Code is allowed.
func (c *Code) Done() {
	if c == nil {
		return
	}
	if c.here != nil {
		c.here.done()
	}
	if c.tree != nil {
		c.tree.Close()
		c.tree = nil
	}
}

func (c *Code) note(err error) {
	if c.Note != nil {
		c.Note(err)
	}
}
