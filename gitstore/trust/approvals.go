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

// ApprovalsError is returned when what was approved is there and cannot be read, which says nothing of what was: it is for
// a person to mend or to remove.
type ApprovalsError struct {
	Path string // of the file
	Err  error
}

func (e *ApprovalsError) Error() string {
	return fmt.Sprintf("read what was approved here: %s: %v", ApprovedFile, e.Err)
}

func (e *ApprovalsError) Unwrap() error { return e.Err }

// approvals are the blobs of memories that a person approved, by the memories' ids. Other bytes under the same
// id are not approved.
type approvals map[string]gitstore.ID

// approvals reads what a person approved in this clone. An error is an *ApprovalsError.
func (j *Judge) approvals() (approvals, error) {
	path := filepath.Join(j.State, ApprovedFile)
	text, err := file.Read(path, file.MaxState)
	if errors.Is(err, os.ErrNotExist) {
		return approvals{}, nil
	}
	var f struct{ Approved approvals }
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if bad, ok := err.(*os.PathError); ok { // the path is in ours
		err = bad.Err
	}
	if err != nil {
		return nil, &ApprovalsError{path, err}
	}
	if f.Approved == nil {
		f.Approved = approvals{}
	}
	return f.Approved, nil
}

// Check returns an *ApprovalsError if what was approved cannot be read.
func (j *Judge) Check() error {
	_, err := j.approvals()
	return err
}

// Approve notes memories of the newest state, by their ids, as approved by a person, and forgets approvals that no longer hold.
// The caller holds the branch's lock.
func (j *Judge) Approve(v *record.View, ids []string) error {
	old, err := j.approvals()
	if err != nil {
		return err
	}
	next := approvals{}
	for id, blob := range old {
		if now, ok := v.Blob(id); ok && now == blob {
			next[id] = blob
		}
	}
	for _, id := range ids {
		next[id], _ = v.Blob(id)
	}
	return j.saveApprovals(old, next)
}

// ApproveProposed notes what this clone proposed out of its inbox as approved where a remote's branch has those very
// bytes, whoever merged them there. Where git has dropped the commit meanwhile, which no ref holds, nothing is.
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
	next := maps.Clone(old)
	err = j.Memory.ViewAt(ctx, string(theirs), func(now *gitstore.Tree) error {
		return j.Memory.ViewAt(ctx, string(base), func(before *gitstore.Tree) error {
			return j.Memory.ViewAt(ctx, string(proposed), func(t *gitstore.Tree) error {
				return t.Diff(before.ID(), func(c gitstore.Change) error {
					if id, ok := record.MemoryID(c.Path); ok && c.New != "" {
						if blob, err := now.Stat(c.Path); err == nil && blob == c.New {
							next[id] = blob
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
	if maps.Equal(old, next) {
		return nil
	}
	data, err := json.Marshal(map[string]any{"approved": next})
	if err != nil {
		return err
	}
	return j.Memory.Repo().WriteState(ApprovedFile, append(data, '\n'), true)
}
