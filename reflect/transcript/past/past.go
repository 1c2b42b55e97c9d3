// Package past finds the sessions of one repository that coding agents kept on this machine, each
// in its own store: Claude Code, Codex, Gemini CLI, Copilot CLI and Qwen Code in files, OpenCode in
// a database, Aider in a file of the work tree. It only reads: a store is never written, locked or
// added to.
//
// Find lists sessions by reading the beginning of each file; Session.Open gives one whole, as
// transcript.Decode reads it.
package past

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Homes holds the folders of an agent: the home of its sessions, or for Aider work trees, each of
// which may have a history. An agent without folders is not looked at.
type Homes map[transcript.Format][]string

// Session is a session in an agent's store, known by its beginning.
type Session struct {
	Client  string    // opencode, claude, codex, gemini, copilot, qwen, aider
	ID      string    // as the agent writes it; "history" for Aider, whose file holds several sessions
	Parent  string    // where the store tells it
	Dir     string    // where the session began, as it recorded it
	Started time.Time // as far as known
	Changed time.Time // when the store last wrote to it
	Size    int64     // in bytes; 0 for OpenCode, which does not tell it
	File    string    // that holds it, or the database it is in
}

// Key names a session among all stores of the machine.
func (s Session) Key() string {
	if s.Client == string(transcript.OpenCode) {
		return s.Client + ":" + s.File + "#" + s.ID
	}
	return s.Client + ":" + s.File
}

// Open gives the bytes of the session's transcript. For OpenCode they are made from its database as
// they are read, in the form of its export.
func (s Session) Open(ctx context.Context) (io.ReadCloser, error) {
	if s.Client == string(transcript.OpenCode) {
		return exportOf(ctx, s.File, s.ID)
	}
	return os.Open(s.File)
}

// Store is a place where an agent keeps sessions.
type Store struct {
	Client string
	Path   string // the folder, or the database
}

// Stores lists every place that Find looks at, there or not.
func (h Homes) Stores() []Store {
	var out []Store
	for _, a := range agents {
		for _, path := range a.places(h) {
			out = append(out, Store{string(a.client), path})
		}
	}
	return out
}

// agent describes how to read one agent's store.
type agent struct {
	client transcript.Format
	names  []string                      // the places in a folder of Homes; one with a * is a pattern
	find   func(f *finder, place string) // takes the sessions of one of the places
}

var agents = []agent{
	{transcript.OpenCode, []string{"opencode.db", "opencode-*.db"}, (*finder).openCode},
	{transcript.Claude, []string{"projects"}, (*finder).claude},
	{transcript.Codex, []string{"sessions", "archived_sessions"}, (*finder).codex},
	{transcript.Gemini, []string{"tmp"}, (*finder).gemini},
	{transcript.Copilot, []string{"session-state"}, (*finder).copilot},
	{transcript.Qwen, []string{"projects"}, (*finder).qwen},
	{transcript.Aider, []string{".aider.chat.history.md"}, (*finder).aider},
}

func (a agent) places(h Homes) (places []string) {
	for _, home := range h[a.client] {
		for _, name := range a.names {
			if !strings.Contains(name, "*") {
				places = append(places, filepath.Join(home, name))
				continue
			}
			found, _ := filepath.Glob(filepath.Join(file.Literal(home), name))
			places = append(places, found...)
		}
	}
	return places
}

// Agents are the names of the agents whose stores are known.
func Agents() []string {
	var names []string
	for _, a := range agents {
		names = append(names, string(a.client))
	}
	return names
}

// Query says what Find looks for.
type Query struct {
	Dirs   []string  // work trees of the repository, those that are gone too, absolute
	Since  time.Time // when a session was last written; zero for all
	Agents []string  // nil for all
	Until  time.Time // when to stop looking; zero: never
}

// ErrUntil is returned when Find stopped at Query.Until, before it had seen every store.
var ErrUntil = errors.New("not all of the agents' stores were searched in time")

// Find lists the sessions that began in one of the directories, or below one and in no other
// repository, oldest first. It skips unreadable sessions and returns their errors, with ErrUntil
// first.
func Find(ctx context.Context, h Homes, q Query) ([]Session, []error) {
	f := &finder{ctx: ctx, since: q.Since, until: q.Until, trees: newTrees(q.Dirs)}
	for _, a := range agents {
		if q.Agents == nil || slices.Contains(q.Agents, string(a.client)) {
			for _, place := range a.places(h) {
				a.find(f, place)
			}
		}
	}
	slices.SortStableFunc(f.found, func(a, b Session) int {
		return cmp.Or(a.when().Compare(b.when()), cmp.Compare(a.Key(), b.Key()))
	})
	if err := ctx.Err(); err != nil {
		return nil, []error{err}
	}
	if f.late {
		f.failed = slices.Insert(f.failed, 0, ErrUntil)
	}
	return f.found, f.failed
}

// when is a session's place in time.
func (s Session) when() time.Time {
	if s.Started.IsZero() {
		return s.Changed
	}
	return s.Started
}

// finder is the state of one Find.
type finder struct {
	ctx    context.Context
	since  time.Time
	until  time.Time
	late   bool // until has passed
	trees  *trees
	found  []Session
	failed []error
}

func (f *finder) fail(err error) { f.failed = append(f.failed, err) }

// over reports whether to stop looking.
func (f *finder) over() bool {
	f.late = f.late || !f.until.IsZero() && time.Now().After(f.until)
	return f.late || f.ctx.Err() != nil
}

// list is the content of a folder; nothing if it is not there.
func (f *finder) list(dir string) []os.DirEntry {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !isFile(dir) {
		f.fail(err)
	}
	return entries
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// folders are the folders in a folder, also by links.
func (f *finder) folders(dir string) []string {
	var out []string
	for _, e := range f.list(dir) {
		if f.over() {
			break
		}
		path := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				continue
			}
		} else if !e.IsDir() {
			continue
		}
		out = append(out, path)
	}
	return out
}

// each offers every file of a folder that has one of some endings to look, which completes what is
// known of the session, and says whether it is one of the repository's.
func (f *finder) each(client transcript.Format, dir string, endings []string, look func(path string, s *Session) (bool, error)) {
	for _, e := range f.list(dir) {
		if f.over() {
			return
		}
		if !slices.Contains(endings, filepath.Ext(e.Name())) {
			continue
		}
		f.file(client, filepath.Join(dir, e.Name()), look)
	}
}

// file offers a file to look, as each does.
func (f *finder) file(client transcript.Format, path string, look func(path string, s *Session) (bool, error)) {
	info, err := os.Stat(path) // follows a link
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		f.fail(err)
		return
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || info.ModTime().Before(f.since) {
		return
	}
	s := Session{Client: string(client), File: path, Size: info.Size(), Changed: info.ModTime()}
	ours, err := look(path, &s)
	if err != nil {
		f.fail(err)
	} else if ours {
		f.found = append(f.found, s)
	}
}
