// Package remember keeps statements that people type, and retires memories when people say so.
// Begin with Keeper.Remember and Forget. The same request from an agent becomes an operation in the
// inbox. A Keeper serves one goroutine.
package remember

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Keeper writes to the memory of a clone.
type Keeper struct {
	*reader.Reader
	Create func(context.Context) error // makes the memory if it is missing
}

// Statement is a text to remember, with what is known about it.
type Statement struct {
	Kind        string // empty: a note, or the kind of the replaced memory
	Text        string // the first line is the statement, the rest why and how
	Paths, Tags []string
	Globs       []string // more paths, as named from the caller's folder
	Folders     []string // where it holds, as named from there too
	Topic       string
	Private     bool
	Expires     time.Time
	Replace     string // id of the memory that it replaces

	Guards    []string // calls of tools at which it acts; nil: those that its form gives
	Unguarded bool     // it acts at no call, whatever its form
	Strength  string   // of its guards; empty: record.Hold if Guards names them, else record.Say

	Branch     string // it holds on this branch alone
	Everywhere bool   // it holds on every branch, regardless of HEAD
}

// oneID matches a statement that is the id of a memory.
var oneID = pattern.New(`^[0-9a-f]{8,16}$`)

// ForAll returns the statement for the person's own memory: as it was given, or that of the memory
// of a clone whose id was given.
func ForAll(ctx context.Context, from clone.Options, s Statement) (Statement, error) {
	switch {
	case s.Private:
		return s, exit.Usage("leave one of them out", "--private keeps it in one clone, and --user for all of them")
	case !oneID.MatchString(s.Text):
		return s, nil
	}
	c, err := clone.Open(ctx, from)
	if err != nil {
		return s, err
	}
	var m record.Memory
	err = c.View(ctx, func(v *record.View, _ clone.Team) error {
		m, err = v.Find(s.Text)
		return err
	})
	t := m.Trigger()
	return Statement{Kind: string(m.Kind), Text: strings.TrimSpace(m.Text + "\n\n" + m.Body), Paths: m.Paths, Tags: m.Tags, Topic: m.Topic, Expires: m.Expires,
		Guards: t.Guards, Unguarded: len(t.Guards) == 0, Strength: string(t.Strength)}, err
}

// kept reports whether a known memory has all that the statement gives beside its text. asked is
// the memory that the statement would have made.
func (s Statement) kept(m, asked record.Memory) bool {
	t := m.Trigger()
	return (s.Kind == "" || s.Kind == string(m.Kind)) && (len(s.Paths)+len(s.Globs)+len(s.Folders) == 0 || slices.Equal(asked.Paths, m.Paths)) &&
		!slices.ContainsFunc(s.Tags, func(tag string) bool { return !slices.Contains(m.Tags, tag) }) &&
		(s.Topic == "" || s.Topic == m.Topic) && (s.Guards == nil || slices.Equal(s.Guards, t.Guards)) &&
		(s.Strength == "" || s.Strength == string(t.Strength)) && (!s.Unguarded || len(t.Guards) == 0)
}

// Result is the result of remembering a statement.
type Result struct {
	Memory     record.Memory // as stored or known; for a suggestion, as proposed
	Redacted   int           // secrets that were removed from it
	Known      bool          // Memory, known before, says the same
	Reworded   bool          // Known: in other words
	Unlike     bool          // Known: it lacks a kind, place, tag or guard that was given
	Whose      []string      // Known: authors for whom agents do not get it
	Neighbours []Neighbour   // memories beside it

	Replaced *record.Memory // retired for Memory, as it was

	Suggested *record.Operation // waits for a person, instead of a memory
}

// Redaction returns a message about removed secrets, or "".
func (r Result) Redaction() string {
	if r.Redacted == 0 || r.Known {
		return ""
	}
	return Redaction(r.Redacted, r.Memory.ID)
}

// Redaction returns a message about the secrets removed from a memory.
func Redaction(n int, id string) string {
	return fmt.Sprintf("%s redacted from what you wrote; 'reverie show %s' shows what was kept", plural.Count(n, "secret was", "secrets were"), id[:8])
}

// grepTime bounds the search of the code for names in a statement, while a person waits.
const grepTime = 500 * time.Millisecond

