package ingest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// ledgerFile records the sessions imported from agents' stores, and former work trees. It is
// derived: without it everything is read again and recognised.
const ledgerFile = "past.jsonl"

// entry is a line of the ledger: a session, under a hash of its place, or a work tree.
type entry struct {
	Key     string `json:"key,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Changed int64  `json:"changed,omitempty"` // milliseconds
	At      int64  `json:"at,omitempty"`      // when it was taken
	// imported for an agent: a person's learn imports it again
	Offered bool   `json:"offered,omitempty"`
	Tree    string `json:"tree,omitempty"`
}

// ledger is the content of the file, plus the unwritten entries.
type ledger struct {
	known   map[string]entry
	trees   []string
	lines   int // in the file
	pending []entry
	offered bool // sessions are imported for an agent now
}

func readLedger(state string) *ledger {
	l := &ledger{known: map[string]entry{}}
	f, err := file.Open(filepath.Join(state, ledgerFile), os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return l
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); l.lines++ {
		var e entry
		if json.Unmarshal(scan.Bytes(), &e) == nil {
			l.put(e)
		}
	}
	return l
}

func (l *ledger) put(e entry) {
	switch {
	case e.Tree != "" && !slices.Contains(l.trees, e.Tree):
		l.trees = append(l.trees, e.Tree)
	case e.Key != "":
		l.known[e.Key] = e
	}
}

func keyOf(s past.Session) string {
	sum := sha256.Sum256([]byte(s.Key()))
	return hex.EncodeToString(sum[:16])
}

// settles bounds how long OpenCode may write to a session without updating its time.
const settles = time.Hour

// has reports whether a session was imported in its present state.
func (l *ledger) has(s past.Session) bool {
	e, ok := l.known[keyOf(s)]
	if !ok || e.Offered && !l.offered || e.Size != s.Size || e.Changed != s.Changed.UnixMilli() {
		return false
	}
	return s.Client != string(transcript.OpenCode) || e.At-e.Changed > settles.Milliseconds()
}

func (l *ledger) add(s past.Session, now time.Time) {
	l.append(entry{Key: keyOf(s), Size: s.Size, Changed: s.Changed.UnixMilli(), At: now.UnixMilli(), Offered: l.offered})
}

func (l *ledger) addTree(dir string) {
	if !slices.Contains(l.trees, dir) {
		l.append(entry{Tree: dir})
	}
}

func (l *ledger) append(e entry) {
	l.put(e)
	l.pending = append(l.pending, e)
}

// goneTrees returns the former work trees whose folders hold no other repository now. Git forgets a
// removed work tree, and a moved folder.
func (l *ledger) goneTrees() []string {
	return slices.DeleteFunc(slices.Clone(l.trees), func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// write appends the new entries to the file. If most of the file is outdated, it replaces the file.
func (l *ledger) write(repo *git.Repo) error {
	if len(l.pending) == 0 {
		return nil
	}
	dir, err := repo.State().Dir()
	if err != nil {
		return err
	}
	replace := l.lines == 0 || l.lines > 2*len(l.known)+1000
	entries := l.pending
	var text bytes.Buffer
	if replace {
		entries = l.all()
	} else {
		text.WriteByte('\n') // ends a torn line
	}
	enc := json.NewEncoder(&text)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if replace {
		err = repo.State().Write(ledgerFile, text.Bytes(), false)
		l.lines = len(entries)
	} else {
		err = appendText(filepath.Join(dir, ledgerFile), text.Bytes())
		l.lines += len(entries)
	}
	if err == nil {
		l.pending = nil
	}
	return err
}

// all returns every entry: the work trees, then the sessions by key.
func (l *ledger) all() []entry {
	var out []entry
	for _, tree := range l.trees {
		out = append(out, entry{Tree: tree})
	}
	for _, key := range slices.Sorted(maps.Keys(l.known)) {
		out = append(out, l.known[key])
	}
	return out
}

func appendText(path string, text []byte) error {
	f, err := file.Open(path, os.O_WRONLY|os.O_APPEND|file.NoFollow, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
