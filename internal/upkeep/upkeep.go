// Package upkeep knows the files of a clone's state folder: when they expire, what a purge does
// with them, and which are derived and may be dropped.
package upkeep

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/kv"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect/compress"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/try"
)

// Folders of the state folder.
const (
	OriginalsDir = "originals" // outputs before compress shortened them
	AnswersDir   = "answers"   // earlier answers of models
)

// Originals opens the store of outputs before they were shortened.
func Originals(c *clone.Clone) compress.Store {
	return compress.Store{Dir: filepath.Join(c.State, OriginalsDir)}
}

// Answers returns the folder of earlier answers of models.
func Answers(c *clone.Clone) string { return filepath.Join(c.State, AnswersDir) }

// KeptFrom returns the time since when raw material is kept.
func KeptFrom(r *reader.Reader) time.Time {
	return r.Now().Add(-time.Duration(r.Settings.Config.KeepDays) * 24 * time.Hour)
}

// Tidy removes what has expired. It does all it can, and joins the errors.
func Tidy(ctx context.Context, r *reader.Reader) error {
	before := KeptFrom(r)
	_, sessions := r.Sessions.Expire(before)
	_, originals := Originals(r.Clone).Expire(before, compress.MaxStore)
	values := kv.Store{Repo: r.Repo, Scanner: r.Scanner, Now: r.Now}
	return errors.Join(sessions, originals, brief.Ledger{Repo: r.Repo}.Expire(before), values.Sweep(ctx), door.Expire(Answers(r.Clone), before),
		r.Book.Tidy(ctx), purge.Tidy(r.Repo, r.State, r.Now()), try.Clear(worktree.Folder(r.Repo)))
}
