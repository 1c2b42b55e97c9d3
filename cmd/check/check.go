// Package check judges a change of the memory before it is merged, and finds damage in a memory.
// The rules for a change cover the form of files, duplicates and contradictions, losses, secrets,
// text that gives orders to agents, and files that do not belong in a memory. They only read
// objects, and need no work tree. Begin with ReadSpan and Span.Diff, or with Damage. Run judges a
// change of any store; Rules describes each rule, and sorts findings.
package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/setup/ci"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Change is the difference between two states of a memory.
type Change struct {
	Store    *gitstore.Store
	From, To gitstore.ID // From is empty for nothing at all
	Beside   gitstore.ID // the newest state of the base, where From is an older one; else empty

	Scanner *redact.Scanner
	Now     time.Time // when memories are in force or not
	Version string    // of this program: a CI file must not install an older one

	Brief func(text string) string             // a text of a memory as a message has it, in one line
	Stale func(m record.Memory) (why []string) // what of the code that a memory rests on is gone
}

// A NoMemoryError is returned for a state that is not a memory, such as the code: all memories
// would look deleted.
type NoMemoryError struct {
	Base bool // it is From, and else To
}

func (e *NoMemoryError) Error() string {
	return "no state of the memory: there is no reverie.toml in it"
}

// A HistoryError is returned when the commits of a change cannot be read, or are not all there.
type HistoryError struct{ Err error }

func (e *HistoryError) Error() string { return e.Err.Error() }
func (e *HistoryError) Unwrap() error { return e.Err }

// Run returns everything that the rules find in a change, in no order. No secret is in it; what a
// message repeats may have characters that a reader does not see.
func Run(ctx context.Context, change Change) ([]finding.Finding, error) {
	c := &checker{Change: change, ctx: ctx, looked: map[gitstore.ID]bool{}, claims: map[string]bool{}}
	view := func(id gitstore.ID, fn func(*gitstore.Tree) error) error {
		if id == "" {
			return fn(nil)
		}
		return c.Store.ViewAt(ctx, string(id), fn)
	}
	err := view(c.To, func(head *gitstore.Tree) error {
		return view(c.From, func(base *gitstore.Tree) error {
			return view(c.Beside, func(beside *gitstore.Tree) error {
				c.head, c.base, c.beside = head, base, beside
				for _, tree := range []*gitstore.Tree{base, head} {
					if tree != nil && !c.isMemory(tree) {
						return &NoMemoryError{Base: tree == base}
					}
				}
				if err := c.run(); err != nil {
					return err
				}
				return c.checkHistory()
			})
		})
	})
	return c.found, err
}

// checker is one run of the rules.
type checker struct {
	Change
	ctx    context.Context
	head   *gitstore.Tree
	base   *gitstore.Tree // nil for nothing
	beside *gitstore.Tree // what the base became meanwhile; mostly nil
	found  []finding.Finding

	changes []changedFile
	cut     bool                 // some of them were not read: they are too much
	looked  map[gitstore.ID]bool // contents that the rules for text saw
	claims  map[string]bool      // paths of memories that say something new
	known   []knownMemory        // readable memories at head, and those merged beside it
}

// changedFile is a file that differs, with both contents; nil for a missing one.
type changedFile struct {
	path     string
	old, new []byte
	id       string // of the memory
}

// add notes a finding. at is its level, line from 1 or 0, id that of a memory or empty.
func (c *checker) add(rule string, at finding.Level, path string, line int, id, format string, args ...any) {
	text, _ := c.Scanner.Text(fmt.Sprintf(format, args...))
	where, _ := c.Scanner.Text(path)
	c.found = append(c.found, finding.Finding{Rule: rule, Level: at, Path: where.String(), Line: line, ID: id, Message: text.String()})
}

func (c *checker) run() error {
	if err := c.readChanges(); err != nil {
		return err
	}
	if err := c.readMemories(); err != nil {
		return err
	}
	for _, f := range c.changes {
		c.checkFile(f)
		if f.new != nil {
			c.checkText(f)
		}
	}
	return c.checkMemories()
}

