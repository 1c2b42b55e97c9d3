package cmd

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/pack"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
)

// ledgerDir is the folder of the state folder that says what was given to whom: a file a session, a line an injection.
// A session is given no memory twice between two compactions, so its file stays short; it expires as sessions do. It
// holds ids and words of ours, no text of a memory. A line that was torn is passed over: what it told may be given
// again.
const ledgerDir = "ledger"

// injection is what was, or would be, given to an agent.
type injection struct {
	ID      string         `json:"id,omitempty"` // i and 12 hex digits
	Time    time.Time      `json:"time,omitzero"`
	Session string         `json:"session,omitempty"` // "<client>/<id>"
	For     string         `json:"for"`
	Commit  string         `json:"commit"` // of the memory
	Items   []given        `json:"items"`  // in the order of the text
	Cut     map[string]int `json:"cut"`    // why → how many were left out
	Next    []string       `json:"next"`   // ids of the first that did not fit
	Hash    string         `json:"hash"`   // SHA-256 of the text, hex
	Bytes   int            `json:"bytes"`
	Tokens  int            `json:"tokens"`
	Least   int            `json:"least,omitempty"` // where nothing fits: tokens from which on something does

	text   string
	behind error // the prompt was looked up in nothing: the index is to be brought up to date first. It wraps recall.ErrBehind
}

// given is a memory in an injection.
type given struct {
	ID    string   `json:"id"`
	Why   []string `json:"why"`             // that it was chosen, and ranked where it is
	Short bool     `json:"short,omitempty"` // only its first sentence is in
}

// Why memories were left out.
const (
	cutBudget   = "budget"   // they did not fit
	cutShown    = "shown"    // the block in AGENTS.md, which the agent reads, has them
	cutWritten  = "written"  // the repository's documents say it, or a file that the agent reads
	cutGiven    = "given"    // the session was given them before
	cutAlike    = "alike"    // another one that is given says the same
	cutWithheld = "withheld" // not for agents here
)

// setText sets the text and what follows from it.
func (in *injection) setText(text string) {
	sum := sha256.Sum256([]byte(text))
	in.text, in.Hash, in.Bytes, in.Tokens = text, hex.EncodeToString(sum[:]), len(text), pack.Tokens(text)
}

// ledgerName is a session's name as the ledger has it: as its kept session has it.
func ledgerName(scan *redact.Scanner, session string) string {
	client, id, _ := strings.Cut(session, "/")
	return reflect.Name(scan, client, id)
}

// ledgerFile is the name of a session's file, by its name in the ledger.
func ledgerFile(name string) string { return strings.Replace(name, "/", "-", 1) + ".jsonl" }

// record writes an injection down. It is one write at the end of the session's own file, so that sessions beside each
// other do not mix; it is not synced, for what a power cut takes costs a repetition.
func (in *injection) record(repo *git.Repo, now time.Time) error {
	in.Time = now.UTC().Truncate(time.Millisecond)
	in.ID = "i" + derived.Sum([]byte(in.Session + "\n" + in.Time.Format(time.RFC3339Nano) + "\n" + in.For + "\n" + in.Hash))[:12]
	dir, err := repo.StateSub(ledgerDir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, ledgerFile(in.Session))
	line, err := json.Marshal(in)
	if err != nil {
		return err
	}
	f, err := file.Open(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|file.NoFollow, 0o600)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	end := make([]byte, 1)
	if at, _ := f.Seek(0, io.SeekEnd); at > 0 {
		if _, err := f.ReadAt(end, at-1); err == nil && end[0] != '\n' {
			line = append([]byte("\n"), line...) // behind a torn line
		}
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// readLedger reads a file of the ledger, the oldest injection first.
func readLedger(path string) []injection {
	data, err := file.Read(path, file.MaxState)
	if err != nil {
		return nil
	}
	var out []injection
	for line := range bytes.Lines(data) {
		var in injection
		if json.Unmarshal(line, &in) == nil && in.ID != "" {
			out = append(out, in)
		}
	}
	return out
}

// injections are those of a session, the oldest first.
func (w *workspace) injections(session string) []injection {
	if session == "" {
		return nil
	}
	return readLedger(filepath.Join(w.State, ledgerDir, ledgerFile(ledgerName(w.Scanner, session))))
}

// allInjections are those of the sessions that were given something last, at most n of them; 0 is all.
func (w *workspace) allInjections(n int) []injection {
	files := file.ByAge(filepath.Join(w.State, ledgerDir), func(name string) bool { return strings.HasSuffix(name, ".jsonl") })
	if n > 0 {
		files = files[:min(n, len(files))]
	}
	var out []injection
	for _, file := range files {
		out = append(out, readLedger(file)...)
	}
	slices.SortStableFunc(out, func(a, b injection) int { return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.ID, b.ID)) })
	return out
}

// insight are the memories that a session still has before it, whole or shortened: what it was given since it was last
// compacted.
func insight(all []injection) map[string]pack.Form {
	out := map[string]pack.Form{}
	for _, in := range all {
		if in.For == forCompacted {
			clear(out)
		}
		if in.For == forCompaction {
			continue // it went into a summary, in whatever words
		}
		for _, g := range in.Items {
			form := pack.Whole
			if g.Short {
				form = pack.Short
			}
			out[g.ID] = max(out[g.ID], form)
		}
	}
	return out
}

// expireLedger removes what is known of sessions that were given nothing since a time.
func (w *workspace) expireLedger(before time.Time) error {
	var bad []error
	for _, file := range file.ByAge(filepath.Join(w.State, ledgerDir), func(string) bool { return true }) {
		if info, err := os.Lstat(file); err == nil && info.ModTime().Before(before) {
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				bad = append(bad, err)
			}
		}
	}
	return errors.Join(bad...)
}
