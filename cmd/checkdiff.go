package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// check --diff looks at what one state of the memory changed against another, for a pull request: it
// reads commits only, so that it works in a checkout of the branch, of a merge on it, and in a clone of the
// code alike.

type checkDiffOptions struct {
	span   string // BASE..HEAD, BASE...HEAD or BASE
	sarif  bool
	github bool
	strict bool // warnings count
}

func runCheckDiff(ctx context.Context, env *Env, o checkDiffOptions) error {
	if env.JSON && o.sarif || env.JSON && o.github || o.sarif && o.github {
		return usage("", "--json, --sarif and --github are different answers: take one")
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	span, err := w.span(ctx, o.span)
	if err != nil {
		return err
	}
	w.tellApart(ctx, span)
	found, err := w.checkDiff(ctx, span)
	if err != nil {
		return err
	}
	if err := env.tellFindings(found, o); err != nil {
		return err
	}
	n := map[finding.Level]int{}
	for _, f := range found {
		n[f.Level]++
	}
	if len(found) == 0 {
		env.say("nothing found in %s", o.span)
		return nil
	}
	summary := fmt.Sprintf("%s, %s and %s in %s", count(n[finding.Error], "error", "errors"), count(n[finding.Warning], "warning", "warnings"), count(n[finding.Note], "note", "notes"), o.span)
	if n[finding.Error] > 0 || o.strict && n[finding.Warning] > 0 {
		env.warn("%s", summary)
		return negative
	}
	env.say("%s", summary)
	return nil
}

// span is the two states between which a check looks, and the commits that lead from one to the other.
type span struct {
	from, to gitstore.ID // from is empty for nothing at all
	beside   gitstore.ID // the newest state of the base, where from is an older one; else empty
	a, b     string      // as they were named
	three    bool        // A...B
}

// span reads what git's diff reads: A..B compares two states, A...B what B changed since it left A, and A
// alone is A..TIP. A side that is missing is the tip too.
func (w *workspace) span(ctx context.Context, text string) (span, error) {
	a, b, three := strings.Cut(text, "...")
	if !three {
		a, b, _ = strings.Cut(text, "..")
	}
	if a == "" && b == "" {
		return span{}, usage(w.spanHint(ctx), "--diff wants two states of the memory")
	}
	s := span{a: a, b: b, three: three}
	for _, side := range []*string{&s.a, &s.b} {
		if *side == "" {
			*side = w.branch()
		}
	}
	var err error
	if s.to, err = w.stateAt(ctx, b); err != nil {
		return s, err
	}
	if s.from, err = w.stateAt(ctx, a); err != nil || !three || s.from == "" {
		return s, err
	}
	out, err := w.repo.Git(ctx, nil, "merge-base", string(s.from), string(s.to))
	if err != nil {
		return s, w.cutOff(ctx, fmt.Errorf("%s and %s have no commit in common", oneLine(a, 60), oneLine(b, 60)))
	}
	base := gitstore.ID(strings.TrimSpace(string(out)))
	if base != s.from {
		s.beside = s.from
	}
	s.from = base
	return s, nil
}

// stateAt finds a commit. HEAD is that of this worktree; zeros, which a forge gives for a branch that was
// not there, are nothing.
func (w *workspace) stateAt(ctx context.Context, rev string) (gitstore.ID, error) {
	if len(rev) >= 40 && strings.Trim(rev, "0") == "" {
		return "", nil
	}
	if rev == "" {
		id, err := w.memory.Tip(ctx)
		if !missing(err) {
			return id, err
		}
		rev = "HEAD"
	}
	if rest, ok := strings.CutPrefix(rev, "HEAD"); ok && (rest == "" || rest[0] == '~' || rest[0] == '^') {
		id, _, err := w.repo.Head(ctx)
		if err != nil {
			return "", err
		}
		rev = id + rest
	}
	id, err := w.memory.Resolve(ctx, rev)
	if seen := w.seenAs(rev); errors.Is(err, gitstore.ErrRevision) && seen != "" {
		if at, serr := w.memory.Resolve(ctx, seen); serr == nil {
			id, err = at, nil
		}
	}
	if err == nil {
		_, err = w.repo.Git(ctx, nil, "cat-file", "-e", string(id)+"^{tree}")
		if e := (*git.Error)(nil); errors.As(err, &e) {
			err = fmt.Errorf("revision %q: %w", rev, gitstore.ErrRevision)
		}
	}
	if errors.Is(err, gitstore.ErrRevision) {
		return "", w.cutOff(ctx, err)
	}
	return id, err
}

// cutOff says of an error about history that a shallow clone is to blame, where it is.
func (w *workspace) cutOff(ctx context.Context, err error) error {
	if w.repo.Shallow {
		return &failure{exitFailed, fmt.Errorf("%w, and the history is cut off here (a shallow clone)", err),
			"fetch all of it: 'fetch-depth: 0' for actions/checkout, GIT_DEPTH: \"0\" for GitLab, or git fetch --unshallow"}
	}
	return &failure{exitFailed, err, "fetch the branch that it is on; what can be looked at here: " + w.spanHint(ctx)}
}

// checkDiff returns everything that the rules find in a span.
func (w *workspace) checkDiff(ctx context.Context, s span) ([]finding.Finding, error) {
	c := &diffCheck{ctx: ctx, w: w, scanner: redact.New(w.allSecrets(ctx)...), looked: map[gitstore.ID]bool{}, claims: map[string]bool{}}
	view := func(id gitstore.ID, fn func(*gitstore.Tree) error) error {
		if id == "" {
			return fn(nil)
		}
		return w.memory.ViewAt(ctx, string(id), fn)
	}
	err := view(s.to, func(head *gitstore.Tree) error {
		if head == nil {
			return usage("", "the state to check is none")
		}
		return view(s.from, func(base *gitstore.Tree) error {
			return view(s.beside, func(beside *gitstore.Tree) error {
				c.head, c.base, c.beside = head, base, beside
				if err := c.needMemories(s); err != nil {
					return err
				}
				if err := c.run(); err != nil {
					return err
				}
				return c.checkHistory(s)
			})
		})
	})
	return rules.Sort(c.found), err
}

// diffCheck is one run of the rules.
type diffCheck struct {
	ctx     context.Context
	w       *workspace
	scanner *redact.Scanner
	head    *gitstore.Tree
	base    *gitstore.Tree // nil for nothing
	beside  *gitstore.Tree // what the base became meanwhile; mostly nil
	found   []finding.Finding

	changes []changedFile
	looked  map[gitstore.ID]bool // contents that the rules for text saw
	claims  map[string]bool      // paths of memories that say something new
	known   []knownMemory        // every memory that can be read at head, and those that came beside it
}

// changedFile is a file that differs, with both contents; nil where there is none.
type changedFile struct {
	path     string
	old, new []byte
	id       string // of the memory
}

func (c *diffCheck) add(rule string, at finding.Level, path string, line int, id, format string, args ...any) {
	text, _ := c.scanner.Text(fmt.Sprintf(format, args...))
	where, _ := c.scanner.Text(path)
	c.found = append(c.found, finding.Finding{Rule: rule, Level: at, Path: where.String(), Line: line, ID: id, Message: visible(text.String())})
}

func (c *diffCheck) run() error {
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

// readChanges reads the files that differ. Entries that a memory must not have are findings, unless the
// base has them too.
func (c *diffCheck) readChanges() error {
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
	for _, ch := range all {
		if ch.New == "" && bad[ch.Path] {
			continue // it is there, as something that must not be
		}
		f := changedFile{path: ch.Path, id: memoryID(ch.Path)}
		if ch.Old != "" {
			if f.old, err = c.base.Read(ch.Path); errors.Is(err, gitstore.ErrTooLarge) {
				f.old, err = []byte{}, nil
			} else if err != nil {
				return err
			}
		}
		if ch.New != "" {
			f.new, err = c.head.Read(ch.Path)
			if errors.Is(err, gitstore.ErrTooLarge) || len(f.new) > gitstore.MaxFile {
				c.add("format", finding.Error, ch.Path, 0, f.id, "the file is too large: %d bytes are allowed", gitstore.MaxFile)
				continue
			}
			if err != nil {
				return err
			}
			if f.new == nil {
				f.new = []byte{}
			}
			c.looked[ch.New] = true
		}
		c.changes = append(c.changes, f)
	}
	return nil
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
