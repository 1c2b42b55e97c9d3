// Package reader answers questions about one clone's memory for one asker: which memories may be
// seen, how each of them applies to the code here, and which answer a query. Begin with New, then
// View with Caveats, or Recall.
//
// A Reader keeps the results for the view that was asked about last, so it serves one goroutine at
// a time.
package reader

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
)

// Reader reads the memory of a clone.
type Reader struct {
	*clone.Clone
	Settings clone.Team // as of the view that was opened last; the user's own before the first
	Report   func(Note) // hears notes; may be nil

	// Embedder replaces the model of the settings. With nil the settings decide.
	Embedder func(context.Context) (vector.Embed, vector.Space, error)

	Documents Documents

	view     *record.View    // that withheld is about
	withheld *trust.Withheld // see Withheld
	index    *recall.Index   // see OpenIndex
}

// New returns a reader of a clone.
func New(c *clone.Clone, report func(Note)) *Reader {
	return &Reader{Clone: c, Settings: clone.Team{Config: c.Config}, Report: report, Documents: Documents{Top: c.Repo.WorkTree}}
}

// Note tells of something that an answer does not depend on.
type Note struct {
	About Topic
	Err   error
	Files []string // Unreadable: why each of them cannot be read
	Text  string   // Committed: the text of git
}

// Topic says what a note is about.
type Topic int

const (
	Doubted    Topic = iota // Err: some authors are unknown, so that everything unapproved is withheld
	Unindexed               // Err: the index was not kept, so that the next search makes it again
	Unreadable              // Files: records that were passed over
	Unrecorded              // Err: something was not written down, which costs a repetition at most
	Unplaced                // Err: how the branch differs from the default one is unknown
	Passed                  // Err: something unreadable was passed over
	Committed               // Text: a note of git's on a commit, such as one on signing
)

// Note passes a note on, if anybody listens.
func (r *Reader) Note(n Note) {
	if r.Report != nil {
		r.Report(n)
	}
}

// View runs fn on the newest state of the memory. It sets Settings to those that count there.
func (r *Reader) View(ctx context.Context, fn func(*record.View) error) error {
	return r.Clone.View(ctx, func(v *record.View, t clone.Team) error {
		r.Settings = t
		return fn(v)
	})
}

// Update is View for writers. It notes git's remarks on the commits.
func (r *Reader) Update(ctx context.Context, fn func(*record.Tx, clone.Team) error) error {
	notes, err := r.Clone.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		r.Settings = t
		return fn(tx, t)
	})
	for _, text := range notes {
		r.Note(Note{About: Committed, Text: text})
	}
	return err
}

// ViewAt is View on the state that a revision names, as PastState finds it; "" is the newest. For a
// commit of the code, caveats are those at that commit.
func (r *Reader) ViewAt(ctx context.Context, rev string, fn func(*record.View) error) error {
	if rev == "" {
		return r.View(ctx, fn)
	}
	commit, err := r.PastState(ctx, rev)
	if err != nil {
		return err
	}
	defer r.Reading()()
	return r.Book.ViewAt(ctx, commit, fn)
}

// Restrict sets Settings to those that count in a view, and returns the user's as the team narrowed
// them.
func (r *Reader) Restrict(ctx context.Context, v *record.View) (config.Config, error) {
	t, err := r.Team(ctx, v)
	r.Settings = t
	return t.Config, err
}

// Narrow sets Settings to those of the newest state. Without a memory they stay the user's.
func (r *Reader) Narrow(ctx context.Context) error {
	err := r.View(ctx, func(*record.View) error { return nil })
	if clone.NoMemory(err) {
		return nil
	}
	return err
}

// Tolerate notes records that cannot be read, which hide no others, and returns every other error.
func (r *Reader) Tolerate(err error) error {
	unreadable, rest := record.Unreadable(err)
	if len(unreadable) > 0 {
		r.Note(Note{About: Unreadable, Files: unreadable})
	}
	return rest
}
