package worktree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Live is the view of a running phase. It exists in the loop's folder only while the phase runs,
// and no decision depends on it.
type Live struct {
	Phase     Phase     `json:"phase"`
	Iteration int       `json:"iteration"`
	Began     time.Time `json:"began"` // the phase, or its last try
	Heard     time.Time `json:"heard"` // something of what works, last
	Lines     int       `json:"lines"` // that have come to their end in all
	Text      string    `json:"text"`  // the last of them, redacted, each with its line feed; at most MaxLive bytes
	Rest      string    `json:"rest"`  // of the line at hand, whole words
}

const (
	// MaxLive bounds the visible output of a running command, in bytes.
	MaxLive = 64 << 10
	// maxLine bounds a visible line, in bytes. A longer line is truncated.
	maxLine = 2 << 10

	liveFile = "live.json"
	liveTemp = "live.new"
	liveLook = 3 // it is written at most once in so many looks
	// scanned bounds the bytes searched for secrets, so that a key that begins before the visible part
	// is recognised by its beginning.
	scanned = 2 * MaxLive
	maxOpen = 64 << 10 // bytes that are kept of a line until it ends
)

// LiveOf returns the view of a loop's running phase, or nil. Held tells whether the loop goes on.
func LiveOf(repo *git.Repo, name string) *Live {
	dir, err := folderOf(repo, name)
	if err != nil {
		return nil
	}
	text, err := file.Read(filepath.Join(dir, liveFile), 8*MaxLive) // a byte may take six in JSON
	var l Live
	if err != nil || json.Unmarshal(text, &l) != nil {
		return nil
	}
	return &l
}

// tail is a writer that keeps the end of what it is given where others see it. Lines are shown when
// they are whole, of the one at hand its whole words: a secret that comes in pieces is never seen
// as one of them. A line that goes back to its beginning is the last that was written there.
type tail struct {
	dir     string
	scanner *redact.Scanner

	mu      sync.Mutex
	live    Live
	whole   []byte // lines, the last of them
	open    []byte // the line at hand, its beginning
	more    int    // bytes of it that are not kept
	back    bool   // what comes next stands at its beginning
	changed bool
}

// newTail makes the file of a phase that begins, in the place of what a process that was killed has
// left.
func newTail(dir string, scanner *redact.Scanner, s State, now time.Time) *tail {
	t := &tail{dir: dir, scanner: scanner, live: Live{Phase: s.Phase, Iteration: s.Iteration, Began: now}, changed: true}
	t.keep(now)
	return t
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.changed = t.changed || n > 0
	for len(p) > 0 {
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			t.add(p)
			break
		}
		t.add(p[:i])
		if t.back = p[i] == '\r'; !t.back {
			t.end()
		}
		p = p[i+1:]
	}
	return n, nil
}

// add appends to the current line, or restarts it after a carriage return. It counts bytes without
// room.
func (t *tail) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if t.back {
		t.open, t.more, t.back = t.open[:0], 0, false
	}
	take := min(len(p), maxOpen-len(t.open))
	t.open = append(t.open, p[:take]...)
	t.more += len(p) - take
}

// end makes the line at hand a whole one.
func (t *tail) end() {
	t.whole = append(append(t.whole, t.short(t.open)...), '\n')
	t.open, t.more = t.open[:0], 0
	t.live.Lines++
	if len(t.whole) > 2*scanned {
		t.whole = append(t.whole[:0], LastLines(t.whole, scanned)...)
	}
}

// short is a line as it is shown. A secret in a long one is taken out before the rest is.
func (t *tail) short(line []byte) string {
	if len(line) <= maxLine {
		return string(line)
	}
	kept := line
	if at := bytes.LastIndexByte(line, ' '); t.more > 0 && at > 0 {
		kept = line[:at] // the last word goes on in what is not here
	}
	clean, _ := t.scanner.Text(strings.ToValidUTF8(string(kept), "\ufffd"))
	return CutLine(clean.String(), len(line)+t.more)
}

// CutLine is the beginning of a line that had so many bytes, as it is shown.
func CutLine(line string, size int) string {
	if size <= maxLine {
		return line
	}
	at := min(len(line), maxLine)
	for at > 0 && at < len(line) && !utf8.RuneStart(line[at]) {
		at--
	}
	return fmt.Sprintf("%s [… a line of %d bytes]", line[:at], size)
}

// LastLines are the whole lines at the end of a text that take at most so many bytes.
func LastLines[T string | []byte](text T, most int) T {
	if len(text) <= most {
		return text
	}
	at := len(text) - most
	for text[at-1] != '\n' {
		if at++; at == len(text) {
			return text[at:]
		}
	}
	return text[at:]
}

// keep writes what can be seen, if it is other than before. That it cannot be written is no fault
// of the loop's.
func (t *tail) keep(heard time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if heard = heard.UTC().Truncate(time.Millisecond); !t.changed && heard.Equal(t.live.Heard) {
		return
	}
	if t.changed {
		words := t.open[:bytes.LastIndexAny(t.open, " \t")+1]
		clean := t.scanner.Glance(strings.ToValidUTF8(string(t.whole)+t.short(words), "\ufffd"))
		text := clean.String()
		at := strings.LastIndexByte(text, '\n') + 1
		t.live.Text, t.live.Rest = LastLines(text[:at], MaxLive), text[at:]
	}
	t.live.Began, t.live.Heard, t.changed = t.live.Began.UTC().Truncate(time.Millisecond), heard, false
	doc, err := json.Marshal(t.live)
	if err != nil {
		return
	}
	// Not by file.Replace: a process that is killed must not leave one file more each time.
	temp := filepath.Join(t.dir, liveTemp)
	f, err := file.Open(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|file.NoFollow, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(doc)
	if f.Close() == nil && err == nil {
		os.Rename(temp, filepath.Join(t.dir, liveFile))
	}
}

// forget removes what can be seen of a phase.
func forget(dir string) {
	os.Remove(filepath.Join(dir, liveTemp))
	os.Remove(filepath.Join(dir, liveFile))
}
