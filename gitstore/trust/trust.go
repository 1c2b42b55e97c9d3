// Package trust says whose word counts in a clone. What came from elsewhere is kept, but a memory
// that somebody changed last who is not trusted here is withheld from agents until a person
// approves its very bytes. Agents go on being given the last version that people who are trusted
// left: what they are given is what it would be had nobody else committed anything. Who is trusted
// is a setting (config.Trust) and this clone's own identity; who changed what last is read along
// the graph of commits, where a merge launders nothing (gitstore.Store.Origins), and a signature
// counts if git finds it good.
//
// Make a Judge for a clone and ask it Withheld for a view; what that returns answers for one memory
// after the other without I/O, and its Given is the view for agents. In doubt more is withheld:
// where history cannot be read, all that nobody approved.
//
// Files of the state folder, none of which a remote can write, hold what was decided:
//
//	trust.json     what a person approved, or proposed and somebody merged: the only one that cannot be made again.
//	               Without it more is withheld.
//	withheld.json  the outcome for one tip of each ref, under the settings it was worked out for
//	authors-*.json who made each memory what it is, to go on from
//
// Where only this clone's own identity ever wrote, an outcome costs the first two of them. A Judge
// is for one command, and not safe for concurrent use.
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

// Judge decides for a clone.
type Judge struct {
	State    string          // the state folder, which may not exist yet
	Memory   *gitstore.Store // the branch of memories
	Fallback *gitstore.Store // read where there is no branch yet; nil if nothing is
	Journal  *gitstore.Store

	// Keep writes a file of the state folder that can be made again, as derived.Write does. It may
	// fail, or leave nothing where what a value follows from is no longer to be kept.
	Keep func(path string, value any)
}

// Withheld is what of one view is withheld. Nothing is of nil.
type Withheld struct {
	Doubts []error // why history could not be read: all that nobody approved is withheld

	of, agents      *record.View
	memory, journal judged
}

// Withheld decides for the memories of a view. The doubts are there with an error too.
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

// read is the branch that a view is of.
func (j *Judge) read(v *record.View) *gitstore.Store {
	if v.Fallback() {
		return j.Fallback
	}
	return j.Memory
}

// assess finds what is withheld of the branch, whose tip is now, and of the journal.
func (g *assessor) assess(ctx context.Context, store *gitstore.Store, now gitstore.ID, w *Withheld) (err error) {
	at := w.of.Tip()
	bare := at == ""
	if bare { // a tree tells no authors: what is as it is today has those of today
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

// Given is the view of what agents are given: without what is withheld, and with the version that
// they are given in its place.
func (w *Withheld) Given(v *record.View) *record.View {
	if v = v.Actual(); w.None() {
		return v
	}
	if w.agents == nil {
		w.agents = w.of.Given(w.memory.Sum+"."+w.journal.Sum, w.instead, func(blob gitstore.ID, private bool) bool { return len(w.WhoseFile(blob, private)) > 0 })
	}
	return w.agents
}

// instead are the versions that agents are given.
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

// Changed is a memory that agents are given as it was.
type Changed struct {
	By   []string  // who changed it since and is not trusted
	When time.Time // the version that is given was made; zero where that is not known
	Gone bool      // they took its file away
}

// Changed says of a memory by its path, of the journal if private, what became of the version that
// agents are given. ok is false where that is the newest.
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

// given is the content that agents are given of a memory that is withheld or gone.
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

// Whose names those for whom a memory of the view is withheld, by their addresses, where they have
// one, as these stand in the commits; nobody where it is not.
func (w *Withheld) Whose(m record.Memory) []string {
	if w.None() {
		return nil
	}
	blob, _ := w.of.Blob(m.ID)
	return w.WhoseFile(blob, m.Private)
}

// WhoseFile is Whose by the file of a memory, private ones from the journal.
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
		return []string{"somebody whom a tree without a commit does not name"}
	}
	return nil
}
