package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// IdleAfter is the time without events after which a session counts as ended. Some agents never
// report the end of a session, and a killed one cannot.
const IdleAfter = 10 * time.Minute

// keepSpool bounds how long the events of an ended session are kept, in case the agent resumes it.
// The session already holds their content.
const keepSpool = 24 * time.Hour

// SessionOf names the session of an event.
func SessionOf(e hooks.Event) string { return e.Agent + "/" + transcript.SafeID(e.Session) }

// Drain moves spooled events into sessions, and returns the names of the live ones. A session that
// cannot be drained stays for the next time and is named in the error. The caller holds the
// worker's lock.
func (in *Ingester) Drain(ctx context.Context) (live map[string]bool, err error) {
	waiting, err := in.Spool.Take()
	failed := []error{err}
	live = map[string]bool{}
	var sessions reflect.Sessions
	for _, s := range waiting {
		if ctx.Err() != nil {
			return live, errors.Join(append(failed, ctx.Err())...)
		}
		if len(s.Events) == 0 { // a hook was killed while it wrote the first
			failed = append(failed, in.dropEmpty(s))
			continue
		}
		if sessions.Dir == "" {
			sessions = in.sessions(ctx)
		}
		names, err := in.drainOne(ctx, sessions, s)
		for _, name := range names {
			live[name] = true
		}
		failed = append(failed, err)
	}
	return live, errors.Join(failed...)
}

// dropEmpty marks a spooled session without events as drained, or removes it if it is old.
func (in *Ingester) dropEmpty(s *hooks.Waiting) error {
	err := s.Folded(false, false)
	if in.Now().Sub(s.Written) >= keepSpool {
		_, err = s.Remove()
	}
	return err
}

// drainOne drains one session, and removes its events when they are no longer needed. It returns
// its names if it is live.
func (in *Ingester) drainOne(ctx context.Context, sessions reflect.Sessions, s *hooks.Waiting) (live []string, err error) {
	name, quiet := SessionOf(s.Last), s.Quiet(in.Now(), IdleAfter)
	kept, err := in.update(ctx, sessions, s, quiet)
	if !quiet {
		for _, k := range kept {
			live = append(live, k.Name())
		}
	}
	if err == nil {
		err = in.Checkpoint(ctx, s)
	}
	if errors.Is(err, errElsewhere) {
		in.note(Elsewhere{name})
		_, err := s.Remove()
		return live, err
	}
	if !quiet {
		live = append(live, name)
	}
	if err != nil {
		return live, fmt.Errorf("session %s: %w", name, err)
	}
	if quiet && (s.Ended() || s.Quiet(in.Now(), keepSpool)) {
		_, err = s.Remove()
	}
	return live, err
}

// DrainLive drains one session that is live, without its checkpoint.
func (in *Ingester) DrainLive(ctx context.Context, s *hooks.Waiting) error {
	_, err := in.update(ctx, in.sessions(ctx), s, false)
	return err
}

// Sweep drains the spool for a command that needs its events. It leaves that to a running worker.
func (in *Ingester) Sweep(ctx context.Context) error {
	if in.Spool.Due(in.Now(), IdleAfter) == 0 {
		return nil
	}
	if _, err := in.Repo.State().Dir(); err != nil {
		return err
	}
	lock, err := job.TryLock(in.State, job.Worker)
	if lock == nil || err != nil {
		return err
	}
	defer lock.Close()
	_, err = in.Drain(ctx)
	return err
}

// errElsewhere means that a session belongs to another repository, although a hook that ran here
// reported it. An agent may change its folder while it works.
var errElsewhere = errors.New("it is a session of another repository")

// update brings a session up to date from its transcripts and its hook events.
func (in *Ingester) update(ctx context.Context, sessions reflect.Sessions, s *hooks.Waiting, quiet bool) ([]reflect.Kept, error) {
	if !s.Fresh && !(quiet && (s.Owed() || s.WasLive())) {
		return nil, s.Folded(!quiet, s.Owed())
	}
	if s.Last.Agent == "opencode" {
		switch kept, err := in.fromOpenCode(ctx, sessions, s.Last.Session); {
		case err == nil && len(kept) > 0:
			return kept, s.Folded(!quiet, false)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errElsewhere):
			return nil, err
		} // its plugin's text is better than nothing
	}
	locate(ctx, s.Events)
	if err := disown(s.Events); err != nil {
		return nil, err
	}
	copies, err := s.Copy(ctx, sessions.Scanner)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	owed := err != nil // reported once, and tried again when more events come
	if owed {
		in.note(NotCopied{SessionOf(s.Last), err})
	}
	if !quiet && large(copies) {
		return nil, s.Folded(true, true)
	}
	var all []reflect.Kept
	own := false
	for _, c := range copies {
		kept, err := in.fromCopy(ctx, sessions, s.Last.Agent, c)
		if errors.Is(err, transcript.ErrEmpty) || errors.Is(err, transcript.ErrUnknownFormat) {
			continue // it holds none of the conversation yet
		}
		if err != nil {
			return all, err
		}
		all, own = append(all, kept...), own || c.Subagent == ""
	}
	if !own || quiet { // the transcript of a live session may be behind
		kept, err := fromEvents(sessions, s.Events, !own)
		if err != nil {
			return all, err
		}
		all = append(all, kept...)
	}
	return all, s.Folded(!quiet, owed && !quiet)
}

