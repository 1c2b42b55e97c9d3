package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/setup/ci"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Workflow is the file that makes a forge check pull requests against the memory branch.
type Workflow struct {
	ci.File
	Text        string
	unpublished bool // it takes the place of one that published
}

// findWorkflow renders the file of a forge for a memory branch and a version of Reverie.
func findWorkflow(forge, ref, version string, pages bool) (Workflow, error) {
	f, ok := ci.For(forge)
	if !ok {
		return Workflow{}, exit.Usage("reverie init --ci github, or reverie init --ci gitlab", "there are no CI files for %q", forge)
	}
	text, err := f.Render(ref, version, pages)
	if bad := (*ci.RefError)(nil); errors.As(err, &bad) && bad.Branch {
		return Workflow{}, exit.New(exit.Failed, err, "take letters, digits, '.', '_', '-' and '/' only")
	} else if err != nil {
		return Workflow{}, exit.New(exit.Failed, err, "the setting memory.ref names a branch, such as refs/heads/reverie/memory")
	}
	return Workflow{File: f, Text: text}, nil
}

// Effect tells what the committed file does, and a person's next step.
func (f *Workflow) Effect() string {
	const checked = "once it is pushed, pull requests against it are checked"
	switch {
	case f.unpublished:
		return checked + ", and no pages are published any more; a site that is online stays until you remove it"
	case ci.Publishes(f.Text):
		return checked + ", and the memories of all authors on the branch are published as web pages for all who can read " +
			"the site; a forge has no list of people you trust\nnext: " + f.Next
	}
	return checked
}

// differs reports whether a tree lacks the current file. A foreign file in that place is an error.
func (f *Workflow) differs(t *gitstore.Tree) (bool, error) {
	old, err := t.Read(f.Path)
	switch {
	case errors.Is(err, gitstore.ErrNotFound):
		return true, nil
	case err != nil || string(old) == f.Text:
		return false, err
	case !f.Ours(string(old)):
		return false, exit.New(exit.NeedsPerson, fmt.Errorf("%s is there, and 'reverie init --ci' did not write it", f.Path), "remove it from the memory branch first, or keep it and let it run: reverie check --diff BASE...HEAD")
	}
	f.unpublished = ci.Publishes(string(old)) && !ci.Publishes(f.Text)
	return true, nil
}

// install commits the file to the memory branch, and reports whether that was needed. dry only
// checks. note is git's remark on the commit.
func (f *Workflow) install(ctx context.Context, c *clone.Clone, dry bool) (changed bool, note string, err error) {
	if err := c.View(ctx, func(*record.View, clone.Team) error { return nil }); err != nil {
		// View fails for a newer format.
		return false, "", err
	}
	if dry {
		err = c.Memory.View(ctx, func(t *gitstore.Tree) error {
			changed, err = f.differs(t)
			return err
		})
		return changed, "", err
	}
	clean, report := (*redact.Scanner)(nil).Text(f.Text)
	if report.Found > 0 {
		return false, "", fmt.Errorf("%s: the branch's name looks like a secret", f.Path)
	}
	message := gitstore.Commit{Subject: "init: check pull requests on " + f.Forge, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "init"}}}
	res, err := c.Memory.Update(ctx, message, func(tx *gitstore.Tx) error {
		if differs, err := f.differs(tx.Tree); err != nil || !differs {
			return err
		}
		return tx.Write(f.Path, clean)
	})
	return res.Changed, res.Note, err
}

// workflows lists the files on the memory branch that Init wrote. An unreadable memory has none.
func workflows(ctx context.Context, c *clone.Clone) (found []string) {
	_ = c.Memory.View(ctx, func(t *gitstore.Tree) error {
		for _, f := range ci.Files {
			if text, err := t.Read(f.Path); err == nil && f.Ours(string(text)) {
				found = append(found, f.Path)
			}
		}
		return nil
	})
	return found
}
