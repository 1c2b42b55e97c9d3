// Package reader answers questions about one clone's memory for one asker. It decides which
// memories the asker may see, how each applies to the present code, and which match a query. Begin
// with New, then View with Caveats, or Recall.
//
// A Reader caches the results for its last view, so it serves one goroutine at a time.
package reader

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/attack"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
)

// Reader reads the memory of a clone.
type Reader struct {
	*clone.Clone
	Settings clone.Team // as of the last opened view; the user's own before the first
	Report   func(Note) // hears notes; may be nil

	// Embedder replaces the model of the settings. With nil the settings decide.
	Embedder func(context.Context) (vector.Embed, vector.Space, error)

	Documents Documents
	OwnLost   bool // the person's own memory was left out for damage

	view     *record.View    // that withheld is about
	withheld *trust.Withheld // see Withheld
	index    *recall.Index   // see OpenIndex
	own      *Reader         // see ownReader
}

// New returns a reader of a clone.
func New(c *clone.Clone, report func(Note)) *Reader {
	return &Reader{Clone: c, Settings: clone.Team{Config: c.Config}, Report: report, Documents: Documents{Top: c.Repo.WorkTree}}
}

// Note reports something on which an answer does not depend.
type Note struct {
	About Topic
	Err   error
	Files []string // Unreadable: the reason for each of them
	Text  string   // Committed: the text of git
}

// Topic is the subject of a note.
type Topic int

const (
	Doubted    Topic = iota // Err: some authors are unknown, so everything unapproved is withheld
	Unindexed               // Err: the index was not stored, so the next search rebuilds it
	Unreadable              // Files: records that were passed over
	Unrecorded              // Err: something was not stored, which costs a repetition at most
	Unplaced                // Err: the difference between the branch and the default one is unknown
	Passed                  // Err: something unreadable was passed over
	Committed               // Text: a note of git's on a commit, such as one on signing
	OwnFaulty               // Err: the person's own memory was left out
)

// Note passes a note on, if Report is set.
func (r *Reader) Note(n Note) {
	if r.Report != nil {
		r.Report(n)
	}
}

// View runs fn on the newest state of the memory, and sets Settings to those effective there.
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

// ViewAt is View on the state that a revision names, by PastState; "" is the newest. For a commit
// of the code, caveats are those at that commit.
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

// Restrict sets Settings to those effective in a view, and returns the user's settings as the team
// narrowed them.
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

// Tolerate reports unreadable records, which hide no others, and returns every other error.
func (r *Reader) Tolerate(err error) error {
	unreadable, rest := record.Unreadable(err)
	if len(unreadable) > 0 {
		r.Note(Note{About: Unreadable, Files: unreadable})
	}
	return rest
}

// ReportBad notes the files of a view that cannot be read.
func ReportBad(r *Reader, v *record.View) {
	var why []string
	for _, bad := range v.Bad() {
		why = append(why, bad.Error())
	}
	if why != nil {
		r.Note(Note{About: Unreadable, Files: why})
	}
}

// An agent's request to remember something waits in the inbox, which never leaves the clone. If the
// settings say so, that agent alone is given it meanwhile, as a note that binds nothing.

// MaxNotes bounds the notes that an agent is given: the newest.
const MaxNotes = 10

// Notes returns the notes of an agent that wait for review, the newest first.
func Notes(r *Reader, v *record.View, agent string) (all []record.Memory) {
	if agent == "" || !r.Settings.Config.AgentNotes {
		return nil
	}
	pending, err := v.Inbox().Operations()
	if r.Tolerate(err) != nil {
		return nil
	}
	for _, o := range pending {
		if m, ok := NoteOf(r, o, agent); ok {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b record.Memory) int { return b.Source.Time.Compare(a.Source.Time) })
	return all[:min(MaxNotes, len(all))]
}

// NoteOf returns the note in a pending operation, if an agent may be given it. It has the id of the
// operation, no kind of its own and no trigger.
func NoteOf(r *Reader, o record.Operation, agent string) (m record.Memory, ok bool) {
	by := o.Memory.Source.By
	client, _, _ := strings.Cut(by, "/")
	if agent == "" || client != agent || !r.Settings.Config.AgentNotes || o.Op != record.Add || o.Why != record.AgentWish+by ||
		len(attack.Find(o.Memory.Text)) > 0 || len(attack.Find(o.Memory.Body)) > 0 {
		return m, false
	}
	m = record.Memory{ID: o.ID, Kind: record.Note, Status: record.Active, Text: o.Memory.Text, Body: o.Memory.Body, Source: o.Memory.Source,
		Paths: o.Memory.Paths, Tags: o.Memory.Tags, Branch: o.Memory.Branch, Private: true, Noted: agent}
	return m, true
}

// FindBeside finds what an agent may have been given beside the memories of a view: one of the
// person's own, or a note that still waits. The error wraps record.ErrNoMemory if nothing matches.
func FindBeside(ctx context.Context, r *Reader, v *record.View, id string) (record.Memory, error) {
	m, err := FindOwn(ctx, r, id)
	if err == nil {
		return m, nil
	}
	pending, bad := v.Inbox().Operations()
	if o, found := record.FindOperation(pending, id); r.Tolerate(bad) == nil && found == nil {
		m, err = o.Memory, nil
	}
	return m, err
}

// WithNotes runs fn on an index with the notes of an agent.
func WithNotes(r *Reader, v *record.View, x *recall.Index, agent string, fn func(*recall.Index) error) error {
	all := Notes(r, v, agent)
	if len(all) == 0 {
		return fn(x)
	}
	y, err := recall.Of(all)
	if err != nil {
		return err
	}
	defer y.Close()
	return fn(x.With(y, func(m *record.Memory) { m.Noted = agent }))
}
