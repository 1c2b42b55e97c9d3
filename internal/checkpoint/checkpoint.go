// Package checkpoint records the progress of agents' sessions: open points, requests, changed
// files, passing and failing commands, and decisions. Begin with Notebook.Add, for a command or an
// agents' tool, with Compaction, for a hook, or with Due, for the worker. Checkpoints stay in the
// clone's journal until Share copies one to the memory branch. A Notebook serves one goroutine.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Notebook holds the checkpoints of a clone.
type Notebook struct {
	*reader.Reader
	Create func(context.Context) error // makes the memory if it is missing
}

// Add makes a checkpoint of a session, with a text before the rest. name may be a prefix of the
// session's name. Without a name it takes the session of the agent's shell, or the last one
// ingested. An agent can add to its own session only.
func (n *Notebook) Add(ctx context.Context, name, text string) (record.Checkpoint, error) {
	var none record.Checkpoint
	if len(text) > MaxText {
		return none, exit.Usage("keep what is true for good by: reverie remember", "the text is %d bytes long and may have %d", len(text), MaxText)
	}
	shell := n.Agent()
	s, events, err := n.session(name, shell)
	if errors.Is(err, reflect.ErrNoSession) && (strings.TrimSpace(text) == "" || s.Client == "") {
		if _, tip := n.Memory.Tip(ctx); errors.Is(tip, gitstore.ErrNoStore) {
			return none, tip
		}
		return none, exit.New(exit.Failed, err, "'reverie sessions' lists what is kept; 'reverie ingest FILE' reads a transcript")
	}
	if err != nil && !errors.Is(err, reflect.ErrNoSession) {
		return none, err
	}
	if shell != "" {
		if !belongs(s, shell) {
			return none, exit.New(exit.NeedsPerson, fmt.Errorf("checkpoint: session %s/%s is not this shell's, which is of %s", s.Client, s.ID, shell),
				"an agent notes where its own session stands; a person names any in a terminal")
		}
		text = agentNote(text)
	}
	if err := n.Create(ctx); err != nil {
		return none, err
	}
	p := reflect.Stand(s, events)
	p.Said = reflect.Lasting(s, events)
	c := n.of(ctx, n.Repo, s, p)
	c.Reason, c.Text = record.Asked, render(p, nil, text)
	return n.keep(ctx, c)
}

// belongs reports whether a session is the one of an agent's shell. If the shell does not name its
// session, it compares only the agents.
func belongs(s transcript.Session, shell string) bool {
	agent, id, known := strings.Cut(shell, "/")
	return s.Client == agent && (!known || s.ID == id)
}

// session finds the session for Add. The error wraps reflect.ErrNoSession if it is not kept. Its
// name is then set if name was complete.
func (n *Notebook) session(name, shell string) (transcript.Session, []transcript.Event, error) {
	if name == "" && strings.Contains(shell, "/") {
		name = shell
	}
	if name == "" && shell != "" {
		name = n.spooled(shell)
	}
	if name == "" {
		last, err := n.lastOf(shell)
		if err != nil {
			none := transcript.Session{}
			if shell == "" {
				none = transcript.Session{Client: "human", ID: "notes"}
			}
			return none, nil, err
		}
		name = last
	}
	kept, events, err := n.Sessions.Load(name)
	if errors.Is(err, reflect.ErrNoSession) && transcript.IsName(name) {
		client, id, _ := strings.Cut(name, "/")
		return transcript.Session{Client: transcript.SafeID(client), ID: transcript.SafeID(id)}, nil, err
	}
	return kept.Session, events, err
}

// lastOf names the session that was ingested last, of an agent or of any.
func (n *Notebook) lastOf(agent string) (string, error) {
	all, err := n.Sessions.List()
	if err != nil {
		n.Note(reader.Note{About: reader.Passed, Err: err})
	}
	if agent != "" {
		all = slices.DeleteFunc(all, func(k reflect.Kept) bool { return k.Client != agent })
	}
	if len(all) == 0 {
		return "", fmt.Errorf("checkpoint: %w", reflect.ErrNoSession)
	}
	return slices.MaxFunc(all, func(a, b reflect.Kept) int { return a.Read.Compare(b.Read) }).Name(), nil
}

