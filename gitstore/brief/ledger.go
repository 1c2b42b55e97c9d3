package brief

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/pack"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
)

// Ledger records the memories given to sessions: one file per session in the state folder, one line
// per injection. A session gets no memory twice between two compactions, so its file stays short;
// it expires with the session. It holds ids and our own words, but no text of a memory. A torn line
// is ignored, so its memories may be given again.
type Ledger struct {
	Repo    *git.Repo
	Scanner *redact.Scanner
}

// LedgerDir is the ledger's folder in the state folder.
const LedgerDir = "ledger"

// Injection describes an actual or possible output to an agent.
type Injection struct {
	ID      string         `json:"id,omitempty"` // i and 12 hex digits
	Time    time.Time      `json:"time,omitzero"`
	Session string         `json:"session,omitempty"` // "<client>/<id>"
	For     string         `json:"for"`
	Commit  string         `json:"commit"`         // of the memory
	Items   []Given        `json:"items"`          // in the order of the text
	Cut     map[string]int `json:"cut"`            // why → how many were left out
	Next    []string       `json:"next"`           // ids of the first that did not fit
	Hash    string         `json:"hash"`           // SHA-256 of the text, hex
	Base    string         `json:"base,omitempty"` // likewise, without a checkpoint at its end
	Bytes   int            `json:"bytes"`
	Tokens  int            `json:"tokens"`
	// For a call of a tool: the agent's id of it, and the ruling of a guard, if any.
	Call   string `json:"call,omitempty"`
	Ruling string `json:"ruling,omitempty"`
	Key    string `json:"key,omitempty"` // of a call that a guard may hold: a hash
	// Least is the smallest budget, in tokens, that would hold something. It is 0 unless nothing fits.
	Least int `json:"least,omitempty"`
	// Held tells a person what is withheld from agents for its authors. It quotes no author.
	Held string `json:"held,omitempty"`

	Text string `json:"-"`
	// Behind wraps recall.ErrBehind: the index is outdated, so the prompt was not looked up.
	Behind error `json:"-"`
}

// Given is a memory in an injection.
type Given struct {
	ID    string   `json:"id"`
	Why   []string `json:"why"`             // reasons for its choice and rank
	Short bool     `json:"short,omitempty"` // only its first sentence is in
}

// Reasons for which memories are left out.
const (
	CutBudget   = "budget"   // they did not fit
	CutShown    = "shown"    // the block in AGENTS.md, which the agent reads, has them
	CutStated   = "written"  // the repository's documents say it, or a file that the agent reads
	CutGiven    = "given"    // the session was given them before
	CutAlike    = "alike"    // another one that is given says the same
	CutWithheld = "withheld" // not for agents here
)

// base identifies the memories of a block: the hash of its text without a tail.
func (in Injection) base() string { return cmp.Or(in.Base, in.Hash) }

// SetText sets the text and the fields that follow from it.
func (in *Injection) SetText(text string) {
	in.Text, in.Hash, in.Bytes, in.Tokens = text, textHash(text), len(text), pack.Tokens(text)
}

func textHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Remark returns the reason that nothing is given, or "".
func (in Injection) Remark() string {
	switch n := in.Cut[CutBudget]; {
	case in.Text != "":
		return ""
	case n > 0 && in.Least > 0:
		return fmt.Sprintf("nothing fits: %d left out for the budget; from %d tokens on the first has room", n, in.Least)
	case n > 0:
		return fmt.Sprintf("nothing fits: %d left out for the budget", n)
	}
	return "there is nothing to give"
}

// Notice returns a line for the person at the start of a session, or "".
func (in Injection) Notice(pending int) string {
	var parts []string
	if n := len(in.Items); in.Text != "" && n > 0 {
		parts = append(parts, plural.Count(n, "memory", "memories")+" given")
	}
	if pending > 0 {
		parts = append(parts, plural.Count(pending, "operation waits", "operations wait")+": reverie review")
	}
	if in.Held != "" {
		parts = append(parts, in.Held+": reverie trust")
	}
	if len(parts) == 0 {
		return ""
	}
	return "reverie: " + strings.Join(parts, ", ")
}