// Transcripts above largeCopy are read again only after they grew by a tenth.
const largeCopy = 4 << 20

// large reports whether reading transcripts at each turn would cost too much for the little new
// text.
func large(copies []hooks.Copied) bool {
	size, grown := int64(0), int64(0)
	for _, c := range copies {
		size, grown = size+c.Size, grown+c.Grown
	}
	return size > largeCopy && grown < size/10
}

// fromOpenCode reads a session from OpenCode's database, because there is no transcript to copy.
func (in *Ingester) fromOpenCode(ctx context.Context, sessions reflect.Sessions, id string) ([]reflect.Kept, error) {
	homes, err := Homes()
	if err != nil {
		return nil, err
	}
	s, err := past.OpenCode(ctx, homes, id)
	if err != nil {
		return nil, err
	}
	if in.elsewhere(ctx, s.Dir) {
		return nil, errElsewhere
	}
	got, err := ingest(ctx, sessions, s)
	return got.Sessions, err
}

// formats maps agents to their transcript formats. The formats of other agents are detected.
var formats = map[string]transcript.Format{"claude": transcript.Claude, "codex": transcript.Codex, "gemini": transcript.Gemini,
	"copilot": transcript.Copilot, "qwen": transcript.Qwen}

// fromCopy reads the copy of a transcript.
func (in *Ingester) fromCopy(ctx context.Context, sessions reflect.Sessions, agent string, c hooks.Copied) ([]reflect.Kept, error) {
	f, err := file.Open(c.Path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	format := formats[agent]
	if in.elsewhere(ctx, dirOf(ctx, named{f, c.From}, format)) {
		return nil, errElsewhere
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	got, err := sessions.Ingest(ctx, named{f, c.From}, format, nil)
	return got.Sessions, err
}

// dirOf returns the folder of a transcript's first session, or "".
func dirOf(ctx context.Context, in io.Reader, format transcript.Format) (dir string) {
	enough := errors.New("enough")
	transcript.Decode(ctx, in, format, transcript.Sink{
		Session: func(s transcript.Session) error { dir = s.Dir; return enough },
		Event:   func(transcript.Event) error { return enough },
		Done:    func(transcript.Session) error { return enough },
	})
	return dir
}

// elsewhere reports whether a folder is in another repository. A missing folder, or one outside any
// repository, does not contradict the hook.
func (in *Ingester) elsewhere(ctx context.Context, dir string) bool {
	if dir == "" {
		return false
	}
	repo, err := git.FindCached(ctx, dir)
	return err == nil && repo.CommonDir != in.Repo.CommonDir
}

// fromEvents adds to a session the prompts that only its hook events hold, because the agent was
// killed before it wrote them or keeps no transcript. With answers it adds the agent's words and
// calls.
func fromEvents(sessions reflect.Sessions, events []hooks.Event, answers bool) ([]reflect.Kept, error) {
	first := events[0]
	if first.Parent != "" {
		return nil, nil // its prompts are another agent's words
	}
	kept, had, err := sessions.Load(SessionOf(first))
	if err != nil && !errors.Is(err, reflect.ErrNoSession) {
		return nil, err
	}
	count := map[string]int{} // of each text since the first event
	for _, e := range had {
		if e.Time.IsZero() || !e.Time.Before(first.Time.Add(-time.Minute)) {
			count[key(e)]++
		}
	}
	var more []transcript.Event
	add := func(e transcript.Event) {
		is := key(e)
		if e.CallID != "" { // the hooks of the user and of the project may both deliver it
			if count[is]++; count[is] == 1 {
				more = append(more, e)
			}
			return
		}
		if count[is]--; count[is] < 0 && strings.TrimSpace(e.Text) != "" {
			more = append(more, e)
		}
	}
	prompts := map[string]bool{} // by turns
	for _, e := range events {
		if id := turn(e); id != "" && e.Kind == hooks.Prompt {
			if prompts[id+e.Prompt] {
				continue
			}
			prompts[id+e.Prompt] = true
		}
		own, mixed := transcript.Prompt(e.Prompt)
		origin := transcript.Typed
		if e.Shell != "" { // no transcript of the agent confirms it
			origin = transcript.Delegated
		}
		add(transcript.Event{Kind: transcript.User, Origin: origin, Text: own, Mixed: mixed, Time: e.Time})
		switch {
		case !answers:
		case e.Kind == hooks.Stop, e.Kind == hooks.Answered:
			add(transcript.Event{Kind: transcript.Assistant, Text: e.Said(), Time: e.Time})
		case e.Kind == hooks.Called && e.Shell == "":
			for _, called := range transcript.Hooked(e.Payload, e.Time) {
				add(called)
			}
		}
	}
	if len(more) == 0 {
		return nil, nil
	}
	head := kept.Session
	if head.ID == "" {
		head = transcript.Session{Client: first.Agent, ID: transcript.SafeID(first.Session), Dir: first.Dir}
	}
	added, err := sessions.Add(head, more)
	if err != nil {
		return nil, err
	}
	return []reflect.Kept{added}, nil
}

// turn returns the id of an event's turn, or "". Cursor alone names one.
func turn(e hooks.Event) string {
	var p struct {
		ID string `json:"generation_id"`
	}
	_ = json.Unmarshal(e.Payload, &p) // a shortened event may have no payload
	return p.ID
}

// locate completes the events of Copilot CLI, which names its transcript only at a turn's end. It
// waits up to shutdown for the end of a transcript that an agent may write after its last hook.
func locate(ctx context.Context, events []hooks.Event) {
	m, err := agents.ThisMachine()
	for i, e := range events {
		if e.Transcript == "" && e.Agent == "copilot" && err == nil && transcript.SafeID(e.Session) == e.Session {
			events[i].Transcript = filepath.Join(m.Folder(e.Agent), "session-state", e.Session, "events.jsonl")
		}
		end, since := lastWords(e), before(events[:i], e.Kind)
		until := time.Now().Add(shutdown - max(0, time.Since(e.Time)))
		for end != "" && ctx.Err() == nil && time.Now().Before(until) {
			text, err := file.ReadLinked(events[i].Transcript, maxWaited) // it may not exist yet
			if err != nil && !errors.Is(err, fs.ErrNotExist) || writtenSince(text, end, since) {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// before returns the time of the last event of another kind, or the zero time.
func before(events []hooks.Event, kind hooks.Kind) time.Time {
	for _, e := range slices.Backward(events) {
		if e.Kind != kind { // two hooks may deliver the same event
			return e.Time.Truncate(time.Millisecond)
		}
	}
	return time.Time{}
}

// writtenSince reports whether a line of a transcript holds some words and is not older than a
// time. A resumed session holds the end of the earlier one, and agents often repeat themselves.
func writtenSince(text []byte, words string, since time.Time) bool {
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(words)) {
			continue
		}
		var at struct{ Timestamp time.Time }
		if json.Unmarshal(line, &at) == nil && !at.Timestamp.Before(since) {
			return true
		}
	}
	return false
}

// lastWords returns what the transcript of an agent that writes late has in the end, or "".
func lastWords(e hooks.Event) string {
	switch {
	case e.Shell != "":
	case e.Agent == "copilot" && e.Kind == hooks.End:
		return `"session.shutdown"`
	case e.Agent == "qwen" && e.Kind == hooks.Stop:
		var said bytes.Buffer
		as := json.NewEncoder(&said)
		as.SetEscapeHTML(false) // as JavaScript writes it
		if e.Said() != "" && as.Encode(e.Said()) == nil {
			return strings.TrimSpace(said.String())
		}
	}
	return ""
}

const (
	shutdown  = 15 * time.Second // after the last hook
	maxWaited = 16 << 20         // bytes of a transcript that is waited for
)

// disown removes the transcripts from events that an agent's shell delivered, because the agent may
// have forged them. It keeps a transcript only if the event names the shell's own session and the
// file is in the agent's own folder.
func disown(events []hooks.Event) error {
	for i, e := range events {
		if e.Shell == "" || e.Transcript == "" {
			continue
		}
		m, err := agents.ThisMachine()
		if err != nil {
			return err
		}
		home := m.Folder(e.Agent)
		if formats[e.Agent] == "" || e.Shell != SessionOf(e) || !holds(home, e.Transcript) {
			events[i].Transcript = ""
		}
	}
	return nil
}

// holds reports whether a file is in a folder, after following links.
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

// key returns a key that events of the same content have.
func key(e transcript.Event) string {
	if e.CallID != "" {
		return string(e.Kind) + e.CallID
	}
	return string(e.Kind) + sameWords(e.Text)
}

// sameWords removes the blanks and quotes that agents add when they write a text down.
func sameWords(text string) string {
	return strings.Trim(strings.Join(strings.Fields(text), " "), `"' `)
}
