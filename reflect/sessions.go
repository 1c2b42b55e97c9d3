package reflect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// ErrNoSession is returned when no kept session has the requested name.
var ErrNoSession = errors.New("no such session is kept")

// Sessions is the folder of this clone's sessions: one file each, "<client>-<id>.jsonl". The first
// line holds the session, the number of events and their hash, so that a listing reads no further.
// Each further line holds one event. All text has passed the scanner. Sessions expire and are never
// shared.
type Sessions struct {
	Dir     string
	Scanner *redact.Scanner // may be nil
	Offered bool            // Ingest acts at an agent's wish, and names sessions by record.Offer

	// Command, which may be nil, reports whether a text that a transcript marks as typed is the
	// expansion of a slash command.
	Command func(s transcript.Session, text string) bool
}

// Kept is a session in the folder.
type Kept struct {
	transcript.Session
	Events   int           // in the file
	Hash     string        // of the events, by Hash; empty for a file whose first line lacks it
	Size     int64         // of the file, in bytes
	Read     time.Time     // when it was last taken in
	Change   Change        // the effect of Ingest
	Redacted redact.Report // by Ingest
}

// Name is "<client>/<id>".
func (k Kept) Name() string { return k.Client + "/" + k.ID }

// Change is the effect of ingesting a session on the folder.
type Change string

const (
	New       Change = "new"
	Grown     Change = "grown"     // more, or other, events than before
	Unchanged Change = "unchanged" // the same events, or a prefix of those kept
)

// Ingested is the result of reading one transcript.
type Ingested struct {
	transcript.Stats
	Sessions []Kept
}

// Ingest reads a transcript and keeps its sessions. It passes bad lines to bad, which may be nil,
// and skips them. On an error the sessions before it are kept, and none is half-written.
func (s Sessions) Ingest(ctx context.Context, r io.Reader, format transcript.Format, bad func(line int, err error)) (Ingested, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return Ingested{}, fmt.Errorf("keep sessions: %w", err)
	}
	if info, err := os.Lstat(s.Dir); err != nil || !info.IsDir() {
		return Ingested{}, fmt.Errorf("keep sessions: %s is not a folder of ours; move it away", s.Dir)
	}
	var in Ingested
	var w *sessionWriter
	defer func() { w.abandon() }()
	stats, err := s.decode(ctx, r, format, bad, func() (part, error) {
		var err error
		if w, err = s.begin(); err != nil {
			return part{}, err
		}
		return part{w.event, func(head transcript.Session, found redact.Report) error {
			w.kept.Redacted.Add(found)
			k, err := w.finish(head)
			if err == nil {
				in.Sessions = append(in.Sessions, k)
			}
			return err
		}}, nil
	})
	in.Stats = stats
	return in, err
}

// Read reads a transcript and keeps nothing. It passes each session to each, with the events that
// Load would return after Ingest. Several goroutines may read at once.
func (s Sessions) Read(ctx context.Context, r io.Reader, format transcript.Format, each func(transcript.Session, []transcript.Event) error) error {
	_, err := s.decode(ctx, r, format, nil, func() (part, error) {
		c := s.cleaner(new(redact.Report))
		var events []transcript.Event
		return part{func(e transcript.Event) error {
			text, err := c.clean(e)
			if err != nil {
				return err
			}
			var clean transcript.Event
			if err := json.Unmarshal([]byte(text), &clean); err != nil {
				return fmt.Errorf("read session: %w", err)
			}
			events = append(events, clean)
			return nil
		}, func(head transcript.Session, _ redact.Report) error { return each(c.head(head), events) }}, nil
	})
	return err
}

// part takes one session of a transcript: its events, then its head and the secrets found in the
// texts that were cut.
type part struct {
	event  func(transcript.Event) error
	finish func(transcript.Session, redact.Report) error
}

// decode reads a transcript, and begins a part for each of its sessions.
func (s Sessions) decode(ctx context.Context, r io.Reader, format transcript.Format, bad func(line int, err error), begin func() (part, error)) (transcript.Stats, error) {
	var to part
	var head transcript.Session
	var found redact.Report // in the truncated parts
	touched := false        // the session's own agent accessed its transcript
	return transcript.Decode(ctx, r, format, transcript.Sink{
		Session: func(known transcript.Session) (err error) {
			head, touched = known, false
			to, err = begin()
			return err
		},
		Event: func(e transcript.Event) error {
			touched = touched || touches(e, head.ID)
			if touched && e.Origin == transcript.Typed {
				e.Origin = transcript.Delegated
			}
			if e.Kind == transcript.User && e.Origin == transcript.Typed && s.Command != nil && s.Command(head, e.Text) {
				e.Origin = transcript.Command
			}
			return to.event(e)
		},
		Done: func(head transcript.Session) error {
			report := found
			found = redact.Report{}
			return to.finish(head, report)
		},
		Bad: bad,
		Redact: func(text string) string {
			clean, report := s.Scanner.Text(text)
			found.Add(report)
			return clean.String()
		},
	})
}

