package gitstore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// Modes of the allowed entries. Others are not read.
const (
	modeFile = "100644"
	modeTree = "40000"
)

// Limits of a store.
const (
	MaxFile  = 256 << 10 // bytes of one file; larger ones are refused when written
	MaxName  = 255       // bytes of one name in a path
	MaxDepth = 32        // names in a path
)

// EntryError describes a tree entry that a store must not have. Readers skip it and report it.
type EntryError struct {
	Path string
	Why  string
}

func (e *EntryError) Error() string { return fmt.Sprintf("%q: %s", e.Path, e.Why) }

// EntryErrors lists all bad entries that a walk or a diff met. Everything else was visited.
type EntryErrors []*EntryError

func (e EntryErrors) Error() string {
	if len(e) == 1 {
		return "passed over " + e[0].Error()
	}
	return fmt.Sprintf("passed over %d entries, the first %s", len(e), e[0])
}

// Unwrap gives each of them to errors.As.
func (e EntryErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i := range e {
		errs[i] = e[i]
	}
	return errs
}

// or returns the entry errors as an error, or nil.
func (e EntryErrors) or() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// entry is one line of a tree.
type entry struct {
	mode, name string
	id         ID
	child      *node // of a folder that was loaded
	bad        string
}

func (e *entry) isTree() bool { return e.mode == modeTree }

// parseTree decodes a tree whose ids have size bytes. go-git's own decoder knows only ids of 20
// bytes and gives up at the first strange mode. Entries that a store must not have are marked, not
// dropped.
func parseTree(data []byte, size int) ([]entry, error) {
	// The estimate is exact for folders of two digits, the most frequent kind.
	n := len(data) / (len("40000 xx\x00") + size)
	entries, hashes := make([]entry, 0, n), make([]byte, 0, 2*size*n)
	text := string(data) // modes and names are substrings
	for len(text) > 0 {
		head, rest, ok := strings.Cut(text, "\x00")
		mode, name, ok2 := strings.Cut(head, " ")
		if !ok || !ok2 || len(rest) < size {
			return nil, errors.New("tree does not parse")
		}
		at := len(data) - len(rest)
		hashes = hex.AppendEncode(hashes, data[at:at+size])
		text = rest[size:]
		e := entry{mode: mode, name: name}
		if e.mode == "040000" { // some writers of git objects pad it
			e.bad = "mode is written with a zero in front"
		} else if e.mode != modeFile && e.mode != modeTree {
			e.bad = "mode " + e.mode + ": only plain files and folders are read"
		} else if why := badName(name); why != "" {
			e.bad = why
		}
		entries = append(entries, e)
	}
	all := string(hashes)
	for i := range entries {
		entries[i].id = ID(all[2*size*i:][:2*size])
	}
	markDuplicates(entries)
	return entries, nil
}

// markDuplicates marks repeated names of a tree, all but the first.
func markDuplicates(entries []entry) {
	if rising(entries) {
		return
	}
	seen := make(map[string]bool, len(entries))
	for i := range entries {
		if seen[entries[i].name] {
			entries[i].bad = "the folder has this name twice"
		}
		seen[entries[i].name] = true
	}
}

// rising reports whether each name is greater than the one before. Nearly every tree is so; then no
// name occurs twice.
func rising(entries []entry) bool {
	for i := 1; i < len(entries); i++ {
		if entries[i].name <= entries[i-1].name {
			return false
		}
	}
	return true
}

// lines are entries in git's order: folders sort as if their names ended in a slash.
func lines(entries []entry) []git.TreeEntry {
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].key() < entries[j].key() })
	all := make([]git.TreeEntry, len(entries))
	for i, e := range entries {
		all[i] = git.TreeEntry{Mode: e.mode, Name: e.name, ID: string(e.id)}
	}
	return all
}

func (e *entry) key() string {
	if e.isTree() {
		return e.name + "/"
	}
	return e.name
}

// badName returns the reason that a store must not have a name, or "". The rules keep a checkout on
// any system from touching a git directory, leaving its folder or changing a terminal.
func badName(name string) string {
	if plain(name) {
		return ""
	}
	switch {
	case name == "":
		return "name is empty"
	case len(name) > MaxName:
		return fmt.Sprintf("name is longer than %d bytes", MaxName)
	case name == "." || name == "..":
		return "name means another folder"
	case strings.ContainsAny(name, `/\`):
		return "name holds a separator"
	case !utf8.ValidString(name):
		return "name is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "name holds a control character"
	case file.GitName(name):
		return "name means a git directory"
	}
	return ""
}

// plain reports whether a name passes badName at a glance, as our own names do. It begins with a
// small ASCII letter or digit, followed only by such characters, "-", "_" and ".".
func plain(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case i > 0 && (c == '-' || c == '_' || c == '.'):
		default:
			return false
		}
	}
	return true
}

// splitPath splits a path of the program at slashes and checks it.
func splitPath(path string) ([]string, error) {
	names := strings.Split(path, "/")
	if len(names) > MaxDepth {
		return nil, &EntryError{path, fmt.Sprintf("deeper than %d names", MaxDepth)}
	}
	for _, name := range names {
		if why := badName(name); why != "" {
			return nil, &EntryError{path, why}
		}
	}
	return names, nil
}
