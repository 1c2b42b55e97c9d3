package purge

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// Request is a person's request for a purge. Call Target, then Prepare, then Run.
type Request struct {
	What       string // a text, or hex digits that begin the id of a memory
	Expression bool   // What is a regular expression (RE2)
	Reason     string // the body of the commits that leave records
}

// Lower bounds of What, in characters. A shorter text occurs everywhere, and fewer digits are too
// easily a word.
const (
	shortText = 3
	shortID   = 8
)

// Target returns the target of a request: a memory if What is hex digits that name one, otherwise a
// text.
func (r Request) Target(ctx context.Context, book *record.Book) (Target, error) {
	t, text := Text(r.What), true
	switch {
	case r.Expression:
		re, err := regexp.Compile(r.What)
		if err != nil {
			return t, exit.Usage("the syntax is that of RE2", "%v", err)
		}
		if re.MatchString("") {
			return t, exit.Usage("", "%q matches everywhere", r.What)
		}
		t, text = Expression(re), false
	case hexDigits(r.What):
		id, err := namedMemory(ctx, book, r.What)
		if err != nil {
			return t, err
		}
		if id != "" {
			t, text = Memory(id), false
		}
	}
	if text && utf8.RuneCountInString(r.What) < shortText {
		return t, exit.Usage("to purge it everywhere: reverie purge --regexp TEXT", "a text of fewer than %d characters stands everywhere", shortText)
	}
	return t, r.checkReason(&t)
}

// checkReason refuses a reason that quotes the target.
func (r Request) checkReason(t *Target) error {
	if r.Reason != "" && t.Tells(r.Reason) {
		return exit.Usage("say why without saying what", "the reason holds what is to be purged")
	}
	return nil
}

func hexDigits(s string) bool {
	return len(s) >= 4 && len(s) <= 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// namedMemory returns the id of the memory that hex digits name. It may exist now, in a pending
// operation or in an earlier purge, so that repeating a command never turns its target into a text.
// A full id may exist only in history. The id is empty if the digits are a text.
func namedMemory(ctx context.Context, book *record.Book, digits string) (id string, err error) {
	err = book.View(ctx, func(v *record.View) error {
		m, err := v.Find(digits)
		if errors.Is(err, record.ErrNoMemory) {
			pending, _ := v.Inbox().Operations()
			var op record.Operation
			op, err = record.FindOperation(pending, digits)
			m = op.Memory
		}
		if errors.Is(err, record.ErrNoMemory) {
			m.ID, err = v.Purges().Like(digits), nil
		}
		id = m.ID
		return err
	})
	switch {
	case errors.Is(err, gitstore.ErrNoStore):
		err = nil
	case len(digits) < shortID && (err == nil && id != "" || errors.Is(err, record.ErrAmbiguous)):
		err = exit.Usage(fmt.Sprintf("for the memory give more of its id; for the text: reverie purge --regexp %s", digits), "%s is a text, and begins the id of a memory", digits)
	}
	if id == "" && record.ValidID(digits) {
		id = digits
	}
	return id, err
}

// Prepare plans a purge, refuses an invalid one, and lists the parts to remove.
func (r Request) Prepare(ctx context.Context, c *Clone, t Target) (*Plan, Found, error) {
	p, err := c.Plan(ctx, t)
	if err == nil && p.Empty() {
		_, err = c.Memory.Tip(ctx)
	}
	if err == nil {
		err = p.Check()
	}
	if err == nil {
		err = r.checkReason(&p.Target)
	}
	if err != nil {
		return nil, Found{}, err
	}
	found, err := p.Find(ctx)
	return p, found, err
}

// Result describes the outcome of Run. It is valid even with an error.
type Result struct {
	Complete bool     // every ref was moved
	Records  []string // ids of the new records
	Notes    []string // about the new commits, a sentence each
	Lanes    []Lane   // of the remote
	Replaced bool     // a branch of the remote
	Needless bool     // the remote holds nothing that was purged
	Left     []Left
}

// Run removes the target if What is not empty, then replaces the branch of remote unless it is nil.
// It removes old objects whether or not the push succeeds. The caller has held the lock of
// git.State.LockSync since before it opened the clone.
func (r Request) Run(ctx context.Context, c *Clone, t Target, remote *git.Remote) (done Result, err error) {
	var last *Done
	if r.What != "" {
		last, err = c.Apply(ctx, t, r.Reason)
	}
	if last != nil {
		done.Complete, done.Records, done.Notes = last.Complete, last.Records, last.Notes
		if err == nil {
			done.Left, err = DropProposals(c.Remotes, last.New)
		}
	}
	pushed := ""
	if err == nil && remote != nil {
		err = done.push(ctx, c, remote)
		if done.Replaced {
			pushed = remote.Name
		}
	}
	if last != nil {
		left, failed := last.Finish(ctx, pushed)
		done.Left, err = append(done.Left, left...), errors.Join(err, failed)
	}
	return done, err
}

// push replaces the branches of a remote after a purge.
func (d *Result) push(ctx context.Context, c *Clone, remote *git.Remote) error {
	pushed, err := c.Push(ctx, remote)
	d.Lanes, d.Left = pushed.Lanes, append(d.Left, pushed.Left...)
	d.Replaced = slices.ContainsFunc(d.Lanes, func(l Lane) bool { return l.Replaced })
	if err != nil {
		return err
	}
	d.Needless = !d.Replaced && !slices.ContainsFunc(d.Lanes, func(l Lane) bool { return l.Current })
	if d.Needless && !d.Complete {
		return exit.New(exit.NeedsPerson, fmt.Errorf("purge: %s has nothing that was purged here: nothing was pushed", remote.Name), "to publish what is new: reverie sync "+remote.Name)
	}
	return nil
}
