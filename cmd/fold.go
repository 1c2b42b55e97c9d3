package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// idleAfter is how long nothing has come of a session before it counts as left. Some agents never say that one ends, and
// one that is killed cannot.
const idleAfter = 10 * time.Minute

// forgetSpool is how long the events of a session that was left are kept, should the agent go on with it: what they told is in
// the session by then.
const forgetSpool = 24 * time.Hour

// fold takes what waits in the spool into sessions, and returns the names of those that are being worked in. One that
// cannot be folded stays for the next time and is in the error; the others are folded.
func (w *workspace) fold(ctx context.Context) (live map[string]bool, err error) {
	waiting, err := w.spool().Take()
	failed := []error{err}
	live = map[string]bool{}
	now := w.env.Now()
	var scan *redact.Scanner
	for _, s := range waiting {
		if ctx.Err() != nil {
			return live, errors.Join(append(failed, ctx.Err())...)
		}
		if len(s.Events) == 0 { // a hook was killed at the first of them
			err := s.Folded(false, false)
			if now.Sub(s.Written) >= forgetSpool {
				_, err = s.Remove()
			}
			failed = append(failed, err)
			continue
		}
		if scan == nil { // knowing every secret costs a git process
			scan = redact.New(w.allSecrets(ctx)...)
			w.sessions.Scanner = scan
		}
		quiet := s.Quiet(now, idleAfter)
		kept, err := w.foldOne(ctx, s, scan, quiet)
		live[sessionOf(s.Last)] = !quiet
		for _, k := range kept {
			live[k.Name()] = !quiet
		}
		if err == nil {
			err = w.checkpointOwed(ctx, s)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("session %s: %w", sessionOf(s.Last), err))
			continue
		}
		if quiet && (s.Ended() || s.Quiet(now, forgetSpool)) {
			_, err := s.Remove()
			failed = append(failed, err)
		}
	}
	for name, is := range live {
		if !is {
			delete(live, name)
		}
	}
	return live, errors.Join(failed...)
}

// sessionOf is the name of the session that an event is of.
func sessionOf(e hooks.Event) string { return e.Agent + "/" + transcript.SafeID(e.Session) }

// sweep folds what waits now, for a command that wants to know of it. Where a worker is at it already, it is left to that.
func (w *workspace) sweep(ctx context.Context) error {
	if w.spool().Due(w.env.Now(), idleAfter) == 0 {
		return nil
	}
	if _, err := w.repo.StateDir(); err != nil {
		return err
	}
	lock, err := takeWorkerLock(w.state)
	if lock == nil || err != nil {
		return err
	}
	defer lock.Close()
	_, err = w.fold(ctx)
	return err
}

// spool is where hook events wait.
func (w *workspace) spool() hooks.Spool {
	return hooks.Spool{Dir: spoolDir(w.state), Scanner: w.scanner}
}

// foldOne brings one session up to date: from its transcripts, or where there is none from the events alone.
func (w *workspace) foldOne(ctx context.Context, s *hooks.Waiting, scan *redact.Scanner, quiet bool) ([]reflect.Kept, error) {
	known := []reflect.Kept{{Session: transcript.Session{Client: s.Last.Agent, ID: transcript.SafeID(s.Last.Session)}}}
	if !s.Fresh && !(quiet && (s.Owed() || s.WasLive())) {
		return known, s.Folded(!quiet, s.Owed())
	}
	if s.Last.Agent == "opencode" {
		if kept, err := w.foldOpenCode(ctx, s.Last.Session); err == nil && len(kept) > 0 {
			return kept, s.Folded(!quiet, false)
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		} // what its plugin told is better than nothing
	}
	copies, err := s.Copy(ctx, scan)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	owed := err != nil // what cannot be copied is told of once, and looked at again when more has come
	if owed {
		w.env.warn("session %s: %v", sessionOf(s.Last), err)
	}
	if !quiet && large(copies) {
		return known, s.Folded(true, true)
	}
	var all []reflect.Kept
	own := false
	for _, c := range copies {
		kept, err := w.foldCopy(ctx, s.Last.Agent, c)
		if errors.Is(err, transcript.ErrEmpty) || errors.Is(err, transcript.ErrUnknownFormat) {
			continue // nothing of the conversation is in it yet
		}
		if err != nil {
			return all, err
		}
		all, own = append(all, kept...), own || c.Subagent == ""
	}
	if !own {
		kept, err := w.foldEvents(ctx, s.Events)
		if err != nil {
			return all, err
		}
		all = append(all, kept...)
	}
	return all, s.Folded(!quiet, owed && !quiet)
}

// large reports whether reading transcripts again at each turn would cost too much for the little that is new.
func large(copies []hooks.Copied) bool {
	size, grown := int64(0), int64(0)
	for _, c := range copies {
		size, grown = size+c.Size, grown+c.Grown
	}
	return size > 4<<20 && grown < size/10
}

// foldOpenCode reads a session where OpenCode keeps it: in a database, of which there is no transcript to copy.
func (w *workspace) foldOpenCode(ctx context.Context, id string) ([]reflect.Kept, error) {
	homes, err := past.UserHomes()
	if err != nil {
		return nil, err
	}
	s, err := past.OpenCode(ctx, homes, id)
	if err != nil {
		return nil, err
	}
	doc, err := s.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer doc.Close()
	in, err := w.sessions.Ingest(ctx, doc, transcript.OpenCode, nil)
	return in.Sessions, err
}

// formats of the transcripts that agents keep; others are recognised.
var agentFormats = map[string]transcript.Format{"claude": transcript.Claude, "codex": transcript.Codex, "gemini": transcript.Gemini}

func (w *workspace) foldCopy(ctx context.Context, agent string, c hooks.Copied) ([]reflect.Kept, error) {
	f, err := os.Open(c.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := w.sessions.Ingest(ctx, transcriptOf{f, c.From}, agentFormats[agent], nil)
	return in.Sessions, err
}

// foldEvents makes a session of hook events alone: what the user typed and what the agent last said.
func (w *workspace) foldEvents(ctx context.Context, events []hooks.Event) ([]reflect.Kept, error) {
	type message struct {
		Index     int       `json:"index"`
		Role      string    `json:"role"`
		Content   string    `json:"content"`
		Timestamp time.Time `json:"timestamp"`
	}
	if events[0].Parent != "" {
		return nil, nil // its prompts are another agent's words
	}
	var messages []message
	add := func(role, text string, at time.Time) {
		if text != "" {
			messages = append(messages, message{len(messages), role, text, at})
		}
	}
	for _, e := range events {
		add("user", e.Prompt, e.Time)
		if e.Kind == hooks.Stop {
			add("assistant", e.Said(), e.Time)
		}
	}
	if len(messages) == 0 {
		return nil, nil
	}
	first, last := events[0], events[len(events)-1]
	line, err := json.Marshal(map[string]any{
		"agent": first.Agent, "started_at": first.Time, "ended_at": last.Time, "messages": messages,
		"metadata": map[string]string{"opencode_session_id": first.Session},
	})
	if err != nil {
		return nil, err
	}
	in, err := w.sessions.Ingest(ctx, bytes.NewReader(line), transcript.JSONL, nil)
	return in.Sessions, err
}
