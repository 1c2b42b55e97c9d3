package cmd

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// takenFile remembers which sessions of the agents' stores were taken in, and where work trees were. It is derived: without it all
// is read again, and found to be known.
const takenFile = "past.jsonl"

// takenLine is a line of the file: a session, under a hash of where it lies, or a work tree.
type takenLine struct {
	Key     string `json:"key,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Changed int64  `json:"changed,omitempty"` // milliseconds
	At      int64  `json:"at,omitempty"`      // when it was taken in
	Offered bool   `json:"offered,omitempty"` // to an agent that asked: a person's learn takes it in again
	Tree    string `json:"tree,omitempty"`
}

type taken struct {
	known   map[string]takenLine
	trees   []string
	lines   int // in the file
	pending []takenLine
	offered bool // what is taken in now is read at an agent's wish
}

func readTaken(state string) *taken {
	t := &taken{known: map[string]takenLine{}}
	f, err := file.Open(filepath.Join(state, takenFile), os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return t
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); t.lines++ {
		var l takenLine
		if json.Unmarshal(scan.Bytes(), &l) == nil {
			t.put(l)
		}
	}
	return t
}

func (t *taken) put(l takenLine) {
	switch {
	case l.Tree != "" && !slices.Contains(t.trees, l.Tree):
		t.trees = append(t.trees, l.Tree)
	case l.Key != "":
		t.known[l.Key] = l
	}
}

func takenKey(s past.Session) string {
	sum := sha256.Sum256([]byte(s.Key()))
	return hex.EncodeToString(sum[:16])
}

// settles is how long OpenCode may go on writing to a session without saying that it changed.
const settles = time.Hour

// has reports whether a session was taken in as it is.
func (t *taken) has(s past.Session) bool {
	l, ok := t.known[takenKey(s)]
	if !ok || l.Offered && !t.offered || l.Size != s.Size || l.Changed != s.Changed.UnixMilli() {
		return false
	}
	return s.Client != string(transcript.OpenCode) || l.At-l.Changed > settles.Milliseconds()
}

func (t *taken) add(s past.Session, now time.Time) {
	t.note(takenLine{Key: takenKey(s), Size: s.Size, Changed: s.Changed.UnixMilli(), At: now.UnixMilli(), Offered: t.offered})
}

func (t *taken) addTree(dir string) {
	if !slices.Contains(t.trees, dir) {
		t.note(takenLine{Tree: dir})
	}
}

func (t *taken) note(l takenLine) {
	t.put(l)
	t.pending = append(t.pending, l)
}

// goneTrees are the work trees that were, and where nobody has put another repository since: git forgets one that is removed,
// and a folder that is moved.
func (t *taken) goneTrees() []string {
	return slices.DeleteFunc(slices.Clone(t.trees), func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// write adds what is new to the file, which is written anew when most of it is outdated.
func (t *taken) write(w *workspace) error {
	if len(t.pending) == 0 {
		return nil
	}
	dir, err := w.Repo.StateDir()
	if err != nil {
		return err
	}
	lines := t.pending
	anew := t.lines == 0 || t.lines > 2*len(t.known)+1000
	if anew {
		lines = nil
		for _, tree := range t.trees {
			lines = append(lines, takenLine{Tree: tree})
		}
		for _, l := range t.known {
			lines = append(lines, l)
		}
		slices.SortFunc(lines[len(t.trees):], func(a, b takenLine) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
	}
	var text bytes.Buffer
	if !anew {
		text.WriteByte('\n') // ends a line that was torn
	}
	enc := json.NewEncoder(&text)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	if anew {
		err = w.Repo.WriteState(takenFile, text.Bytes(), false)
		t.lines = len(lines)
	} else {
		err = appendText(filepath.Join(dir, takenFile), text.Bytes())
		t.lines += len(lines)
	}
	if err == nil {
		t.pending = nil
	}
	return err
}

func appendText(path string, text []byte) error {
	f, err := file.Open(path, os.O_WRONLY|os.O_APPEND|file.NoFollow, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
