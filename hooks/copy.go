package hooks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Agents rewrite, shorten and delete their transcripts. To keep a session's results, the worker
// copies new records, redacted, into the folder of the events.

// Copied describes the copy of a transcript.
type Copied struct {
	Path     string // of the copy
	From     string // the agent's file
	Subagent string // its owner, "" for the session itself
	Grown    int64  // bytes of From that were new
	Size     int64  // of the copy, in bytes
}

// progress is the state of the copy of a transcript.
type progress struct {
	From   string `json:"from"`
	Offset int64  `json:"offset"` // in From, after the last
	Size   int64  `json:"size"`   // of the copy
	// Tail is a hash of the bytes of From before Offset, to recognise a rewritten file.
	Tail string `json:"tail"`
}

const (
	tailLen = 4 << 10  // bytes that Tail is the hash of
	maxLine = 16 << 20 // bytes of a record; longer ones are skipped, as by readers of transcripts
	maxCopy = 64 << 20 // bytes of a transcript that are read at a time
)

// Copy updates the copies of a session's transcripts, in whole lines, from the end of the last
// copy. The records of a rewritten file, or of another file that continues the session, are added
// to the copied ones. So a shortened or missing transcript loses nothing. Only a transcript that is
// a single document is copied again. Copy reads at most maxCopy bytes of each; the rest waits for
// the next call. The result is valid even with an error.
func (w *Waiting) Copy(ctx context.Context, scan *redact.Scanner) ([]Copied, error) {
	type source struct{ from, subagent string }
	sources := map[string]source{}
	var names []string
	for _, e := range w.Events {
		if e.Transcript == "" {
			continue
		}
		name := "transcript.jsonl"
		if e.Subagent != "" {
			sum := sha256.Sum256([]byte(e.Subagent))
			name = fmt.Sprintf("transcript-%x.jsonl", sum[:8])
		}
		if _, known := sources[name]; !known {
			names = append(names, name)
		}
		sources[name] = source{e.Transcript, e.Subagent} // the newest: an agent may change files
	}
	var done []Copied
	var failed []error
	for _, name := range names {
		src := sources[name]
		grown, err := w.copyOne(ctx, name, src.from, scan)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = append(failed, fmt.Errorf("copy the transcript %s: %w", src.from, err))
		}
		path := filepath.Join(w.dir, name)
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			done = append(done, Copied{path, src.from, src.subagent, grown, info.Size()})
		}
	}
	return done, errors.Join(failed...)
}

// copyOne copies the new part of one transcript and returns its length in bytes.
func (w *Waiting) copyOne(ctx context.Context, name, from string, scan *redact.Scanner) (grown int64, err error) {
	// Some system files block, although they claim to be regular.
	in, err := file.Open(from, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	at := w.state.Copies[name]
	anew := at.From != from || at.Offset > info.Size() || at.Tail != tail(in, at.Offset)
	if anew {
		at = progress{From: from, Size: at.Size}
		if !holdsRecords(in) {
			at.Size = 0
		}
	}
	if at.Offset == info.Size() && at.Offset > 0 {
		return 0, nil
	}
	out, err := os.OpenFile(filepath.Join(w.dir, name), os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	if err := out.Truncate(at.Size); err != nil { // an earlier worker was killed in the middle
		return 0, err
	}
	known := map[[sha256.Size]byte]bool{}
	if anew {
		if err := eachLine(ctx, out, func(line []byte) { known[sha256.Sum256(line)] = true }); err != nil {
			return 0, err
		}
	}
	if _, err := out.Seek(at.Size, io.SeekStart); err != nil {
		return 0, err
	}
	if _, err := in.Seek(at.Offset, io.SeekStart); err != nil {
		return 0, err
	}
	stream := after(out, at.Size, scan)
	lines := bufio.NewReaderSize(io.LimitReader(in, maxCopy), 256<<10)
	to := bufio.NewWriterSize(out, 256<<10)
	for ctx.Err() == nil {
		line, length, err := wholeLine(lines)
		if err == io.EOF {
			break
		}
		if err != nil {
			return grown, err
		}
		grown += length
		if line == nil {
			continue
		}
		text := redacted(line, stream)
		if known[sha256.Sum256(text)] {
			continue
		}
		if _, err := to.Write(text); err != nil {
			return grown, err
		}
		at.Size += int64(len(text))
	}
	if err := errors.Join(to.Flush(), out.Sync()); err != nil {
		return grown, err
	}
	at.Offset += grown
	at.Tail = tail(in, at.Offset)
	next := w.state
	if next.Copies = maps.Clone(next.Copies); next.Copies == nil {
		next.Copies = map[string]progress{}
	}
	next.Copies[name] = at
	return grown, errors.Join(w.keepState(next), ctx.Err())
}

// holdsRecords reports whether a transcript has one JSON object per line, rather than one in all.
func holdsRecords(f *os.File) bool {
	first, _, err := wholeLine(bufio.NewReader(io.NewSectionReader(f, 0, maxLine)))
	return err == nil && json.Valid(first)
}

// eachLine calls fn with every line of a copy.
func eachLine(ctx context.Context, f *os.File, fn func(line []byte)) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for r := bufio.NewReaderSize(f, 256<<10); ; {
		line, _, err := wholeLine(r)
		if err == io.EOF {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		fn(line)
	}
}

// wholeLine reads one line with its end. A line that is too long is nil, with its length. At the
// end of the file, or at a line without an end, the error is io.EOF.
func wholeLine(r *bufio.Reader) (line []byte, length int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		length += int64(len(part))
		if length <= maxLine {
			line = append(line, part...)
		} else {
			line = nil
		}
		if err != bufio.ErrBufferFull {
			return line, length, err
		}
	}
}

// after returns a stream that continues the first size bytes of a redacted file, in which a key may
// have begun.
func after(f io.ReaderAt, size int64, scan *redact.Scanner) *redact.Stream {
	stream := scan.Stream()
	last := make([]byte, min(size, redact.Reach))
	n, _ := f.ReadAt(last, size-int64(len(last)))
	stream.Skip(string(last[:n]))
	return stream
}

// redacted returns a redacted record on one line.
func redacted(line []byte, stream *redact.Stream) []byte {
	record := bytes.TrimRight(line, "\r\n")
	text, _, err := stream.JSON(record)
	if err != nil {
		text, _ = stream.Text(string(record))
	}
	return append(text.Bytes(), '\n')
}

// tail returns a hash of the bytes before an offset.
func tail(f *os.File, offset int64) string {
	part := make([]byte, min(offset, tailLen))
	if _, err := f.ReadAt(part, offset-int64(len(part))); err != nil && len(part) > 0 {
		return "unreadable"
	}
	sum := sha256.Sum256(part)
	return fmt.Sprintf("%x", sum[:16])
}
