// Package purge permanently removes a text or a memory from a clone: from the histories of our
// refs, their logs and the state folder.
//
// Clones that purge the same target arrive at the same ids. Each store records the purged hashes
// (record.Purge). Merging, syncing and writing check these records, so that a purged text does not
// return, and other clones purge by them. No copy is kept. Purge names other places that may hold
// the text, such as the user's own refs, packs and remotes, but leaves them alone.
//
// Plan finds a target in a Clone, Apply removes it, and Done.Finish removes the old objects and
// lists the remains:
//
//	p, err := c.Plan(ctx, purge.Text("a secret"))
//	found, err := p.Find(ctx) // the parts to remove, for display
//	done, err := c.Apply(ctx, p.Target, "")
//	left, err := done.Finish(ctx, "")
//
// Then Push replaces the branch of a remote. Follow is for the other clones: it adapts a clone to a
// fetched history that was purged, or that holds something purged here.
//
// Plan, Find and Follow write nothing and take no lock. Apply, Finish and Push lock the stores.
// Their caller holds the lock of git.State.LockSync from before it reads Clone.Remotes. After an
// interrupted Apply each ref has its old or its new history, and the same call completes the purge.
// If a person has to decide first, the error is a *Refused.
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

// Clone is a repository with all our data in it. All fields are required except Scanner and Agents.
type Clone struct {
	Repo    *git.Repo
	Memory  *gitstore.Store   // the memory branch
	Journal string            // the ref of the journal
	Book    *record.Book      // reads both
	Scanner *redact.Scanner   // of the person's reason
	Now     func() time.Time  // the time of the records
	First   map[string]string // initial files of every store, by path; they are no user's text
	Agents  string            // a file in the work tree with a block of memories; read, never changed
	Remotes *remotes.File
	State   State
	Loops   Loops
}

// State describes the state folder: data of a clone outside its refs.
type State struct {
	Dir string
	// Kind returns the kind of a file or folder, by its slash-separated path below Dir.
	Kind    func(path string) Kind
	Session func(client, id string) string  // the path of an agent's session below Dir, with slashes
	Drop    func(ctx context.Context) error // removes derived data whose inputs are unknown
}

// Kind selects the treatment of a state file that holds the target.
type Kind int

const (
	Plain Kind = iota // the text becomes "[purged]"; a line of JSON is removed
	Whole             // removed: it is derived, or its name depends on its bytes
	// Session is removed, because it repeats a thing in many ways. Only words in its JSON count.
	Session
	Note     // removed likewise: notes in JSON
	Settings // unchanged: a person edits it
	Passed   // ignored, along with everything below a folder
)

// Loops locates the data of agents' loops that a purge has to check.
type Loops struct {
	Records  string // prefix of the refs that record loops, each with plan.md and state.json
	Branches string // the folder of the loops' branches
	Kept     string // prefix of the refs that keep results of loops: Kept + name + "/1" and so on
	Dir      string // the folder with their files: in it, by name, the folders tree and left
	Held     func(ctx context.Context, name string) bool
}
