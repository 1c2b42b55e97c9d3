package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
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
			scan = redact.New(w.AllSecrets(ctx)...)
			w.Sessions.Scanner = scan
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
		if errors.Is(err, errElsewhere) {
			delete(live, sessionOf(s.Last))
			w.env.Warn("session %s: %v; nothing of it was kept", sessionOf(s.Last), err)
			_, err := s.Remove()
			failed = append(failed, err)
			continue
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
	if _, err := w.Repo.StateDir(); err != nil {
		return err
	}
	lock, err := takeStation(w.State, theWorker)
	if lock == nil || err != nil {
		return err
	}
	defer lock.Close()
	_, err = w.fold(ctx)
	return err
}

// spool is where hook events wait.
func (w *workspace) spool() hooks.Spool {
	return hooks.Spool{Dir: spoolDir(w.State), Scanner: w.Scanner}
}

// errElsewhere says that a session was not in this repository, although a hook that was called here told of it: an agent may
// change its folder while it works.
var errElsewhere = errors.New("it is a session of another repository")

// foldOne brings one session up to date: from its transcripts, and with what only the events tell.
func (w *workspace) foldOne(ctx context.Context, s *hooks.Waiting, scan *redact.Scanner, quiet bool) ([]reflect.Kept, error) {
	if !s.Fresh && !(quiet && (s.Owed() || s.WasLive())) {
		return nil, s.Folded(!quiet, s.Owed())
	}
	if s.Last.Agent == "opencode" {
		switch kept, err := w.foldOpenCode(ctx, s.Last.Session); {
		case err == nil && len(kept) > 0:
			return kept, s.Folded(!quiet, false)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errElsewhere):
			return nil, err
		} // what its plugin told is better than nothing
	}
	if err := disown(s.Events); err != nil {
		return nil, err
	}
	copies, err := s.Copy(ctx, scan)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	owed := err != nil // what cannot be copied is told of once, and looked at again when more has come
	if owed {
		w.env.Warn("session %s: %v", sessionOf(s.Last), err)
	}
	if !quiet && large(copies) {
		return nil, s.Folded(true, true)
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
	if !own || quiet { // the transcript of a session that goes on may be behind
		kept, err := w.foldEvents(s.Events, !own)
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
	homes, err := agentHomes()
	if err != nil {
		return nil, err
	}
	s, err := past.OpenCode(ctx, homes, id)
	if err != nil {
		return nil, err
	}
	if w.elsewhere(ctx, s.Dir) {
		return nil, errElsewhere
	}
	doc, err := s.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer doc.Close()
	in, err := w.Sessions.Ingest(ctx, doc, transcript.OpenCode, nil)
	return in.Sessions, err
}

// agentFormat is the format of the transcripts that an agent keeps; "" where it is recognised.
func agentFormat(agent string) transcript.Format {
	switch agent {
	case "claude":
		return transcript.Claude
	case "codex":
		return transcript.Codex
	case "gemini":
		return transcript.Gemini
	}
	return ""
}

func (w *workspace) foldCopy(ctx context.Context, agent string, c hooks.Copied) ([]reflect.Kept, error) {
	f, err := file.Open(c.Path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	format := agentFormat(agent)
	if w.elsewhere(ctx, dirOf(ctx, transcriptOf{f, c.From}, format)) {
		return nil, errElsewhere
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in, err := w.Sessions.Ingest(ctx, transcriptOf{f, c.From}, format, nil)
	return in.Sessions, err
}

// dirOf is the folder in which a transcript says that its first session began, "" if it does not say.
func dirOf(ctx context.Context, in io.Reader, format transcript.Format) (dir string) {
	enough := errors.New("enough")
	transcript.Decode(ctx, in, format, transcript.Sink{
		Session: func(s transcript.Session) error { dir = s.Dir; return enough },
		Event:   func(transcript.Event) error { return enough },
		Done:    func(transcript.Session) error { return enough },
	})
	return dir
}

// elsewhere reports whether a folder is in another repository than this one. One that is not there, or in none, tells
// nothing against what the hook said.
func (w *workspace) elsewhere(ctx context.Context, dir string) bool {
	if dir == "" {
		return false
	}
	repo, err := git.FindCached(ctx, dir)
	return err == nil && repo.CommonDir != w.Repo.CommonDir
}

// foldEvents adds to a session what only its hook events tell: prompts that its transcript does not have, because the agent was
// killed before it wrote them or keeps none, and with answers what the agent said at the end of a turn.
func (w *workspace) foldEvents(events []hooks.Event, answers bool) ([]reflect.Kept, error) {
	first := events[0]
	if first.Parent != "" {
		return nil, nil // its prompts are another agent's words
	}
	kept, had, err := w.Sessions.Load(sessionOf(first))
	if err != nil && !errors.Is(err, reflect.ErrNoSession) {
		return nil, err
	}
	count := map[string]int{} // of each text, since the first of the events
	for _, e := range had {
		if e.Time.IsZero() || !e.Time.Before(first.Time.Add(-time.Minute)) {
			count[string(e.Kind)+sameWords(e.Text)]++
		}
	}
	var more []transcript.Event
	add := func(e transcript.Event) {
		key := string(e.Kind) + sameWords(e.Text)
		if count[key]--; count[key] < 0 && strings.TrimSpace(e.Text) != "" {
			more = append(more, e)
		}
	}
	for _, e := range events {
		own, mixed := transcript.Prompt(e.Prompt)
		origin := transcript.Typed
		if e.Shell != "" { // no transcript of the agent's own bears it out
			origin = transcript.Delegated
		}
		add(transcript.Event{Kind: transcript.User, Origin: origin, Text: own, Mixed: mixed, Time: e.Time})
		if answers && e.Kind == hooks.Stop {
			add(transcript.Event{Kind: transcript.Assistant, Text: e.Said(), Time: e.Time})
		}
	}
	if len(more) == 0 {
		return nil, nil
	}
	head := kept.Session
	if head.ID == "" {
		head = transcript.Session{Client: first.Agent, ID: transcript.SafeID(first.Session), Dir: first.Dir}
	}
	added, err := w.Sessions.Add(head, more)
	if err != nil {
		return nil, err
	}
	return []reflect.Kept{added}, nil
}

// disown takes from events that were delivered in an agent's shell the transcripts that may be of its
// making. What such an event tells may be made up; only a session's own agent, which named the
// session and keeps the transcript in its own folder, bears it out.
func disown(events []hooks.Event) error {
	for i, e := range events {
		if e.Shell == "" || e.Transcript == "" {
			continue
		}
		homes, err := agentHomes()
		if err != nil {
			return err
		}
		home := map[string]string{"claude": homes.Claude, "codex": homes.Codex, "gemini": homes.Gemini}[e.Agent]
		if home == "" || e.Shell != sessionOf(e) || !holds(home, e.Transcript) {
			events[i].Transcript = ""
		}
	}
	return nil
}

// holds reports whether a file is in a folder, wherever links lead.
func holds(dir, path string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// sameWords is a text without what agents change when they write it down: blanks and quotes around it.
func sameWords(text string) string {
	return strings.Trim(strings.Join(strings.Fields(text), " "), `"' `)
}
