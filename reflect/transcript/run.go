package transcript

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// run is the state of one Decode: the sink, the counts and the session that is open.
type run struct {
	ctx      context.Context
	sink     Sink
	stats    Stats
	name     string // of the input, without directory and extension; may be empty
	line     int    // the line being read, from 1
	blanks   bool   // empty lines are handed over too
	firstBad error
	err      error // of the sink, which ends the run: nothing is emitted or reported any more

	Session                  // header of the session that is open, or being prepared
	open    bool             // Sink.Session was called, Sink.Done not yet
	n       int              // next event's N
	calls   map[string]Event // calls without a result, by CallID: Tool, Action and Command only
	closed  map[string]bool  // ids of sessions that are done
}

// cutter cuts what is too long, freed of what the sink takes for secrets.
func (r *run) cutter() cutter { return r.sink.Redact }

// bad reports what is wrong with the current line and counts it as skipped.
func (r *run) bad(err error) { r.badAt(r.line, err) }

func (r *run) badAt(line int, err error) {
	if r.err != nil {
		return
	}
	r.stats.Skipped++
	if r.firstBad == nil {
		r.firstBad = fmt.Errorf("line %d: %w", line, err)
	}
	if r.sink.Bad != nil {
		r.sink.Bad(line, err)
	}
}

// nextLine returns the next line that is not too long and, unless those are wanted, not blank. It
// returns the error that ended the run.
func (r *run) nextLine(lines *lineReader) ([]byte, error) {
	for {
		if err := cmp.Or(r.err, r.ctx.Err()); err != nil {
			return nil, err
		}
		b, err := lines.next()
		r.line, r.stats.Lines = lines.n, lines.n
		switch {
		case errors.Is(err, ErrLineTooLong):
			r.bad(err)
			continue
		case err != nil:
			return nil, err
		}
		if lines.n == 1 {
			b = bytes.TrimPrefix(b, bom)
		}
		if len(bytes.TrimSpace(b)) == 0 && !r.blanks {
			continue
		}
		return b, nil
	}
}

// checkText reports wrong UTF-8 in a line, which its decoder replaces.
func (r *run) checkText(b []byte) {
	if utf8.Valid(b) {
		return
	}
	r.stats.Replaced++
	if r.sink.Bad != nil {
		r.sink.Bad(r.line, ErrReplaced)
	}
}

// read decodes the object of a line into v. It reports one that is not JSON, and returns false.
func (r *run) read(b []byte, v any) bool {
	r.checkText(b)
	return r.parse(b, v)
}

// parse is like read, for a part of a line.
func (r *run) parse(b []byte, v any) bool {
	err := decode(b, v)
	if err != nil {
		r.bad(err)
	}
	return err == nil
}

// decode reads one JSON object into v. Fields of an unexpected type stay zero: transcripts change
// with every version, and one odd field must not lose the record.
func decode(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("found a JSON %s where an object belongs", wrong.Value)
	case errors.As(err, &wrong):
		return nil
	case err != nil && strings.Contains(err.Error(), "unexpected end"):
		return errors.New("cut off in the middle of a JSON value")
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON from byte %d on", syntax.Offset)
	case err != nil:
		return fmt.Errorf("not JSON: %w", err)
	}
	return nil
}

// begin opens a session with the header prepared in r.Session, unless one is open.
func (r *run) begin() {
	if r.open || r.err != nil {
		return
	}
	r.cutter().boundSession(&r.Session)
	r.open, r.n, r.calls = true, 0, map[string]Event{}
	r.stats.Sessions++
	r.err = r.sink.Session(r.Session)
}

// emit numbers an event, bounds its texts and hands it over. It opens the session if need be.
func (r *run) emit(e Event) {
	if r.Started.IsZero() {
		r.Started = e.Time
	}
	if r.ID == "" { // stays the same when the transcript grows
		sum := sha256.Sum256([]byte(r.Client + "\x00" + r.Started.String() + "\x00" + e.Text + e.Command))
		r.ID = cmp.Or(r.name, fmt.Sprintf("unnamed-%x", sum[:6]))
	}
	if r.begin(); r.err != nil {
		return
	}
	if e.Time.After(r.Ended) {
		r.Ended = e.Time
	}
	if e.Dir == r.Dir {
		e.Dir = ""
	}
	if e.Kind == Result && e.Outcome != OK && e.Exit == nil && heldUp(e.Text) {
		e.Outcome = Aborted
	}
	r.cutter().bound(&e)
	switch {
	case e.CallID == "":
	case e.Kind == Call:
		r.calls[e.CallID] = Event{Tool: e.Tool, Action: e.Action, Command: e.Command}
	case e.Kind == Result:
		if c, found := r.calls[e.CallID]; found {
			e.Tool, e.Action, e.Command = c.Tool, c.Action, c.Command
			delete(r.calls, e.CallID)
		}
	}
	e.N = r.n
	r.n++
	r.stats.Events++
	r.err = r.sink.Event(e)
}

// emitText is emit for an event that needs a text.
func (r *run) emitText(e Event) {
	if strings.TrimSpace(e.Text) != "" {
		r.emit(e)
	}
}

// end closes the open session and prepares the header for the next.
func (r *run) end() {
	s := r.Session
	r.Session = Session{Client: string(r.stats.Format)}
	if !r.open || r.err != nil {
		return
	}
	r.open = false
	r.closed[s.ID] = true
	r.cutter().boundSession(&s)
	r.err = r.sink.Done(s)
}

// user emits texts that stand in the user's role as at most two events: what was injected into
// them, and what is left, with the origin given. base.Mixed says that more of the message was.
func (r *run) user(base Event, origin Origin, texts ...string) {
	for _, e := range partMessage(texts...).events(base, origin) {
		r.emit(e)
	}
}

// baseName returns the name of what r reads, without directory and extension, if it has one.
func baseName(r io.Reader) string {
	f, named := r.(interface{ Name() string })
	if !named {
		return ""
	}
	name := filepath.Base(f.Name())
	if name == "stdin" || name == "." || name == string(filepath.Separator) {
		return ""
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// parseTime reads RFC 3339; anything else is the zero time.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// millis turns milliseconds since 1970 into a time; 0 and what no clock shows is the zero time.
func millis(ms float64) time.Time {
	if ms <= 0 || ms > 1e15 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}
