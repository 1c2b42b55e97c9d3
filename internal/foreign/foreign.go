// Package foreign reads the memories of other tools: true-mem's and opencode-lcm's databases,
// simple-memory's folder, opencode-mem's server, and exports of OpenCode Manager. It also reads
// Markdown: the instructions of agents, and the notes of agents and their plug-ins. It writes
// nothing to these stores and takes no lock.
//
// Begin with Read for a store, or OM for a file. The result is untrusted text: the caller removes
// its secrets and asks a person before keeping it.
package foreign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/pattern"
)

var (
	// ErrNone is returned when there is no store at the place.
	ErrNone = errors.New("there is no such store")
	// ErrFormat is returned for a store whose format differs from its tool's.
	ErrFormat = errors.New("is not as its tool writes it")
)

// Files lists the stores that are Markdown files. Their items have no keys.
var Files = []string{"instructions", "claude-memory", "codex-memory", "gemini-memory", "opencode-dream", "deep-memory", "opencode-memory"}

// Tools lists the tools whose stores are read, first those of Files.
var Tools = []string{"instructions", "claude-memory", "codex-memory", "gemini-memory", "opencode-dream", "deep-memory", "opencode-memory",
	"opencode-mem", "true-mem", "simple-memory", "opencode-lcm"}

// readers returns the reader of a tool's store. It is a function because a map would be built at
// every start of the program.
func readers(tool string) func(context.Context, Query, *Found) error {
	switch tool {
	case "instructions":
		return readInstructions
	case "claude-memory":
		return readClaude
	case "codex-memory":
		return readCodex
	case "gemini-memory":
		return readGemini
	case "opencode-dream":
		return inTree(".opencode-dream/memory", map[string]style{"current.md": bullets})
	case "deep-memory":
		return inTree(".deep-memory", map[string]style{"MEMORY.md": bullets, "notes.md": memory})
	case "opencode-memory":
		return inTree(".opencode", map[string]style{"MEMORY.md": bullets})
	case "opencode-mem":
		return readOpenCodeMem
	case "true-mem":
		return readTrueMem
	case "simple-memory":
		return readSimpleMemory
	case "opencode-lcm":
		return readLCM
	}
	return nil
}

// Query describes the request to a store.
type Query struct {
	Place   string   // file, folder or address of the store; empty: the tool's usual one
	Home    string   // the user's folder
	Dirs    []string // the repository's work trees, absolute; the current one first
	Remotes []string // addresses of the repository's remotes, for a server
	Remote  bool     // an address may be on another machine, which does not get this machine's token
	Token   string   // for an address: its server's token, instead of the one in Home

	Folder func(agent string) string // the folder of an agent's settings
}

// Item is one memory of a tool.
type Item struct {
	Key     string    // the tool's own key, stable and unique in its store; empty without one
	At      string    // file:line of a file in Markdown
	Text    string    // without text marked as private
	Kind    string    // the tool's name for it
	Tags    []string  // sorted as the tool has them
	Paths   []string  // files of the repository
	Created time.Time // zero: not known
	User    bool      // about the person rather than the repository
}

// Found holds the content of a store.
type Found struct {
	Place  string // its path or address
	Store  string // independent of spelling: distinguishes the stores of a tool
	Usual  bool   // whether Place is the tool's usual one
	Items  []Item
	Others int // skipped items of other projects
	Left   int // items that the tool considers outdated, that are no memories, or that have no text
	Bad    int // entries that cannot be read
}

// Read reads the store of one of Tools. The error wraps ErrNone if the store does not exist.
func Read(ctx context.Context, tool string, q Query) (Found, error) {
	read := readers(tool)
	if read == nil {
		return Found{}, fmt.Errorf("%s is not one of %s", tool, strings.Join(Tools, ", "))
	}
	var f Found
	if err := read(ctx, q, &f); err != nil {
		return Found{Place: f.Place}, fmt.Errorf("%s: %w", tool, err)
	}
	if f.Store == "" {
		f.Store = f.Place
		if resolved, err := filepath.EvalSymlinks(f.Place); err == nil {
			f.Store = resolved
		}
	}
	return f, nil
}

// add adds the items that have text.
func (f *Found) add(items ...Item) {
	for _, i := range items {
		if i.Text = clean(i.Text); i.Text == "" || i.Text == private {
			f.Left++
			continue
		}
		for n, tag := range i.Tags {
			i.Tags[n] = strings.Join(strings.Fields(clean(tag)), " ")
		}
		i.Kind = strings.Join(strings.Fields(clean(i.Kind)), " ")
		f.Items = append(f.Items, i)
	}
}

// place returns the location of a store: the requested one, or the usual one.
func (q Query) place(usual string) (place string, isUsual bool) {
	if q.Place == "" || file.Same(q.Place, usual) {
		return usual, true
	}
	return q.Place, false
}

// holds reports whether a folder is one of the repository's work trees or inside one.
func (q Query) holds(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	for _, root := range spellings(q.Dirs...) {
		for _, name := range spellings(dir) {
			if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// private replaces text marked as private.
const private = "[private]"

var privateTag = pattern.New(`(?i)<(/?)private\s*>`)

// clean returns text as valid UTF-8, without zero bytes and without the content of <private>
// elements. An unclosed element extends to the end.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	tags := privateTag.FindAllStringSubmatchIndex(s, -1)
	if len(tags) == 0 {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	depth, at := 0, 0
	for _, t := range tags {
		if depth == 0 {
			b.WriteString(s[at:t[0]])
		}
		at = t[1]
		switch closes := t[2] < t[3]; {
		case !closes:
			depth++
		case depth > 0:
			if depth--; depth == 0 {
				b.WriteString(private)
			}
		}
	}
	if depth > 0 {
		return strings.TrimSpace(b.String() + private)
	}
	return strings.TrimSpace(b.String() + s[at:])
}

// maxStore bounds the bytes read from one store: all of its answers or files, or the texts of its
// database.
const maxStore = 64 << 20

// budget counts the bytes read from a store.
type budget int64

// spend counts n more bytes. The error wraps ErrFormat beyond maxStore.
func (b *budget) spend(n int) error {
	if *b += budget(n); *b > maxStore {
		return fmt.Errorf("has more than %d MiB: %w", maxStore>>20, ErrFormat)
	}
	return nil
}

// moment parses a time as tools write it: RFC 3339, or a date. It returns zero for any other text.
func moment(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return bounded(t)
		}
	}
	return time.Time{}
}

// milliseconds converts milliseconds since 1970 to a time. It returns zero if n is unknown or RFC
// 3339 cannot write the time.
func milliseconds[T int64 | float64](n T) time.Time {
	if !(n > 0 && n < 1e15) { // 1e15 is past the year 9999, and fits int64
		return time.Time{}
	}
	return bounded(time.UnixMilli(int64(n)))
}

// bounded returns a time in UTC to the second, or zero outside of the years 1 to 9999, which RFC
// 3339 cannot write.
func bounded(t time.Time) time.Time {
	if t = t.UTC().Truncate(time.Second); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// list splits a text at commas.
func list(text string) []string {
	var out []string
	for tag := range strings.SplitSeq(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			out = append(out, tag)
		}
	}
	return out
}