// readChanges reads the files that differ. Entries that a memory must not have are findings, unless
// the base has them too.
func (c *checker) readChanges() error {
	var before gitstore.ID
	had := map[string]bool{}
	if c.base != nil {
		before = c.base.ID()
		err := c.base.Walk("", func(string, gitstore.ID) error { return nil })
		for _, e := range entryErrors(err) {
			had[e.Error()] = true
		}
		if err != nil && entryErrors(err) == nil {
			return err
		}
	}
	var all []gitstore.Change
	err := c.head.Diff(before, func(ch gitstore.Change) error {
		all = append(all, ch)
		return nil
	})
	bad := map[string]bool{}
	for _, e := range entryErrors(err) {
		bad[e.Path] = true
		if !had[e.Error()] {
			c.add("entry", finding.Error, e.Path, 0, "", "%s", e.Why)
		}
	}
	if err != nil && len(bad) == 0 {
		return err
	}
	if len(all) > maxChanged {
		for _, ch := range all {
			c.changes = append(c.changes, changedFile{path: ch.Path}) // a rule says that these are too many
		}
		return nil
	}
	held := 0
	for _, ch := range all {
		if ch.New == "" && bad[ch.Path] {
			continue // it is there, as something that must not be
		}
		f := changedFile{path: ch.Path, id: memoryID(ch.Path)}
		if c.cut = held > 2*maxNew; c.cut { // old and new
			c.changes = append(c.changes, f)
			return nil
		}
		if ok, err := f.read(c, ch); err != nil {
			return err
		} else if ok {
			held += len(f.old) + len(f.new)
			c.changes = append(c.changes, f)
		}
	}
	return nil
}

// read reads both versions of a file. It returns false if the new one is too large, which is a
// finding.
func (f *changedFile) read(c *checker, ch gitstore.Change) (ok bool, err error) {
	if ch.Old != "" {
		if f.old, err = c.base.Read(ch.Path); errors.Is(err, gitstore.ErrTooLarge) {
			f.old = []byte{}
		} else if err != nil {
			return false, err
		}
	}
	if ch.New != "" {
		f.new, err = c.head.Read(ch.Path)
		if errors.Is(err, gitstore.ErrTooLarge) || len(f.new) > gitstore.MaxFile {
			c.add("format", finding.Error, ch.Path, 0, f.id, "the file is too large: %d bytes are allowed", gitstore.MaxFile)
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if f.new == nil {
			f.new = []byte{}
		}
		c.looked[ch.New] = true
	}
	return true, nil
}

func entryErrors(err error) gitstore.EntryErrors {
	var bad gitstore.EntryErrors
	errors.As(err, &bad)
	return bad
}

// memoryID is the id in a memory's path, or "".
func memoryID(path string) string {
	if id, ok := record.MemoryID(path); ok {
		return id
	}
	return ""
}

// checkCIFile looks whether a file that decides what runs for a pull request is one that is known
// here. Even then a person should see which branch it guards and what it installs.
func (c *checker) checkCIFile(f changedFile) {
	now, ok := ci.Written(f.path, f.new)
	was, had := ci.Written(f.path, f.old)
	at, why := finding.Error, ""
	switch {
	case f.new == nil:
		why = "the file is taken away that decides what runs for a pull request"
	case !ok || had && was.Branch != now.Branch:
		why = "this file decides what runs for a pull request, and it is not what 'reverie init --ci' writes"
	case now.Pages && !was.Pages:
		why = "the memories would be published as web pages, for all who can read a site of this repository"
	case had && was.Version != "latest" && now.Version == "latest":
		why = fmt.Sprintf("pull requests were checked by version %s, and would be by whichever is the latest", was.Version)
	case had && ci.Older(now.Version, was.Version):
		why = fmt.Sprintf("pull requests were checked by version %s, and would be by %s, which is older", was.Version, now.Version)
	case ci.Older(now.Version, c.Version):
		why = fmt.Sprintf("pull requests would be checked by version %s, which is older than this one, %s", now.Version, c.Version)
	case had && was.Version == "latest" && now.Version != "latest":
		at, why = finding.Warning, fmt.Sprintf("pull requests were checked by the latest version, and would be by %s: look whether that goes back", now.Version)
	default:
		at, why = finding.Note, fmt.Sprintf("'reverie init --ci' writes this file: pull requests against %s are checked by version %s", now.Branch, now.Version)
	}
	c.add("ci-file", at, f.path, 0, "", "%s", why)
}
