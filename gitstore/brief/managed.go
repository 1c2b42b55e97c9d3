package brief

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/block"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Managed is a file with the managed block, such as AGENTS.md.
type Managed struct {
	Path  string // absolute; empty: the file of the settings
	Force bool   // overwrite a block edited by hand, or a named file outside the work tree
}

// Rendered is the result of Render.
type Rendered struct {
	File    string `json:"file"`
	Written bool   `json:"written"` // false: it was up to date

	Hidden      int      `json:"-"` // memories left out because their authors are not trusted
	Added, Gone []string `json:"-"` // lines that a person changed, so that nothing was written
}

// find locates the file and its block.
func (m Managed) find(r *reader.Reader) (file string, to clone.Destination, err error) {
	if file = m.Path; file == "" {
		if r.Repo.WorkTree == "" {
			return file, to, exit.New(exit.Failed, errors.New("render agents-md: a bare repository has no AGENTS.md"), "name a file: reverie render agents-md --file FILE")
		}
		file = r.AgentsFile()
	}
	to, err = clone.FindDestination(r.Repo, file)
	return file, to, err
}

// readBlock reads a file and finds its block. It refuses a torn block.
func readBlock(file string, to clone.Destination) (text string, b block.Block, err error) {
	data, err := os.ReadFile(to.Real)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", b, fmt.Errorf("render: %w", err)
	}
	text = string(data)
	if b = block.Find(text); b.State != block.OK && b.State != block.Absent {
		return text, b, b.Refuse(file)
	}
	return text, b, nil
}

// Render brings the block of a file up to date. It leaves a block that a person edited, and returns
// the edits with an error. Only a person may force it.
func (m Managed) Render(ctx context.Context, r *reader.Reader) (done Rendered, err error) {
	file, to, err := m.find(r)
	if err != nil {
		return done, err
	}
	done.File = file
	if !to.Inside {
		if !m.Force || m.Path == "" {
			return done, to.Refuse()
		}
		if err := r.WantPerson("render agents-md --force"); err != nil {
			return done, err
		}
	}
	old, b, err := readBlock(file, to)
	if err != nil {
		return done, err
	}
	err = r.View(ctx, func(v *record.View) error {
		reader.ReportBad(r, v)
		now := r.Now().UTC().Truncate(time.Second) // as precise as the block tells it
		given, kept, err := Shared(ctx, r, v, now)
		if err != nil {
			return err
		}
		held, err := r.Held(ctx, v)
		if err != nil {
			return err
		}
		done.Hidden = len(slices.DeleteFunc(held, func(h reader.Held) bool { return h.Private || h.Given != nil }))
		body := Markdown(given, MaxBody, 0)
		if b.State == block.OK && b.Body(old) == body {
			return nil
		}
		if edited(b, old) {
			if err := m.overwrite(ctx, r, v, b, old, given, &done); err != nil {
				return err
			}
		}
		attributes := fmt.Sprintf("v1 tree=%s at=%s sum=%s", v.Tree(), now.Format(time.RFC3339), derived.Sum([]byte(body)))
		if kept > 0 {
			attributes += fmt.Sprintf(" withheld=%d", kept)
		}
		if err := to.Write([]byte(b.Put(old, attributes, body))); err != nil {
			return fmt.Errorf("render: %w", err)
		}
		done.Written = true
		return nil
	})
	return done, err
}

// overwrite returns an error if a block that a person edited must stay.
func (m Managed) overwrite(ctx context.Context, r *reader.Reader, v *record.View, b block.Block, old string, given []Item, done *Rendered) (err error) {
	if m.Force {
		return r.WantPerson("render agents-md --force")
	}
	if done.Added, done.Gone, err = handEdits(ctx, r, v, b, old, given); err != nil || len(done.Added)+len(done.Gone) == 0 {
		return err
	}
	slices.Sort(done.Added)
	slices.Sort(done.Gone)
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: the block was edited by hand since it was written; nothing was changed", done.File),
		"to keep an edit, make it a memory: reverie remember TEXT, reverie edit ID TEXT, reverie forget ID --reason WHY\n"+
			"or move it out of the block; then: reverie render agents-md --force")
}

// Check returns the fault of the file's block in words that continue the file's name, or "".
func (m Managed) Check(ctx context.Context, r *reader.Reader) (file, fault string, err error) {
	file, to, err := m.find(r)
	if err != nil {
		return file, "", err
	}
	text, b, err := readBlock(file, to)
	if err != nil {
		return file, "", err
	}
	err = r.View(ctx, func(now *record.View) error {
		f, err := faultOf(ctx, r, now, b, text)
		fault = f.describe(r.Branch(), b)
		return err
	})
	return file, fault, err
}
