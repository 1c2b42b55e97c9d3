// Package purge takes a text, or a memory, for good out of all of a clone that is ours: out of the
// histories of the stores and of every other ref of ours, out of their logs, and out of the state
// folder.
//
// Histories are rewritten so that every clone which takes out the same comes to the same ids. What
// went is recorded on the stores by hash (record.Purge): merging, syncing and writing look at those
// records, so it does not come back, and other clones follow them. Nothing that goes is kept
// anywhere. What else may hold it, the user's own refs, packs, remotes, is named and left alone.
//
// A Clone is what a purge works on. Plan finds where something stands, Apply takes it out, and
// Done.Finish removes the old objects and says what is left:
//
//	p, err := c.Plan(ctx, purge.Text("a secret"))
//	found, err := p.Find(ctx) // what would go, to be shown
//	done, err := c.Apply(ctx, p.Target, "")
//	left, err := done.Finish(ctx, "")
//
// Push replaces the branch of a remote after that. Follow is the other side: what this clone has to
// do because of a history that was fetched, in which something was purged or which holds what was
// purged here.
//
// Plan, Find and Follow write nothing and take no lock. Apply, Finish and Push take the lock of the
// stores for themselves; whoever calls them holds the lock of git.Repo.LockSync from the reading of
// Clone.Remotes on. Whenever an Apply is interrupted, each ref is at its old history or at its new
// one, and the same again does the rest. Where a person has to decide first, the error is a
// *Refused.
package purge

import (
	"context"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Clone is a repository with everything of ours in it. All fields are needed but Scanner and
// Agents.
type Clone struct {
	Repo    *git.Repo
	Memory  *gitstore.Store   // the memory branch
	Journal string            // the ref of the journal
	Book    *record.Book      // reads both
	Scanner *redact.Scanner   // of the reason that a person gives
	Now     func() time.Time  // the time of the records
	First   map[string]string // the files that every store begins with, by path: they are nobody's text
	Agents  string            // a file in the work tree that memories are written into; looked at, never changed
	Remotes *remotes.File
	State   State
	Loops   Loops
}

// State is the state folder: what a clone keeps that no ref holds.
type State struct {
	Dir     string
	Kind    func(path string) Kind          // of a file or a folder, by its path below Dir, with slashes
	Session func(client, id string) string  // the path of an agent's session below Dir, with slashes
	Drop    func(ctx context.Context) error // removes what is made again, where nobody can tell what it was made from
}

// Kind is what a purge does about a file of the state folder that holds what goes.
type Kind int

const (
	Plain    Kind = iota // "[purged]" stands where the text stood; a line of JSON goes whole
	Whole                // removed: it is made again, or its name binds it to its bytes
	Session              // removed: it is raw material, and says a thing in many ways; only the words of its JSON count
	Note                 // removed likewise: JSON that somebody noted
	Settings             // left: a person edits it
	Passed               // not looked at, nor is what is below it if it is a folder
)

// Loops are the runs of agents on work trees of their own, as far as a purge meets them.
type Loops struct {
	Records  string // the folder of the refs that are records of loops; their plan.md and state.json make them one
	Branches string // the folder of the loops' branches
	Kept     string // the folder of the refs that keep what loops made: Kept + name + "/1" and so on
	Dir      string // the folder with their files: in it, by name, the folders tree and left
	Held     func(ctx context.Context, name string) bool
}
