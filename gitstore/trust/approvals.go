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

// ApprovalsError means that the file of approvals exists but cannot be read. A person has to mend
// or remove it.
type ApprovalsError struct {
	Path string // of the approvals
	Err  error
}

func (e *ApprovalsError) Error() string {
	return fmt.Sprintf("read what was approved here: %s: %v", ApprovedFile, e.Err)
}

func (e *ApprovalsError) Unwrap() error { return e.Err }

// approvals is trust.json. Both maps go by the ids of memories, and by SettingsPath.
type approvals struct {
	// Approved holds the exact bytes that a person approved; "" approves that the file is gone.
	Approved map[string]gitstore.ID `json:"approved"`
	Over     map[string]gitstore.ID `json:"over,omitempty"` // the version agents had before, if any
}

// approvals returns approvals with both maps, empty without a file. An error is an *ApprovalsError.
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

// of returns the approved content of the file at a path, and the version that agents had before. A
// blob "" with ok approves the file's removal.
func (a approvals) of(path string) (blob, over gitstore.ID, ok bool) {
	id := idOf(path)
	blob, ok = a.Approved[id]
	return blob, a.Over[id], ok
}

// Check returns an *ApprovalsError if the approvals cannot be read.
func (j *Judge) Check() error {
	_, err := j.approvals()
	return err
}

// Approve records a person's approval of memories of the newest state, by id, present or gone;
// SettingsPath stands for the team's settings. It drops approvals that no longer hold. held and
// settings describe the withheld changes of that state. The caller holds the branch's lock.
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

// ApproveProposed approves the changes that this clone proposed from its inbox if a remote's branch
// now has the same bytes. It does not matter who merged them. If git has pruned the proposed
// commit, it approves nothing.
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
	return j.Memory.Repo().State().Write(ApprovedFile, append(data, '\n'), true)
}
