package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/file"
)

// ApprovalsError is returned when what was approved is there and cannot be read, which says nothing
// of what was: it is for a person to mend or to remove.
type ApprovalsError struct {
	Path string // of the file
	Err  error
}

func (e *ApprovalsError) Error() string {
	return fmt.Sprintf("read what was approved here: %s: %v", ApprovedFile, e.Err)
}

func (e *ApprovalsError) Unwrap() error { return e.Err }

// approvals is trust.json. Blobs are named by the ids of their memories.
type approvals struct {
	Approved map[string]gitstore.ID `json:"approved"`       // by a person: these bytes and no others; "": that the file is gone
	Over     map[string]gitstore.ID `json:"over,omitempty"` // what agents were given before that; none: nothing
}

// approvals reads what a person approved in this clone. An error is an *ApprovalsError.
func (j *Judge) approvals() (approvals, error) {
	path := filepath.Join(j.State, ApprovedFile)
	text, err := file.Read(path, file.MaxState)
	var f approvals
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	} else if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if bad, ok := err.(*os.PathError); ok { // the path is in ours
		err = bad.Err
	}
	if err != nil {
		return approvals{}, &ApprovalsError{path, err}
	}
	if f.Approved == nil {
		f.Approved = map[string]gitstore.ID{}
	}
	if f.Over == nil {
		f.Over = map[string]gitstore.ID{}
	}
	return f, nil
}

// of is what is approved of the memory whose file is at a path.
func (a approvals) of(path string) (blob, over gitstore.ID, ok bool) {
	id := idOf(path)
	blob, ok = a.Approved[id]
	return blob, a.Over[id], ok
}

// Check returns an *ApprovalsError if what was approved cannot be read.
func (j *Judge) Check() error {
	_, err := j.approvals()
	return err
}

// Approve notes memories of the newest state, by their ids, and its settings by SettingsPath, as
// approved by a person, as they are or because they are gone, and forgets approvals that no longer
// hold. held is what is withheld of that state, and settings what counts in their place. The caller
// holds the branch's lock.
func (j *Judge) Approve(v *record.View, held *Withheld, settings Settings, ids []string) error {
	old, err := j.approvals()
	if err != nil {
		return err
	}
	next := approvals{Approved: map[string]gitstore.ID{}, Over: map[string]gitstore.ID{}}
	approve := func(id string, blob, over gitstore.ID) {
		if next.Approved[id] = blob; over != "" {
			next.Over[id] = over
		}
	}
	blobOf := func(id string) gitstore.ID {
		now, _ := v.Blob(id)
		if id == SettingsPath {
			now, _ = v.ConfigBlob()
		}
		return now
	}
	given := func(id string) (gitstore.ID, bool) {
		if id == SettingsPath {
			return settings.blob, settings.Text != nil
		}
		return held.given(id)
	}
	for id, blob := range old.Approved {
		now := blobOf(id)
		if given, ok := given(id); now == blob || ok && given == blob {
			approve(id, blob, old.Over[id])
		}
	}
	for _, id := range ids {
		now := blobOf(id)
		over, _ := given(id)
		approve(id, now, over)
	}
	return j.saveApprovals(old, next)
}

// ApproveProposed notes what this clone proposed out of its inbox as approved where a remote's
// branch has those very bytes, whoever merged them there. Where git has dropped the commit
// meanwhile, which no ref holds, nothing is.
func (j *Judge) ApproveProposed(ctx context.Context, proposed, base, theirs gitstore.ID) error {
	ctx, unlock, err := j.Memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	old, err := j.approvals()
	if err != nil {
		return err
	}
	next := approvals{maps.Clone(old.Approved), maps.Clone(old.Over)}
	err = j.Memory.ViewAt(ctx, string(theirs), func(now *gitstore.Tree) error {
		return j.Memory.ViewAt(ctx, string(base), func(before *gitstore.Tree) error {
			return j.Memory.ViewAt(ctx, string(proposed), func(t *gitstore.Tree) error {
				return t.Diff(before.ID(), func(c gitstore.Change) error {
					if id, ok := record.MemoryID(c.Path); ok && c.New != "" {
						if blob, err := now.Stat(c.Path); err == nil && blob == c.New {
							next.Approved[id] = blob
							delete(next.Over, id)
						}
					}
					return nil
				})
			})
		})
	})
	if err != nil {
		return ctx.Err()
	}
	return j.saveApprovals(old, next)
}

func (j *Judge) saveApprovals(old, next approvals) error {
	if maps.Equal(old.Approved, next.Approved) && maps.Equal(old.Over, next.Over) {
		return nil
	}
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	return j.Memory.Repo().WriteState(ApprovedFile, append(data, '\n'), true)
}
