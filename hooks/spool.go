package hooks

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Spool is the folder of events for the worker. Each session has a folder with the file
// events.jsonl, one event a line. Any number of processes may Append at once. Take and its results
// belong to one worker at a time, which holds a lock of its own.
type Spool struct {
	Dir     string
	Scanner *redact.Scanner // may be nil
}

const eventsFile = "events.jsonl"

// SeenDir is a folder of the state folder with a file per agent, whose modification time is that of
// the agent's last event.
const SeenDir = "seen"

// Git's hooks write these files into the state folder. They make the worker look for sessions of
// agents without Reverie's hooks.
const (
	// LookFile asks for a look. It holds the session whose agent's shell asked, or nothing. Its
	// modification time is the earliest moment for the look.
	LookFile = "worker.look"
	// LookDueFile holds the time since which stores were not searched, as RFC 3339, or nothing. Its
	// modification time is the moment from which a commit asks for the next look.
	LookDueFile = "look.due"
)

// folder returns the folder of a session's events. Its name is a hash, because an agent may choose
// any session name.
func (s Spool) folder(e Event) string {
	sum := sha256.Sum256([]byte(e.Session))
	return filepath.Join(s.Dir, fmt.Sprintf("%s-%x", e.Agent, sum[:12]))
}

// ErrRepeated means that an event came from an agent's settings and from a plugin.
var ErrRepeated = errors.New("delivered already")

// together bounds the time between two deliveries of one event. One client runs its hooks one after
// the other, each for up to five seconds.
const together = 6 * time.Second

// Append redacts and adds an event. When it returns without an error, the event is on disk. The
// error wraps ErrRepeated if the session's last event is the same, and one of the two came from a
// plugin.
func (s Spool) Append(e Event) error {
	dir := s.folder(e)
	line, err := s.line(e, dir)
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	for range 100 { // a try fails if a worker removes the folder meanwhile
		err = appendLine(dir, line)
		if !errors.Is(err, errMoved) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// line returns an event as a line. It redacts a long text before cutting it, because half a secret
// would not be recognised.
func (s Spool) line(e Event, dir string) ([]byte, error) {
	text, err := s.scan(e, dir)
	if err != nil {
		return nil, err
	}
	if len(text) > maxPayload {
		var short Event
		if err := json.Unmarshal(text, &short); err != nil {
			return nil, err
		}
		for _, field := range []*string{&short.Session, &short.Parent, &short.Subagent, &short.Dir, &short.Transcript, &short.Prompt, &short.Source} {
			*field = beginning(*field, maxField)
		}
		short.Payload = shortened(short.Payload)
		if text, err = s.scan(short, dir); err != nil {
			return nil, err
		}
	}
	return append(text, '\n'), nil
}

// shortened returns the payload of a call with long texts and lists cut, or nil for another payload
// and for one that stays too long. Outputs and errors keep their end, all else keeps its beginning.
func shortened(payload json.RawMessage) json.RawMessage {
	var fields map[string]any
	if decode(payload, &fields) != nil || fields["tool_name"] == nil && fields["edits"] == nil {
		return nil
	}
	var output any
	text, _ := fields["tool_output"].(string)
	if decode([]byte(text), &output) != nil {
		output = text
	}
	for most := maxPayload / 4; most >= 64; most /= 4 { // bytes of a text; escapes multiply them
		short := map[string]any{}
		for name, value := range fields {
			short[name] = trimmed(value, most, name == "error_message")
		}
		if text != "" {
			cut := trimmed(output, most/2, true)
			if _, plain := cut.(string); !plain {
				doc, _ := json.Marshal(cut) // of a decoded document
				cut = string(doc)
			}
			short["tool_output"] = cut
		}
		if doc, err := json.Marshal(short); err == nil && len(doc) <= maxPayload-maxField {
			return doc
		}
	}
	return nil
}

// decode parses a JSON value and keeps the digits of its numbers.
func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text follows the JSON value")
	}
	return nil
}

// trimmed returns a decoded JSON value whose texts have at most so many bytes, and whose lists have
// an item per KiB of that.
func trimmed(value any, most int, end bool) any {
	switch v := value.(type) {
	case string:
		if end {
			return ending(v, most)
		}
		return beginning(v, most)
	case []any:
		if n := max(1, most>>10); len(v) > n && end {
			v = v[len(v)-n:]
		} else if len(v) > n {
			v = v[:n]
		}
		short := make([]any, len(v))
		for i := range short {
			short[i] = trimmed(v[i], most, end)
		}
		return short
	case map[string]any:
		short := map[string]any{}
		for name, one := range v {
			short[name] = trimmed(one, most, end)
		}
		return short
	}
	return value
}

