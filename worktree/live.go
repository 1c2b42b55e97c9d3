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
	Heard     time.Time `json:"heard"` // last sign of life of the phase
	Lines     int       `json:"lines"` // finished lines in total
	// the last of them, redacted, each with its line feed; at most MaxLive bytes
	Text string `json:"text"`
	Rest string `json:"rest"` // of the unfinished line, whole words
}

const (
	// MaxLive bounds the visible output of a running command, in bytes.
	MaxLive = 64 << 10
	// maxLine bounds a visible line, in bytes. A longer line is truncated.
	maxLine = 2 << 10

	liveFile = "live.json"
	liveTemp = "live.new"
	liveLook = 3 // it is written at most once in that many looks
	// scanned bounds the bytes searched for secrets, so that a key that begins before the visible part
	// is recognised by its beginning.
	scanned = 2 * MaxLive
	maxOpen = 64 << 10 // bytes kept of an unfinished line
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

// tail is a writer that makes the end of its input visible. It shows whole lines, and whole words
// of the unfinished one, so that a secret in pieces is never visible in part. A line that restarts
// shows its last version.
type tail struct {
	dir     string
	scanner *redact.Scanner

	mu      sync.Mutex
	live    Live
	whole   []byte // lines, the last of them
	open    []byte // the line at hand, its beginning
	more    int    // dropped bytes of it
	back    bool   // the next text restarts the line
	changed bool
}

// newTail creates the file of a starting phase, replacing that of a killed process.
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

// end finishes the current line.
func (t *tail) end() {
	t.whole = append(append(t.whole, t.short(t.open)...), '\n')
	t.open, t.more = t.open[:0], 0
	t.live.Lines++
	if len(t.whole) > 2*scanned {
		t.whole = append(t.whole[:0], LastLines(t.whole, scanned)...)
	}
}

// short returns a line as shown. It removes a secret before it cuts a long line.
func (t *tail) short(line []byte) string {
	if len(line) <= maxLine {
		return string(line)
	}
	kept := line
	if at := bytes.LastIndexByte(line, ' '); t.more > 0 && at > 0 {
		kept = line[:at] // the last word continues in the dropped part
	}
	clean, _ := t.scanner.Text(strings.ToValidUTF8(string(kept), "\ufffd"))
	return CutLine(clean.String(), len(line)+t.more)
}

// CutLine returns the beginning of a line of size bytes, as shown.
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

// LastLines returns the whole lines at the end of a text that take at most most bytes.
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

// keep writes the view if it has changed. A failed write does not fail the loop.
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
	// Not by file.Replace: a killed process must not leave one more file each time.
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

// forget removes the view of a phase.
func forget(dir string) {
	os.Remove(filepath.Join(dir, liveTemp))
	os.Remove(filepath.Join(dir, liveFile))
}

const (
	gapRoom = 80 // bytes for the marker of a gap
	// the longest multi-line text without blanks that a scanner takes for one secret, in bytes
	maxWraps = 64 << 10
)

// gapOf returns the marker for n dropped bytes.
func gapOf(n int) string { return fmt.Sprintf("\n[… %d bytes are left out …]\n", n) }

// gapped shortens a text to at most most bytes: a third from its beginning and the rest from its
// end. It may cut a line, so the text must already be free of secrets.
func gapped(text string, most int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/3], text[len(text)-(most-most/3-gapRoom):]
	for _, end := range []string{"\n", " "} {
		if i := strings.LastIndex(head[max(0, len(head)-maxLine):], end); i >= 0 {
			head = head[:max(0, len(head)-maxLine)+i+1]
			break
		}
	}
	for _, end := range []string{"\n", " "} {
		if i := strings.Index(tail[:min(len(tail), maxLine)], end); i >= 0 {
			tail = tail[i+1:]
			break
		}
	}
	return strings.ToValidUTF8(head, "") + gapOf(len(text)-len(head)-len(tail)) + strings.ToValidUTF8(tail, "")
}

// torn is gapped for a text not yet searched for secrets: its head and tail, with gone bytes lost
// between them. It keeps no partial line, and no line next to the gap that may belong to a secret
// in it.
func torn(head, tail string, gone, most int) string {
	head, tail = strings.ToValidUTF8(head, "\ufffd"), strings.ToValidUTF8(tail, "\ufffd")
	size := len(head) + len(tail) + gone
	if gone == 0 && size <= most {
		return head + tail
	}
	if gone == 0 {
		head += tail
		tail = head
	}
	head = head[:strings.LastIndexByte(head[:min(len(head), most/3)], '\n')+1]
	for least := len(head) - maxWraps; head != "" && len(head) > least; {
		at := strings.LastIndexByte(head[:len(head)-1], '\n') + 1
		if !wrapped(head[at:]) {
			break
		}
		head = head[:at]
	}
	tail = LastLines(tail, most-most/3-gapRoom)
	for least, more := len(tail)-maxWraps, false; tail != "" && len(tail) > least; {
		line, rest, _ := strings.Cut(tail, "\n")
		if !goesOn(line) && !(more && len(line) < 16) { // the last line of a key is shorter
			break
		}
		tail, more = rest, wrapped(line)
	}
	return head + gapOf(size-len(head)-len(tail)) + tail
}

// goesOn reports whether a line may depend on the previous one: a key that began there, or the name
// of this line's value.
func goesOn(line string) bool {
	word := strings.TrimLeft(line, around)
	return word == "" || wrapped(line) || len(word) >= 5 && strings.EqualFold(word[:5], "value")
}

// around lists the characters that may surround a line of a key.
const around = " \t\r\n\"'`\\|>#*;,"

// wrapped reports whether a line may be one of several that form one word: of a key, or of base64.
func wrapped(line string) bool {
	line = strings.Trim(line, around)
	return (len(line) >= 16 || strings.HasSuffix(line, "=")) && !strings.ContainsFunc(line, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_=", r))
	})
}
