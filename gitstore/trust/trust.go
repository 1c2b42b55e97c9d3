// Package trust decides whose changes count in a clone. A memory whose last author is untrusted is
// kept, but agents do not get it until a person approves its exact bytes. Until then they get the
// version that would exist if only trusted people had committed.
//
// The setting config.Trust and this clone's own identity say who is trusted. gitstore.Store.Origins
// finds the last author along the graph of commits, so that no merge can hide who made a change. A
// signature counts if git verifies it.
//
// Make a Judge for a clone and call Withheld with a view. The result answers for each memory
// without I/O, and its Given is the view for agents. In doubt more is withheld: if history cannot
// be read, everything that no person has approved.
//
// Files of the state folder, which no remote can write, hold the decisions:
//
//	trust.json     approvals, and proposals that were merged: cannot be derived again
//	withheld.json  the outcome for one tip of each ref, with the settings behind it
//	authors-*.json the authors of each memory, as a start for the next answer
//
// If trust.json is lost, more is withheld. In a clone where only its own identity ever wrote,
// Withheld reads only the first two files. A Judge serves one command and is not safe for
// concurrent use.
package trust

import (
	"context"
	"errors"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
)

// Files of the state folder.
const (
	ApprovedFile = "trust.json"
	WithheldFile = "withheld.json"
)

// Judge makes the decisions for a clone.
type Judge struct {
	State    string          // the state folder, which may not exist yet
	Memory   *gitstore.Store // the branch of memories
	Fallback *gitstore.Store // read where there is no branch yet; nil if nothing is
	Journal  *gitstore.Store

	// Keep writes a derived file of the state folder, as derived.Write does. It may fail, or write
	// nothing if the inputs of a value must no longer be kept.
	Keep func(path string, value any)
}

// Withheld describes the withheld part of one view. A nil Withheld is empty.
type Withheld struct {
	Doubts []error // reasons that history could not be read: everything unapproved is withheld

	of, agents      *record.View
	memory, journal judged
}

// Withheld returns the withheld part of a view. With an error the result still holds the doubts.
func (j *Judge) Withheld(ctx context.Context, v *record.View, c config.Trust) (*Withheld, error) {
	if c.Everyone {
		return nil, nil
	}
	store := j.read(v)
	now, err := store.Tip(ctx)
	if err != nil {
		return nil, err
	}
	g, err := j.assessor(c)
	if err != nil {
		return nil, err
	}
	w := &Withheld{of: v}
	err = g.assess(ctx, store, now, w)
	w.Doubts = g.doubts
	return w, err
}

// read returns the store of a view's public memories.
func (j *Judge) read(v *record.View) *gitstore.Store {
	if v.Fallback() {
		return j.Fallback
	}
	return j.Memory
}

// assess finds the withheld memories of the branch, whose tip is now, and of the journal.
func (g *assessor) assess(ctx context.Context, store *gitstore.Store, now gitstore.ID, w *Withheld) (err error) {
	at := w.of.Tip()
	bare := at == ""
	if bare { // a tree has no authors: unchanged files keep today's
		at = now
	}
	if w.memory, err = g.of(ctx, store, at, at == now); err != nil {
		return err
	}
	if bare {
		if w.memory.known, err = blobsAt(ctx, store, at); err != nil {
			return err
		}
		w.memory.Given, w.memory.Sum = nil, string(w.of.Tree())
	}
	switch tip, err := g.Journal.Tip(ctx); {
	case err == nil:
		if w.journal, err = g.of(ctx, g.Journal, tip, true); err != nil {
			return err
		}
	case !errors.Is(err, gitstore.ErrNoStore):
		return err
	}
	g.save()
	return nil
}

// None reports whether nothing is withheld.
func (w *Withheld) None() bool {
	return w == nil || w.memory.known == nil && len(w.memory.Withheld)+len(w.journal.Withheld)+len(w.memory.Given)+len(w.journal.Given) == 0
}

// Given returns the view for agents, with withheld memories removed or replaced by the version that
// counts.
func (w *Withheld) Given(v *record.View) *record.View {
	if v = v.Actual(); w.None() {
		return v
	}
	if w.agents == nil {
		w.agents = w.of.Given(w.memory.Sum+"."+w.journal.Sum, w.instead, func(blob gitstore.ID, private bool) bool { return len(w.WhoseFile(blob, private)) > 0 })
	}
	return w.agents
}

// instead returns the replacements for agents on both shelves, in no particular order.
func (w *Withheld) instead() (all []record.Instead) {
	for i, j := range []*judged{&w.memory, &w.journal} {
		for file := range j.Given {
			if g, ok := j.given(file); ok {
				all = append(all, record.Instead{Path: file, Private: i == 1, Now: g.now, Then: g.then, Text: j.Texts[g.then]})
			}
		}
	}
	return all
}

// Changed describes a memory of which agents get an earlier version.
type Changed struct {
	By   []string  // untrusted authors of changes since
	When time.Time // date of the version that agents get; zero if unknown
	Gone bool      // the authors removed its file
}

// Changed describes a change to the memory at path after the version that agents get. private
// selects the journal. ok is false if agents get the newest version.
func (w *Withheld) Changed(path string, private bool) (c Changed, ok bool) {
	if w.None() {
		return c, false
	}
	j := &w.memory
	if private {
		j = &w.journal
	}
	g, ok := j.given(path)
	if ok {
		c = Changed{By: j.People[g.by], When: g.when, Gone: g.now == ""}
	}
	return c, ok
}

// given returns the content that agents get for a withheld or removed memory. ok is false if they
// get the newest version, or none. An id on both shelves means the journal's memory.
func (w *Withheld) given(id string) (blob gitstore.ID, ok bool) {
	if w.None() {
		return "", false
	}
	for _, j := range []*judged{&w.journal, &w.memory} {
		for file := range j.Given {
			if g, ok := j.given(file); ok && idOf(file) == id {
				return g.then, true
			}
		}
	}
	return "", false
}

// Whose returns the untrusted authors for whom a memory of the view is withheld, by their addresses
// in the commits. It is empty if the memory is not withheld.
func (w *Withheld) Whose(m record.Memory) []string {
	if w.None() {
		return nil
	}
	blob, _ := w.of.Blob(m.ID)
	return w.WhoseFile(blob, m.Private)
}

// WhoseFile is Whose by the memory's blob; private selects the journal.
func (w *Withheld) WhoseFile(blob gitstore.ID, private bool) []string {
	if w.None() {
		return nil
	}
	j := &w.memory
	if private {
		j = &w.journal
	}
	if i, ok := j.Withheld[blob]; ok {
		return j.People[i]
	}
	if j.known != nil && !j.known[blob] {
		return []string{"an author whom a tree without a commit does not name"}
	}
	return nil
}