// touches reports whether an agent's call names the transcript of a session, by an agent's name for
// it. Later typed text in that transcript may then be the agent's.
func touches(e transcript.Event, id string) bool {
	if e.Kind != transcript.Call || len(id) < 8 {
		return false
	}
	named := func(text string) bool {
		return strings.Contains(text, id+".json") || strings.Contains(text, id+"/events.json") || strings.Contains(text, id+`\events.json`)
	}
	return named(e.Command) || named(e.Text) || named(e.New) || slices.ContainsFunc(e.Paths, named)
}

// Add appends events to a kept session, or begins one with them, and numbers them. It does not
// examine the earlier events again.
func (s Sessions) Add(head transcript.Session, more []transcript.Event) (Kept, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return Kept{}, fmt.Errorf("keep sessions: %w", err)
	}
	old, events, err := load(s.path(head.Client, head.ID), true)
	switch {
	case err == nil:
		head = old.Session
	case !errors.Is(err, os.ErrNotExist):
		return Kept{}, err
	}
	return s.put(head, append(events, more...))
}

// Put replaces the events of a session, and numbers them.
func (s Sessions) Put(head transcript.Session, events []transcript.Event) (Kept, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return Kept{}, fmt.Errorf("keep sessions: %w", err)
	}
	return s.put(head, events)
}

func (s Sessions) put(head transcript.Session, events []transcript.Event) (Kept, error) {
	w, err := s.begin()
	if err != nil {
		return Kept{}, err
	}
	defer w.abandon()
	for i, e := range events {
		e.N = i
		if head.Started.IsZero() {
			head.Started = e.Time
		}
		if e.Time.After(head.Ended) {
			head.Ended = e.Time
		}
		if err := w.event(e); err != nil {
			return Kept{}, err
		}
	}
	return w.finish(head)
}

// entries lists the files of the folder; it is empty without a folder.
func (s Sessions) entries() ([]os.DirEntry, error) {
	all, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return slices.DeleteFunc(all, os.DirEntry.IsDir), nil
}

// List returns the kept sessions, latest last. It reads the first line of each file. The error
// joins those of unreadable files; the others are still returned.
func (s Sessions) List() ([]Kept, error) {
	entries, err := s.entries()
	if err != nil {
		return nil, err
	}
	var out []Kept
	var bad []error
	for _, e := range entries {
		if !isSession(e.Name()) {
			continue
		}
		k, _, err := load(filepath.Join(s.Dir, e.Name()), false)
		switch {
		case errors.Is(err, os.ErrNotExist): // expired since
		case err != nil:
			bad = append(bad, err)
		default:
			out = append(out, k)
		}
	}
	sortKept(out)
	return out, errors.Join(bad...)
}

// maxPromptSearch bounds how far Prompt reads, in bytes.
const maxPromptSearch = 1 << 20

// Prompt returns the first text that a person typed in a session, or "". It reads no further.
func (s Sessions) Prompt(k Kept) string {
	f, err := file.Open(s.path(k.Client, k.ID), os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := json.NewDecoder(io.LimitReader(f, maxPromptSearch))
	for {
		var e transcript.Event // the first line, the session's, decodes to none
		if err := lines.Decode(&e); err != nil {
			return ""
		}
		if e.Kind == transcript.User && e.Origin == transcript.Typed {
			return e.Text
		}
	}
}

// Load returns a session with its events. name is "<client>/<id>", or a unique prefix of an id.
// With the full name it reads only the session's own file.
func (s Sessions) Load(name string) (Kept, []transcript.Event, error) {
	if client, id, ok := strings.Cut(name, "/"); ok {
		k, events, err := load(s.path(client, id), true)
		switch {
		case err == nil && k.Name() == name:
			return k, events, nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return Kept{}, nil, err
		}
	}
	all, err := s.List()
	if err != nil && len(all) == 0 {
		return Kept{}, nil, err
	}
	var found []Kept
	for _, k := range all {
		if strings.HasPrefix(k.ID, name) || strings.HasPrefix(k.Name(), name) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return load(s.path(found[0].Client, found[0].ID), true)
	case 0:
		return Kept{}, nil, fmt.Errorf("%s: %w", name, ErrNoSession)
	}
	return Kept{}, nil, fmt.Errorf("%s: several sessions begin like that: %s, %s, …", name, found[0].Name(), found[1].Name())
}

// Expire removes sessions ingested before a time, and returns their number. It also removes the
// leftovers of a killed ingest.
func (s Sessions) Expire(before time.Time) (int, error) {
	return file.Expire(s.Dir, before, isSession, unfinished)
}

func sortKept(list []Kept) {
	slices.SortFunc(list, func(a, b Kept) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Name(), b.Name()))
	})
}
