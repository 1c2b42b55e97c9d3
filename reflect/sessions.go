package reflect

import (
	"bufio"
	"bytes"
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

// ErrNoSession is returned when no kept session has the name asked for.
var ErrNoSession = errors.New("no such session is kept")

// Sessions is the folder of this clone's sessions: one file each, "<client>-<id>.jsonl", with
// the session on the first line and one event on each line after it. The first line also says how
// many events follow and their hash, so that a listing reads no further. Everything in it has passed
// the scanner. It is raw material: it expires, and is never shared.
type Sessions struct {
	Dir     string
	Scanner *redact.Scanner // may be nil

	// Command, which may be nil, reports whether a text that a transcript gives as typed is what a slash command stands for.
	Command func(s transcript.Session, text string) bool
}

// Kept is a session in the folder.
type Kept struct {
	transcript.Session
	Events   int           // in the file
	Hash     string        // of the events, as Hash gives it; empty for a file whose first line lacks it
	Size     int64         // of the file, in bytes
	Read     time.Time     // when it was last taken in
	Change   Change        // what Ingest made of it
	Redacted redact.Report // by Ingest
}

// header is the first line of a session's file. Files of older versions have the session alone.
type header struct {
	transcript.Session
	Events int    `json:"events,omitempty"`
	Hash   string `json:"hash,omitempty"`
}

// Name is "<client>/<id>".
func (k Kept) Name() string { return k.Client + "/" + k.ID }

// Change says what taking a session in did to the folder.
type Change string

const (
	New       Change = "new"
	Grown     Change = "grown"     // more, or other, events than were kept
	Unchanged Change = "unchanged" // the same events, or the beginning of those kept
)

// Ingested is what one transcript came to.
type Ingested struct {
	transcript.Stats
	Sessions []Kept
}

// Ingest reads a transcript and keeps its sessions. Bad lines are handed to bad, which may be
// nil, and skipped. On an error the sessions before it are kept, and none is half-written.
func (s Sessions) Ingest(ctx context.Context, r io.Reader, format transcript.Format, bad func(line int, err error)) (Ingested, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return Ingested{}, fmt.Errorf("keep sessions: %w", err)
	}
	if info, err := os.Lstat(s.Dir); err != nil || !info.IsDir() {
		return Ingested{}, fmt.Errorf("keep sessions: %s is not a folder of ours; move it away", s.Dir)
	}
	var in Ingested
	var w *sessionWriter
	var head transcript.Session
	defer func() { w.abandon() }()
	stats, err := transcript.Decode(ctx, r, format, transcript.Sink{
		Session: func(known transcript.Session) (err error) {
			head = known
			w, err = s.begin()
			return err
		},
		Event: func(e transcript.Event) error {
			if e.Kind == transcript.User && e.Origin == transcript.Typed && s.Command != nil && s.Command(head, e.Text) {
				e.Origin = transcript.Command
			}
			return w.event(e)
		},
		Done: func(head transcript.Session) error {
			k, err := w.finish(head)
			if err == nil {
				in.Sessions = append(in.Sessions, k)
			}
			return err
		},
		Bad: bad,
	})
	in.Stats = stats
	return in, err
}

// Add puts events behind those of a kept session, or begins one with them. Their numbers are given here. The events that are
// kept already are not looked at again.
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

// Put keeps a session with exactly these events, in the place of what was kept of it. Their numbers are given here.
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

// unfinished begins the name of a file that an ingest is writing, or left when it was killed.
const unfinished = ".session-"

// sessionWriter collects the events of one session in a file beside its place.
type sessionWriter struct {
	folder Sessions
	tmp    *os.File
	out    *bufio.Writer
	kept   Kept
}

func (s Sessions) begin() (*sessionWriter, error) {
	tmp, err := os.CreateTemp(s.Dir, unfinished+"*") // 0600
	if err != nil {
		return nil, fmt.Errorf("keep session: %w", err)
	}
	return &sessionWriter{folder: s, tmp: tmp, out: bufio.NewWriterSize(tmp, 64<<10)}, nil
}

func (w *sessionWriter) abandon() {
	if w != nil && w.tmp != nil {
		w.tmp.Close()
		os.Remove(w.tmp.Name())
		w.tmp = nil
	}
}

func (w *sessionWriter) event(e transcript.Event) error {
	w.kept.Events++
	return w.line(w.out, e)
}

// line writes v as one line of redacted JSON.
func (w *sessionWriter) line(out *bufio.Writer, v any) error {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	text, report, err := w.folder.Scanner.JSON(bytes.TrimSuffix(doc.Bytes(), []byte("\n")))
	if err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	w.kept.Redacted.Add(report)
	if _, err := out.WriteString(text.String()); err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	return out.WriteByte('\n')
}

// name takes secrets out of what names a session, which becomes the name of its file.
func (w *sessionWriter) name(id string) string {
	text, found := w.folder.Scanner.Text(id)
	w.kept.Redacted.Add(found)
	if found.Found == 0 {
		return id
	}
	return transcript.SafeID(text.String())
}

