package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/hint"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Problem is a defect of a memory or of the state folder.
type Problem struct {
	What  string `json:"problem"`
	Where string `json:"where"` // the branch, journal, inbox, or state
}

// Damage reports the defects of the stores and of the files in the state folder that nothing can
// restore. With deep it reads the bytes of every object in history. An error ends it early.
func Damage(ctx context.Context, r *reader.Reader, deep bool, report func(Problem)) error {
	stores := map[string]*gitstore.Store{
		r.Branch(): r.Memory, "journal": gitstore.Open(r.Repo, clone.JournalRef), "inbox": gitstore.Open(r.Repo, clone.InboxRef),
	}
	for _, name := range []string{r.Branch(), "journal", "inbox"} {
		err := stores[name].Check(ctx, deep, func(p gitstore.Problem) { report(Problem{p.String(), name}) })
		switch {
		case errors.Is(err, gitstore.ErrDeleted), name == r.Branch() && err != nil:
			return err
		case err != nil && !errors.Is(err, gitstore.ErrNoStore):
			return fmt.Errorf("check %s: %w", name, err)
		}
	}
	if err := checkFiles(ctx, r, report); err != nil {
		return err
	}
	if err := checkRecords(ctx, r, report); err != nil {
		return err
	}
	checkState(r, report)
	return nil
}

// Stale is a memory whose code is gone, which is no problem of the store.
type Stale struct {
	Note  string `json:"note"`
	Where string `json:"where"`
}

// StaleMemories lists the stale memories in force. It returns only the error of a cancelled ctx.
func StaleMemories(ctx context.Context, r *reader.Reader) (all []Stale, err error) {
	_ = r.View(ctx, func(v *record.View) error { // Damage reported an unreadable view
		caveats, err := r.Caveats(ctx, v)
		if err != nil {
			return err
		}
		for _, m := range v.Memories() {
			if !m.Live(r.Now()) || !caveats(m).Stale {
				continue
			}
			for _, gone := range r.Code.Here(ctx).Gone(ctx, m) {
				all = append(all, Stale{m.Path() + ": stale: " + gone, r.Branch()})
			}
		}
		return nil
	})
	return all, ctx.Err()
}

// checkRecords parses every file. A branch that cannot be viewed at all is a problem, too.
func checkRecords(ctx context.Context, r *reader.Reader, report func(Problem)) error {
	err := r.View(ctx, func(v *record.View) error {
		for _, bad := range v.Bad() {
			report(Problem{bad.Error(), r.Branch()})
		}
		for _, m := range v.Memories() {
			for _, text := range m.Anchors {
				if _, err := record.ParseAnchor(text); err != nil {
					report(Problem{m.Path() + ": " + err.Error(), r.Branch()})
				}
			}
			for _, id := range m.Supersedes {
				if _, ok := v.Blob(id); !ok && !v.Purges().Has(id) {
					report(Problem{m.Path() + ": supersedes " + id + ", which is not there", r.Branch()})
				}
			}
		}
		_, operr := v.Inbox().Operations()
		_, rejerr := v.Inbox().Rejections()
		_, referr := v.Journal().Reflections()
		_, everr := v.Branch().Reflections()
		_, skillerr := v.Branch().Skills()
		for _, e := range record.Errors(skillerr) {
			report(Problem{e.Error(), r.Branch()})
		}
		_, dreamerr := v.Journal().Dreams()
		_, cperr := v.Journal().Checkpoints("")
		_, scperr := v.Branch().Checkpoints("")
		for _, err := range []error{operr, rejerr, referr, everr, dreamerr, cperr, scperr, v.Purges().Bad()} {
			for _, e := range record.Errors(err) {
				report(Problem{e.Error(), "journal or inbox"})
			}
		}
		return nil
	})
	if err == nil || ctx.Err() != nil || errors.Is(err, config.ErrNewer) {
		return err
	}
	for _, e := range record.Errors(err) {
		report(Problem{"cannot be viewed: " + e.Error(), r.Branch()})
	}
	return nil
}

// checkState reads the files of the state folder that nothing can restore.
func checkState(r *reader.Reader, report func(Problem)) {
	approved := r.Judge.Check()
	_, known := remotes.Read(r.State)
	for _, err := range []error{approved, known} {
		if err != nil {
			_, next := hint.For(err)
			report(Problem{err.Error() + "; " + next, "state"})
		}
	}
}

// checkFiles reports files that do not belong on the memory branch, and memories with an unfinished
// merge. The stores' own check reports unreadable files.
func checkFiles(ctx context.Context, r *reader.Reader, report func(Problem)) error {
	err := r.Memory.View(ctx, func(t *gitstore.Tree) error {
		return t.Walk("", func(path string, _ gitstore.ID) error {
			if !Known(path) {
				report(Problem{path + ": nothing of Reverie's; remove it from the branch", r.Branch()})
			}
			if !strings.HasPrefix(path, "memories/") {
				return nil
			}
			data, err := t.Read(path)
			if line := record.Conflict(string(data)); err == nil && line > 0 {
				id, _ := record.MemoryID(path)
				report(Problem{fmt.Sprintf("%s:%d: contains conflict markers; keep one text, as numbered by 'reverie conflicts': reverie edit %s --take 1", path, line, id), r.Branch()})
			}
			return ctx.Err()
		})
	})
	var entries gitstore.EntryErrors
	if errors.As(err, &entries) || errors.Is(err, gitstore.ErrCorrupt) || errors.Is(err, git.ErrBrokenRef) {
		return nil
	}
	return err
}
