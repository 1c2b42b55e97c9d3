package reflect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// unfinished is the prefix of a file that an ingest is writing, or left when it was killed.
const unfinished = ".session-"

// cleaner takes the secrets out of one session.
type cleaner struct {
	folder Sessions
	stream *redact.Stream // of the events: a key may begin in one and continue in the next
	found  *redact.Report
}

func (s Sessions) cleaner(found *redact.Report) cleaner {
	return cleaner{s, s.Scanner.Stream(), found}
}

// clean returns a value as one line of redacted JSON.
func (c cleaner) clean(v any) (string, error) { return c.json(v, c.stream) }

func (c cleaner) json(v any, stream *redact.Stream) (string, error) {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("keep session: %w", err)
	}
	text, report, err := stream.JSON(bytes.TrimSuffix(doc.Bytes(), []byte("\n")))
	if err != nil {
		return "", fmt.Errorf("keep session: %w", err)
	}
	c.found.Add(report)
	return text.String(), nil
}

// head returns a session with clean names.
func (c cleaner) head(head transcript.Session) transcript.Session {
	head.Client, head.ID, head.Parent = c.name(head.Client), c.id(head.ID), c.id(head.Parent)
	return head
}

// name removes secrets from a session's name, which becomes the name of its file.
func (c cleaner) name(id string) string {
	name, found := safeName(c.folder.Scanner, id)
	c.found.Add(found)
	return name
}

// id is name for a session's id.
func (c cleaner) id(id string) string {
	if id = c.name(id); id != "" && c.folder.Offered {
		return transcript.SafeID(record.Offer(id))
	}
	return id
}

// sessionWriter collects the events of one session in a file beside its place.
type sessionWriter struct {
	cleaner
	tmp  *os.File
	out  *bufio.Writer
	kept Kept
}

func (s Sessions) begin() (*sessionWriter, error) {
	tmp, err := os.CreateTemp(s.Dir, unfinished+"*") // 0600
	if err != nil {
		return nil, fmt.Errorf("keep session: %w", err)
	}
	w := &sessionWriter{tmp: tmp, out: bufio.NewWriterSize(tmp, 64<<10)}
	w.cleaner = s.cleaner(&w.kept.Redacted)
	return w, nil
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
	return w.line(w.out, e, w.stream)
}

// line writes v as one line of redacted JSON.
func (w *sessionWriter) line(out *bufio.Writer, v any, stream *redact.Stream) error {
	text, err := w.json(v, stream)
	if err != nil {
		return err
	}
	if _, err := out.WriteString(text); err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	return out.WriteByte('\n')
}

// safeName returns an id without secrets, then made safe for a path.
func safeName(scan *redact.Scanner, id string) (string, redact.Report) {
	if id == "" {
		return "", redact.Report{}
	}
	text, found := scan.Text(id)
	return transcript.SafeID(text.String()), found
}

// Name returns the name of a session, "<client>/<id>", by which its file is named: without secrets,
// and safe in a path.
func Name(scan *redact.Scanner, client, id string) string {
	client, _ = safeName(scan, client)
	id, _ = safeName(scan, id)
	return client + "/" + id
}

// finish puts the session in its place, unless the stored one is equal or longer.
func (w *sessionWriter) finish(head transcript.Session) (Kept, error) {
	defer w.abandon()
	head = w.head(head)
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
	err = w.line(out, header{head, w.kept.Events, w.kept.Hash}, w.folder.Scanner.Stream())
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

// hash returns Hash of the events as written, after the scanner, as Study will see them.
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

// compare compares the new events with those kept at path.
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
		return Grown, nil // torn: the new events are better
	}
	if _, err := w.tmp.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("keep session: %w", err)
	}
	now := bufio.NewReaderSize(w.tmp, 64<<10)
	for {
		b, err := now.ReadByte()
		if err == io.EOF {
			return Unchanged, nil // it already has all of them
		}
		if err != nil {
			return "", fmt.Errorf("keep session: %w", err)
		}
		if a, err := before.ReadByte(); err != nil || a != b {
			return Grown, nil
		}
	}
}