// Remember keeps a statement, unless it is known. For an agent that may not decide, it puts the
// statement into the inbox, unless it already waits there.
func (k *Keeper) Remember(ctx context.Context, s Statement) (r Result, err error) {
	m, err := k.draft(ctx, s, &r)
	defer k.Code.Done()
	if err != nil {
		return r, err
	}
	if err := k.Create(ctx); err != nil {
		return r, err
	}
	if agent := k.Agent(); agent != "" && !k.AgentsDecide() {
		if s.Replace != "" {
			return r, k.WantPerson("remember --replace")
		}
		m.Source.By = agent
		r.Memory = m
		r.Suggested, err = k.suggest(ctx, m)
		return r, err
	}
	redacted := r.Redacted
	err = k.Update(ctx, func(tx *record.Tx, t clone.Team) (err error) {
		r, err = k.put(ctx, tx, t, m, s)
		return err
	})
	r.Redacted = redacted
	return r, err
}

// draft makes a memory of a statement: redacted, anchored in the code, and limited to a side
// branch.
func (k *Keeper) draft(ctx context.Context, s Statement, r *Result) (m record.Memory, err error) {
	kind := record.Note
	if s.Kind != "" {
		if kind, err = ParseKind(s.Kind); err != nil {
			return m, err
		}
	}
	statement, body := record.SplitText(s.Text)
	switch {
	case statement == "":
		return m, exit.Usage(`reverie remember "use pnpm, never npm, in web/"`, "there is no statement")
	case !utf8.ValidString(s.Text):
		return m, exit.Usage("convert it first, as with iconv -f latin1 -t utf-8", "the statement is not UTF-8")
	case len(statement) > record.MaxText:
		return m, exit.Usage("put the rest after an empty line, or into a body: reverie remember - <FILE", "the statement is %d bytes long and may have %d", len(statement), record.MaxText)
	case s.Branch != "" && s.Everywhere:
		return m, exit.Usage("", "--branch and --everywhere say the contrary of each other")
	}
	paths := slices.Clone(s.Paths)
	here := reader.Where(k.Repo.WorkTree, k.Dir)
	for _, glob := range s.Globs {
		switch path, ok := here.Path(glob); {
		case !ok:
			return m, exit.Usage("files are named from the folder that you are in", "--path %s: it lies outside of the repository", glob)
		case path != "":
			paths = append(paths, path)
		}
	}
	for _, folder := range s.Folders {
		place, ok := here.Path(folder)
		switch {
		case !ok:
			return m, exit.Usage("folders are named from the one that you are in", "--in %s: it lies outside of the repository", folder)
		case k.Repo.WorkTree != "" && !isFolder(filepath.Join(k.Repo.WorkTree, filepath.FromSlash(place))):
			return m, exit.Usage("for a folder that is still to come: --path '"+strings.TrimRight(folder, "/")+"/**'", "--in %s: there is no such folder", folder)
		case place != "":
			paths = append(paths, place+"/**")
		}
	}
	commit := ""
	if id, _, err := k.Repo.Head(ctx); err == nil {
		commit = id[:min(12, len(id))]
	}
	m, redacted := k.Book.Clean(record.Memory{
		Kind: kind, Text: statement, Body: body, Paths: paths, Tags: s.Tags, Topic: s.Topic, Expires: s.Expires,
		Source: record.Source{Time: k.Now(), By: "human", Commit: commit, How: record.Written},
	})
	m, r.Redacted = record.New(m), redacted.Found
	if m, err = k.guarded(m, s); err != nil {
		return m, err
	}
	r.Memory = m
	code := k.Code.Here(ctx)
	grep, stop := context.WithTimeout(ctx, grepTime)
	m.Anchors, _ = code.Find(ctx, grep, m)
	stop()
	switch {
	case s.Branch != "":
		m.Branch, err = k.Code.Named(ctx, s.Branch)
		if errors.Is(err, anchor.ErrNoBranch) {
			return m, exit.Usage("'git branch -a' lists the branches", "there is no branch %q here", s.Branch)
		}
	case !s.Everywhere:
		m.Branch = code.Side(ctx)
	}
	return m, err
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// guarded returns a memory with the guards of a statement.
func (k *Keeper) guarded(m record.Memory, s Statement) (record.Memory, error) {
	if s.Unguarded {
		return m, nil
	}
	t, err := ParseGuards(s.Guards, s.Strength)
	if err != nil {
		return m, err
	}
	if s.Guards == nil {
		m = guard.Derive(m, t, "", os.DirFS(k.Repo.WorkTree))
	} else {
		m = m.WithTrigger(t)
	}
	if len(m.Trigger().Guards) == 0 && s.Strength != "" {
		return m, exit.Usage("name the calls: --guard 'Bash(npm *)'", "--strength %s: the statement has no guard", s.Strength)
	}
	return m, nil
}

// ParseGuards reads guards and their strength as a user typed them. Without a strength, guards hold
// the calls that the user names.
func ParseGuards(guards []string, strength string) (t record.Trigger, err error) {
	switch t.Strength = record.Strength(strength); {
	case strength == "" && len(guards) > 0:
		t.Strength = record.Hold
	case strength != "" && !slices.Contains(record.Strengths, t.Strength):
		return t, exit.Usage("strengths are say, hold, ask, deny", "%q is not a strength", strength)
	}
	for _, text := range guards {
		p, err := guard.Parse(text)
		if err != nil {
			return t, exit.Usage("", "%v", err)
		}
		t.Guards = append(t.Guards, p.String())
	}
	return t, nil
}

// ParseKind reads the kind of a memory as a user typed it.
func ParseKind(s string) (record.Kind, error) {
	k := record.Kind(s)
	if !k.Valid() {
		return "", exit.Usage("kinds are "+record.KindList(), "%q is not a kind", s)
	}
	return k, nil
}

// put writes a drafted memory, or extends a known one that says the same.
func (k *Keeper) put(ctx context.Context, tx *record.Tx, t clone.Team, m record.Memory, s Statement) (r Result, err error) {
	said := m.Text
	m, old, err := replace(tx.View, m, s)
	if err != nil {
		return r, err
	}
	m.Private = s.Private || slices.Contains(clone.Private(t.Config), m.Kind)
	if old != nil && m.Private && !old.Private {
		return r, exit.Usage("keep both, or leave --private out", "--replace %s: it is for everybody, and the new one would be this clone's alone", old.ID[:8])
	}
	if held, known := tx.Same(m.Text); known && held.Status != record.Retired {
		r, err = k.extend(ctx, tx, held, m, old, s)
		r.Reworded, r.Unlike, r.Replaced = record.Normal(held.Text) != record.Normal(said), !s.kept(held, m), old
		return r, err
	}
	r = Result{Memory: m, Neighbours: k.neighbours(tx.View, m), Replaced: old}
	if err := retireReplaced(tx, old, m.ID); err != nil {
		return r, err
	}
	tx.Describe(describe("remember", m.Text, m.Body))
	return r, tx.PutMemory(m, nil)
}

// extend widens a known memory to the branches and the time of one that says the same. It changes
// nothing of a memory withheld for its authors.
func (k *Keeper) extend(ctx context.Context, tx *record.Tx, held, m record.Memory, old *record.Memory, s Statement) (Result, error) {
	r := Result{Memory: held, Known: true}
	foreign, err := k.Withheld(ctx, tx.View)
	if err != nil {
		return r, err
	}
	if r.Whose = foreign.Whose(held); len(r.Whose) > 0 && old != nil {
		return r, exit.New(exit.NeedsPerson, fmt.Errorf("--replace %s: what you say is known as %s and withheld from agents, %s; nothing was replaced", old.ID[:8], held.ID[:8], k.WhyWithheld(r.Whose)),
			"if it holds: reverie trust approve "+held.ID[:8]+", and then the same again")
	}
	if len(r.Whose) > 0 {
		return r, nil
	}
	if m.Branch == "" { // it may have held only on a side branch
		r.Memory.Branch = ""
	}
	if !s.Expires.IsZero() || !held.Live(k.Now()) {
		r.Memory.Expires = m.Expires
	}
	if r.Memory.Branch != held.Branch || !r.Memory.Expires.Equal(held.Expires) {
		if err := tx.PutMemory(r.Memory, &held); err != nil {
			return r, err
		}
	}
	tx.Describe(describe("remember", held.Text, ""))
	return r, retireReplaced(tx, old, held.ID)
}

// describe returns the commit for an operation on a statement.
func describe(op, text, body string) gitstore.Commit {
	return gitstore.Commit{Subject: op + ": " + record.CommitSubject(text), Body: body, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: op}}}
}