// finish puts the session in its place, unless what lies there is the same or goes on further.
func (w *sessionWriter) finish(head transcript.Session) (Kept, error) {
	defer w.abandon()
	head.Client, head.ID, head.Parent = w.name(head.Client), w.name(head.ID), w.name(head.Parent)
	w.kept.Session, w.kept.Read = head, time.Now()
	if err := w.out.Flush(); err != nil {
		return Kept{}, fmt.Errorf("keep session: %w", err)
	}
	path := w.folder.path(head.Client, head.ID)
	change, err := w.compare(path)
	if err != nil {
		return Kept{}, err
	}
	w.kept.Change = change
	if change == Unchanged {
		return w.kept, os.Chtimes(path, w.kept.Read, w.kept.Read)
	}
	if w.kept.Hash, err = w.hash(); err != nil {
		return Kept{}, err
	}
	final, err := os.CreateTemp(w.folder.Dir, unfinished+"*")
	if err != nil {
		return Kept{}, fmt.Errorf("keep session: %w", err)
	}
	defer os.Remove(final.Name())
	out := bufio.NewWriter(final)
	err = w.line(out, header{head, w.kept.Events, w.kept.Hash})
	if err == nil {
		if _, err = w.tmp.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(out, w.tmp)
		}
	}
	if err = errors.Join(err, out.Flush(), final.Sync(), final.Close()); err == nil {
		err = os.Rename(final.Name(), path)
	}
	if err != nil {
		return Kept{}, fmt.Errorf("keep session: %w", err)
	}
	return w.kept, nil
}

// hash is Hash of the events as they were written, after the scanner: what Study will see.
func (w *sessionWriter) hash() (string, error) {
	if _, err := w.tmp.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("keep session: %w", err)
	}
	events, err := readEvents(bufio.NewReaderSize(w.tmp, 64<<10), w.tmp.Name(), 1)
	if err != nil {
		return "", fmt.Errorf("keep session: %w", err)
	}
	return Hash(events), nil
}

// compare holds the new events against those kept at path.
func (w *sessionWriter) compare(path string) (Change, error) {
	old, err := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
	if errors.Is(err, os.ErrNotExist) {
		return New, nil
	}
	if err != nil {
		return "", fmt.Errorf("keep session: %w", err)
	}
	defer old.Close()
	before := bufio.NewReaderSize(old, 64<<10)
	if err := skipLine(before); err != nil {
		return Grown, nil // torn: what we have is better
	}
	if _, err := w.tmp.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("keep session: %w", err)
	}
	now := bufio.NewReaderSize(w.tmp, 64<<10)
	for {
		b, err := now.ReadByte()
		if err == io.EOF {
			return Unchanged, nil // all of it is there already
		}
		if err != nil {
			return "", fmt.Errorf("keep session: %w", err)
		}
		if a, err := before.ReadByte(); err != nil || a != b {
			return Grown, nil
		}
	}
}

func skipLine(r *bufio.Reader) error {
	for {
		_, more, err := r.ReadLine()
		if err != nil || !more {
			return err
		}
	}
}

func (s Sessions) path(client, id string) string {
	return filepath.Join(s.Dir, transcript.SafeID(client)+"-"+transcript.SafeID(id)+".jsonl")
}

// entries are the files of the folder, none if there is no folder yet.
func (s Sessions) entries() ([]os.DirEntry, error) {
	all, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return slices.DeleteFunc(all, os.DirEntry.IsDir), nil
}

// isSession reports whether a file of the folder is a session's.
func isSession(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}

// List returns the kept sessions, the latest last. It reads the first line of each file. A file that
// cannot be read is in the error, joined; the others are returned all the same.
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

// Load returns a session with its events. name is "<client>/<id>", or the beginning of an id
// that no other kept session has. By its whole name a session costs nothing but its own file.
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

// load reads a session's file, with its events or by its first line alone.
func load(path string, events bool) (Kept, []transcript.Event, error) {
	f, err := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return Kept{}, nil, fmt.Errorf("read session: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Kept{}, nil, fmt.Errorf("read session: %w", err)
	}
	r := bufio.NewReaderSize(f, 16<<10)
	first, err := r.ReadBytes('\n')
	var h header
	if err == nil {
		err = json.Unmarshal(first, &h)
	}
	if err != nil {
		return Kept{}, nil, fmt.Errorf("%s:1: %w", path, err)
	}
	k := Kept{Session: h.Session, Events: h.Events, Hash: h.Hash, Size: info.Size(), Read: info.ModTime()}
	switch {
	case events:
		out, err := readEvents(r, path, 2)
		k.Events = len(out)
		return k, out, err
	case h.Hash == "": // of an older version
		k.Events, err = countLines(r)
	}
	if err != nil {
		return Kept{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil, nil
}

// readEvents reads events to the end, one a line; line is the number of the first.
func readEvents(r *bufio.Reader, path string, line int) ([]transcript.Event, error) {
	var out []transcript.Event
	for ; ; line++ {
		data, err := r.ReadBytes('\n')
		if err == io.EOF && len(data) == 0 {
			return out, nil
		}
		var e transcript.Event
		if err == nil || err == io.EOF {
			err = json.Unmarshal(data, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		out = append(out, e)
	}
}

func countLines(r *bufio.Reader) (n int, err error) {
	for {
		if err := skipLine(r); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
		n++
	}
}

// abandoned is the age from which an unfinished file is taken for one that nobody writes any more.
const abandoned = 24 * time.Hour

// Expire removes sessions taken in before a time, and says how many. It also removes what an ingest that
// was killed left behind.
func (s Sessions) Expire(before time.Time) (int, error) {
	entries, err := s.entries()
	if err != nil {
		return 0, err
	}
	n := 0
	var bad []error
	for _, e := range entries {
		leftover := strings.HasPrefix(e.Name(), unfinished)
		if !leftover && !isSession(e.Name()) {
			continue
		}
		limit := before
		if leftover {
			limit = time.Now().Add(-abandoned)
		}
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(limit) {
			continue
		}
		if err := os.Remove(filepath.Join(s.Dir, e.Name())); err != nil {
			bad = append(bad, err)
		} else if !leftover {
			n++
		}
	}
	return n, errors.Join(bad...)
}

func sortKept(list []Kept) {
	slices.SortFunc(list, func(a, b Kept) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Name(), b.Name()))
	})
}
