package checkpoint

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// unanswered is the note of a session whose last request has no answer.
const unanswered = "The last request has no answer yet."

// Due makes the checkpoints that a drained session needs: of its last compaction, and of its stop.
func (n *Notebook) Due(ctx context.Context, s *hooks.Waiting) error {
	if err := n.Owed(ctx, s); err != nil {
		return err
	}
	quiet := s.Quiet(n.Now(), ingest.IdleAfter)
	if n.Config.Handover == 0 || s.Judged() || s.Owed() || s.Last.Parent != "" || !quiet && s.Last.Kind != hooks.Stop {
		return nil
	}
	kept, events, err := n.Sessions.Load(ingest.SessionOf(s.Last))
	if err == nil && kept.Parent == "" {
		p := reflect.Stand(kept.Session, events)
		if quiet { // it costs more than all else, and a turn may end soon again
			p.Said = reflect.Lasting(kept.Session, events)
		}
		err = n.stopped(ctx, s, kept.Session, p, quiet)
	}
	if err != nil && !errors.Is(err, reflect.ErrNoSession) && !errors.Is(err, record.ErrPurged) {
		return err
	}
	return s.Judge()
}

// stopped makes the checkpoint of a session that stopped unfinished. If it finished, it settles its
// own earlier one, and that of an earlier session if it edited files. While it is live, a turn that
// changes none of its open points leaves its checkpoint alone.
func (n *Notebook) stopped(ctx context.Context, s *hooks.Waiting, of transcript.Session, p reflect.Progress, quiet bool) error {
	in := n.worktree(ctx, s.Last.Dir)
	dirty, err := git.Uncommitted(ctx, in, of.Dir, p.Changed)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		dirty = nil // without an answer it is not held against the session
	}
	note := ""
	if cutOff(s.Events) {
		note = unanswered
	}
	c := n.of(ctx, in, of, p)
	c.Text = render(p, dirty, note)
	if at := s.Last.Time; !at.IsZero() {
		c.Time = at.UTC().Truncate(time.Millisecond)
	}
	switch {
	case note != "" || p.Broken || len(p.Todo) > 0:
		c.Reason = record.Unfinished
	case len(dirty) > 0:
		c.Reason = record.Uncommitted
	default:
		c.Reason = record.Finished
	}
	if wanted, err := n.wanted(ctx, c, quiet); !wanted || err != nil {
		return err
	}
	if err := n.Create(ctx); err != nil {
		return err
	}
	_, err = n.keep(ctx, c)
	return err
}

// wanted reports whether a checkpoint about a stop tells anything new.
func (n *Notebook) wanted(ctx context.Context, c record.Checkpoint, quiet bool) (wanted bool, err error) {
	err = n.View(ctx, func(v *record.View) error {
		own, err := v.Journal().Checkpoints(c.Client + "/" + c.Session)
		if err := n.Tolerate(err); err != nil {
			return err
		}
		if at := slices.IndexFunc(own, record.Checkpoint.Stop); at >= 0 {
			was := own[at]
			same := was.Reason == c.Reason && was.Branch == c.Branch
			if c.Reason != record.Finished {
				same = same && !quiet && was.Commit == c.Commit && was.Points() == c.Points()
			}
			wanted = !same
			return nil
		}
		if c.Reason != record.Finished {
			wanted = true
			return nil
		}
		recent, err := v.Journal().CheckpointsBetween(c.Time.Add(-n.Config.Handover), c.Time)
		last, found := record.Latest(recent, c.Branch)
		wanted = found && last.Reason != record.Finished && len(c.Files) > 0
		return n.Tolerate(err)
	})
	if clone.NoMemory(err) {
		return c.Reason != record.Finished, nil
	}
	return wanted, err
}

// cutOff reports whether no turn ended after the last prompt.
func cutOff(events []hooks.Event) (cut bool) {
	for _, e := range events {
		switch e.Kind {
		case hooks.Prompt:
			cut = true
		case hooks.Stop:
			cut = false
		}
	}
	return cut
}

// worktree returns the repository in a folder of this clone, or else as it was opened.
func (n *Notebook) worktree(ctx context.Context, dir string) *git.Repo {
	if dir == "" {
		return n.Repo
	}
	if r, err := git.FindCached(ctx, dir); err == nil && r.CommonDir == n.Repo.CommonDir {
		return r
	}
	return n.Repo
}