// beginning returns the beginning of a text, up to a whole character.
func beginning(s string, most int) string {
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// ending returns the end of a text, from a whole character.
func ending(s string, most int) string {
	return strings.ToValidUTF8(s[max(0, len(s)-most):], "")
}

// scan returns an event without secrets, as JSON. A key may have begun in the waiting events of
// dir.
func (s Spool) scan(e Event, dir string) ([]byte, error) {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	stream := s.Scanner.Stream()
	if f, err := file.Open(filepath.Join(dir, eventsFile), os.O_RDONLY|file.NoFollow, 0); err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			stream = after(f, info.Size(), s.Scanner)
		}
	}
	text, _, err := stream.JSON(bytes.TrimSpace(doc.Bytes()))
	return text.Bytes(), err
}

// errMoved means that the file was moved away after it was opened.
var errMoved = errors.New("was moved away")

// appendLine adds a line to a session's file under the file's lock. It ends an unfinished line of
// another process first.
func appendLine(dir string, line []byte) error {
	made, err := makeFolder(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, eventsFile)
	f, err := file.Open(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|file.NoFollow, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := file.Lock(f, true); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(info, there) {
		return errMoved
	}
	if size := info.Size(); size > 0 {
		tail := make([]byte, min(size, int64(len(line)+64))) // more than a time and a mark take
		if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
			return err
		}
		if repeats(tail, line) {
			return ErrRepeated
		}
		if tail[len(tail)-1] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	} else {
		made = true
	}
	if _, err := f.Write(line); err != nil {
		f.Truncate(info.Size()) // half a line would be reported as damage
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if made {
		return errors.Join(file.SyncDir(dir), file.SyncDir(filepath.Dir(dir)))
	}
	return nil
}

// repeats reports whether the last line of tail has the event of line from about the same time, and
// only one of both came from a plugin.
func repeats(tail, line []byte) bool {
	last := tail[bytes.LastIndexByte(bytes.TrimSuffix(tail, []byte("\n")), '\n')+1:]
	var times [2]time.Time
	var rests [2]string
	var plugins [2]bool
	for i, text := range [][]byte{last, line} {
		before, rest, _ := strings.Cut(string(text), `,"time":"`)
		stamp, after, _ := strings.Cut(rest, `"`)
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil {
			return false
		}
		before, plugins[i] = strings.CutSuffix(before, `,"plugin":true`)
		times[i], rests[i] = at, before+after
	}
	return rests[0] == rests[1] && plugins[0] != plugins[1] && times[1].Sub(times[0]).Abs() <= together
}

// makeFolder makes a session's folder, and the spool's, readable by the owner alone. It reports
// whether it made one.
func makeFolder(dir string) (made bool, err error) {
	for _, d := range []string{filepath.Dir(dir), dir} {
		info, err := os.Lstat(d)
		if errors.Is(err, fs.ErrNotExist) {
			made = true
			if err = os.Mkdir(d, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
				info, err = os.Lstat(d)
			}
		}
		if err != nil {
			return made, err
		}
		if !info.IsDir() {
			return made, fmt.Errorf("%s is not a folder of ours; move it away", d)
		}
	}
	return made, nil
}

// Waiting is a session with a folder in the spool.
type Waiting struct {
	dir     string
	Last    Event   // the newest event
	Events  []Event // empty if the first is unfinished
	Bad     int     // lines that cannot be read
	Fresh   bool    // some are newer than the last call of Folded
	Written time.Time
	size    int64 // of the events' file when read, including an unfinished last line
	state   waitingState
}

// waitingState is the worker's memory of a session between two folds.
type waitingState struct {
	Size int64 `json:"size"`           // of the folded part of the events file
	Live bool  `json:"live,omitempty"` // the session was active then
	// Owed means that the copies have grown since they last went into the session.
	Owed bool `json:"owed,omitempty"`
	// Noted is the time of the last compaction with a checkpoint.
	Noted  time.Time           `json:"noted,omitzero"`
	Note   bool                `json:"note,omitempty"`   // a checkpoint is due
	Judged int64               `json:"judged,omitempty"` // the size when its stop was last judged
	Copies map[string]progress `json:"copies,omitempty"` // by the name of the copy
}

const (
	stateFile = "state.json"
	goneMark  = ".gone-" // begins the name of a folder that is being removed
	maxState  = 1 << 20  // of the state, in bytes
)

// Due counts the sessions with work for a worker. It has new events, needs a checkpoint, or was
// active at the last fold and has gone quiet since. Due reads no events.
func (s Spool) Due(now time.Time, idle time.Duration) int {
	entries, _ := os.ReadDir(s.Dir)
	due := 0
	for _, e := range entries {
		dir := filepath.Join(s.Dir, e.Name())
		info, err := os.Lstat(filepath.Join(dir, eventsFile))
		if err != nil {
			continue
		}
		if state := readState(dir); info.Size() > state.Size || state.Note || state.Live && now.Sub(info.ModTime()) >= idle {
			due++
		}
	}
	return due
}

// readState returns the worker's state of a session, or an empty one if it cannot be read:
// folding again is harmless.
func readState(dir string) waitingState {
	var state waitingState
	if text, err := file.Read(filepath.Join(dir, stateFile), maxState); err == nil && json.Unmarshal(text, &state) != nil {
		return waitingState{}
	}
	return state
}

// Take reads the waiting events. The error joins those of unreadable folders; the others are
// returned.
func (s Spool) Take() ([]*Waiting, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the spool: %w", err)
	}
	var all []*Waiting
	var bad []error
	for _, entry := range entries {
		dir := filepath.Join(s.Dir, entry.Name())
		if strings.HasPrefix(entry.Name(), goneMark) {
			os.RemoveAll(dir) // what an earlier Remove could not
			continue
		}
		w, err := readWaiting(dir)
		switch {
		case err != nil:
			bad = append(bad, fmt.Errorf("read the spool: %w", err))
		case w != nil:
			all = append(all, w)
		}
	}
	return all, errors.Join(bad...)
}