// Name returns the name of a session in the ledger, the same as that of its kept session.
func (l Ledger) Name(session string) string {
	client, id, _ := strings.Cut(session, "/")
	return reflect.Name(l.Scanner, client, id)
}

// dir returns the ledger's folder, which may not exist.
func (l Ledger) dir() string { return filepath.Join(clone.StateOf(l.Repo), LedgerDir) }

// fileOf names the file of a session, by its name in the ledger.
func fileOf(name string) string { return strings.Replace(name, "/", "-", 1) + ".jsonl" }

// lock keeps other processes from judging calls of a session. It waits for its holder.
func (l Ledger) lock(ctx context.Context, session string) (unlock func(), err error) {
	if _, err := l.Repo.State().Sub(LedgerDir); err != nil {
		return nil, err
	}
	return file.LockPath(ctx, filepath.Join(l.dir(), fileOf(l.Name(session))+".lock"))
}

// record adds an injection if the request wants that and it has items. It is one write at the end
// of the session's file, so that sessions do not mix. It is not synced: a power cut costs a
// repetition.
func (l Ledger) record(in *Injection, r Request, now time.Time) error {
	if !r.Record || r.Session == "" || in.Text == "" {
		return nil
	}
	in.Session = l.Name(r.Session)
	return l.Add(in, now)
}

// Add stores an injection and sets its time and id.
func (l Ledger) Add(in *Injection, now time.Time) error {
	in.Time = now.UTC().Truncate(time.Millisecond)
	in.ID = "i" + derived.Sum([]byte(in.Session + "\n" + in.Time.Format(time.RFC3339Nano) + "\n" + in.For + "\n" + in.Hash))[:12]
	dir, err := l.Repo.State().Sub(LedgerDir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, fileOf(in.Session))
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

// read reads a file of the ledger, the oldest injection first. A missing one has none.
func read(path string) (out []Injection, err error) {
	data, err := file.Read(path, file.MaxState)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		var in Injection
		if json.Unmarshal(line, &in) == nil && in.ID != "" {
			out = append(out, in)
		}
	}
	return out, nil
}

// Session returns the injections of a session, the oldest first. An unreadable ledger has none.
func (l Ledger) Session(session string) []Injection {
	all, _ := l.session(session)
	return all
}

func (l Ledger) session(session string) ([]Injection, error) {
	if session == "" {
		return nil, nil
	}
	return read(filepath.Join(l.dir(), fileOf(l.Name(session))))
}

// All returns the injections of the n sessions that were given something last, the oldest first; 0
// is all.
func (l Ledger) All(n int) []Injection {
	files := file.ByAge(l.dir(), func(name string) bool { return strings.HasSuffix(name, ".jsonl") })
	if n > 0 {
		files = files[:min(n, len(files))]
	}
	var out []Injection
	for _, file := range files {
		all, _ := read(file) // another process may have removed it
		out = append(out, all...)
	}
	slices.SortStableFunc(out, func(a, b Injection) int { return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.ID, b.ID)) })
	return out
}

// lastStart returns the injection of a session's last start or resumption, unless a compaction
// followed.
func (l Ledger) lastStart(session string) (last Injection) {
	for _, in := range l.Session(session) {
		switch in.For {
		case Start:
			last = in
		case Compacted:
			last = Injection{}
		}
	}
	return last
}

// inSight returns the memories that a session still sees, whole or shortened: those given since its
// last compaction.
func inSight(all []Injection) map[string]pack.Form {
	out := map[string]pack.Form{}
	for _, in := range all {
		if in.For == Compacted {
			clear(out)
		}
		if in.For == Compaction {
			continue // it went into a summary, in other words
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

// Expire removes the files of sessions that were given nothing since a time.
func (l Ledger) Expire(before time.Time) error {
	_, err := file.Expire(l.dir(), before, func(string) bool { return true }, "")
	return err
}