// spooled names the agent's unfinished session whose hooks reported last, or returns "". The
// session may have no stored events yet.
func (n *Notebook) spooled(agent string) string {
	waiting, _ := n.Spool().Take() // the worker reports unreadable ones
	var newest *hooks.Waiting
	for _, s := range waiting {
		if len(s.Events) > 0 && s.Last.Agent == agent && !s.Ended() && (newest == nil || s.Written.After(newest.Written)) {
			newest = s
		}
	}
	if newest == nil {
		return ""
	}
	return ingest.SessionOf(newest.Last)
}

// of describes a session in a worktree. p must come from redacted events. The checkpoint has
// neither a number, nor a reason, nor a text yet.
func (n *Notebook) of(ctx context.Context, in *git.Repo, s transcript.Session, p reflect.Progress) record.Checkpoint {
	c := record.Checkpoint{Client: s.Client, Session: s.ID, Time: n.Now().UTC().Truncate(time.Millisecond), Files: p.Changed}
	c.Files = c.Files[:min(maxFiles, len(c.Files))]
	id, branch, _ := in.Head(ctx)
	c.Commit, c.Branch = id[:min(12, len(id))], branch
	return c
}

// keep gives a checkpoint the next number of its session and writes it to the journal. It returns
// the last one instead if that says the same. One about a stop replaces the session's earlier one.
func (n *Notebook) keep(ctx context.Context, c record.Checkpoint) (record.Checkpoint, error) {
	clean, _ := n.Scanner.Text(c.Text)
	c.Text = clean.String()
	err := n.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		kept, err := tx.Journal().Checkpoints(c.Client + "/" + c.Session)
		if err := n.Tolerate(err); err != nil {
			return err
		}
		shared, err := tx.Branch().Checkpoints(c.Client + "/" + c.Session)
		if err := n.Tolerate(err); err != nil {
			return err
		}
		c.N = 1
		for _, old := range append(slices.Clone(kept), shared...) {
			c.N = max(c.N, old.N+1)
		}
		if len(kept) > 0 {
			last := kept[len(kept)-1]
			if last.Reason == c.Reason && last.Text == c.Text && last.Commit == c.Commit && last.Branch == c.Branch && slices.Equal(last.Files, c.Files) {
				c = last
				return nil
			}
		}
		for _, old := range kept {
			if c.Stop() && old.Stop() {
				tx.Drop(record.Journal, old.Path())
			}
		}
		return put(tx, record.Journal, c)
	})
	return c, err
}

// put writes a checkpoint to a shelf.
func put(tx *record.Tx, to record.Where, c record.Checkpoint) error {
	session := c.Client + "/" + c.Session
	tx.Describe(gitstore.Commit{Subject: "checkpoint: " + session, Trailers: []gitstore.Trailer{
		{Key: "Reverie-Op", Value: "checkpoint"}, {Key: "Reverie-Session", Value: session}}})
	return tx.PutCheckpoint(to, c)
}

// compactionTime bounds the wait of a compaction for its checkpoint. If it takes longer, the worker
// makes the checkpoint.
const compactionTime = time.Second

// Compaction drains the spooled events of a session and makes a checkpoint, before an agent
// compacts it.
func (n *Notebook) Compaction(ctx context.Context, in *ingest.Ingester, e hooks.Event) error {
	ctx, cancel := context.WithTimeout(ctx, compactionTime)
	defer cancel()
	lock, err := job.Lock(ctx, n.State, job.Worker)
	if lock == nil || err != nil {
		return err
	}
	defer lock.Close()
	s, err := n.Spool().TakeOne(e)
	if s == nil || err != nil {
		return err
	}
	if err := in.DrainLive(ctx, s); err != nil && ctx.Err() == nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	return n.Owed(ctx, s)
}

// Owed makes the checkpoint of a session's last compaction, unless it was made.
func (n *Notebook) Owed(ctx context.Context, s *hooks.Waiting) error {
	e, ok := s.Compaction()
	if !ok {
		return nil
	}
	if err := n.Create(ctx); err != nil {
		return err
	}
	kept, events, err := n.Sessions.Load(ingest.SessionOf(e))
	if err == nil {
		p := reflect.Stand(kept.Session, events)
		p.Said = reflect.Lasting(kept.Session, events)
		c := n.of(ctx, n.worktree(ctx, e.Dir), kept.Session, p)
		c.Reason, c.Text = record.Compaction, render(p, nil, "")
		_, err = n.keep(ctx, c)
	}
	if err != nil && !errors.Is(err, reflect.ErrNoSession) { // no session: it has no events yet
		return err
	}
	return s.Noted(e)
}