// TakeOne is Take for the session of an event. It returns nil if the session has no events.
func (s Spool) TakeOne(e Event) (*Waiting, error) {
	w, err := readWaiting(s.folder(e))
	if err != nil {
		return nil, fmt.Errorf("read the spool: %w", err)
	}
	return w, nil
}

// readWaiting reads one session's folder. It returns nil without an events file.
func readWaiting(dir string) (*Waiting, error) {
	w := &Waiting{dir: dir, state: readState(dir)}
	f, err := file.Open(filepath.Join(dir, eventsFile), os.O_RDONLY|file.NoFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		w.Written = info.ModTime()
	}
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		w.size += int64(len(line))
		if err == io.EOF {
			break // an unfinished line is being written, or was never acknowledged
		}
		if err != nil {
			return nil, err
		}
		var e Event
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if json.Unmarshal(line, &e) != nil || e.Session == "" {
			w.Bad++
			continue
		}
		w.Events = append(w.Events, e)
		w.Last = e
	}
	w.Fresh = w.size > w.state.Size
	return w, nil
}

// Ended reports whether the last event is the end of the session.
func (w *Waiting) Ended() bool { return w.Last.Kind == End }

// Quiet reports whether a session is inactive: it ended, or had no event for some time. A clock
// that was set back makes no session quiet.
func (w *Waiting) Quiet(now time.Time, idle time.Duration) bool {
	return w.Ended() || now.Sub(w.Last.Time) >= idle
}

// Folded records that the taken events are in a session. owed postpones the transcript's part; live
// means that the session is active.
func (w *Waiting) Folded(live, owed bool) error {
	next := w.state
	next.Size, next.Live, next.Owed, next.Note = w.size, live, owed, !w.compaction().Time.IsZero()
	return w.keepState(next)
}

// Compaction returns the session's newest compaction without a checkpoint.
func (w *Waiting) Compaction() (e Event, ok bool) {
	e = w.compaction()
	return e, !e.Time.IsZero()
}

func (w *Waiting) compaction() (last Event) {
	for _, e := range w.Events {
		if e.Kind == Compacting && e.Time.After(w.state.Noted) {
			last = e
		}
	}
	return last
}

// Noted records that a compaction has its checkpoint, or needs none.
func (w *Waiting) Noted(e Event) error {
	next := w.state
	next.Noted, next.Note = e.Time, false
	return w.keepState(next)
}

// Judged reports whether Judge was called since the last event.
func (w *Waiting) Judged() bool { return w.state.Judged == w.size }

// Judge records that the session's progress was judged.
func (w *Waiting) Judge() error {
	next := w.state
	next.Judged = w.size
	return w.keepState(next)
}

// Owed reports whether Folded has postponed something.
func (w *Waiting) Owed() bool { return w.state.Owed }

// WasLive reports whether the session was active at the last fold. A killed agent may have written
// more into its transcript than its events show.
func (w *Waiting) WasLive() bool { return w.state.Live }

// keepState saves a changed state.
func (w *Waiting) keepState(next waitingState) error {
	text, err := json.Marshal(next)
	if was, _ := json.Marshal(w.state); err == nil && !bytes.Equal(text, was) {
		err = file.Replace(filepath.Join(w.dir, stateFile), text, 0o600, true)
	}
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	w.state = next
	return nil
}

// Remove removes a session's folder unless events arrived after Take, and reports whether it did.
func (w *Waiting) Remove() (removed bool, err error) {
	path := filepath.Join(w.dir, eventsFile)
	f, err := file.Open(path, os.O_RDWR|file.NoFollow, 0)
	if err != nil {
		return false, fmt.Errorf("spool: %w", err)
	}
	defer f.Close()
	if _, err := file.Lock(f, true); err != nil {
		return false, fmt.Errorf("spool: %w", err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != w.size {
		return false, err
	}
	gone := filepath.Join(filepath.Dir(w.dir), fmt.Sprintf("%s%s-%d", goneMark, filepath.Base(w.dir), time.Now().UnixNano()))
	if err := os.Rename(w.dir, gone); err != nil {
		return false, fmt.Errorf("spool: %w", err)
	}
	os.RemoveAll(gone) // a late Append may make a file there; Take removes the rest
	return true, nil
}
