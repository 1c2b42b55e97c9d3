package cmd

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

// approvedFile is the file of the state folder that says what a person approved in this clone.
const approvedFile = "trust.json"

// approvals are the blobs of memories that a person approved, by the memories' ids. Other bytes under the same
// id are not approved.
type approvals map[string]gitstore.ID

// approvals reads what a person approved in this clone.
func (w *workspace) approvals() (approvals, error) {
	text, err := file.Read(filepath.Join(w.state, approvedFile), file.MaxState)
	if errors.Is(err, os.ErrNotExist) {
		return approvals{}, nil
	}
	var f struct{ Approved approvals }
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return nil, &failure{exitPerson, fmt.Errorf("read what was approved here: %s: %w", approvedFile, unwrapPath(err)),
			"without the file " + filepath.Join(w.state, approvedFile) + " what was approved is withheld again; remove it if it cannot be mended"}
	}
	if f.Approved == nil {
		f.Approved = approvals{}
	}
	return f.Approved, nil
}

// approve notes memories of the newest state as approved by a person, and forgets approvals that no longer hold.
func (w *workspace) approve(v *record.View, memories []heldMemory) error {
	old, err := w.approvals()
	if err != nil {
		return err
	}
	next := approvals{}
	for id, blob := range old {
		if now, ok := v.Blob(id); ok && now == blob {
			next[id] = blob
		}
	}
	for _, m := range memories {
		next[m.ID], _ = v.Blob(m.ID)
	}
	return w.saveApprovals(old, next)
}

// approveProposed notes what this clone proposed out of its inbox as approved where a remote's branch has those very
// bytes, whoever merged them there. Where git has dropped the commit meanwhile, which no ref holds, nothing is.
func (w *workspace) approveProposed(ctx context.Context, proposed, base, theirs gitstore.ID) error {
	ctx, unlock, err := w.memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	old, err := w.approvals()
	if err != nil {
		return err
	}
	next := maps.Clone(old)
	err = w.memory.ViewAt(ctx, string(theirs), func(now *gitstore.Tree) error {
		return w.memory.ViewAt(ctx, string(base), func(before *gitstore.Tree) error {
			return w.memory.ViewAt(ctx, string(proposed), func(t *gitstore.Tree) error {
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
	return w.saveApprovals(old, next)
}

func (w *workspace) saveApprovals(old, next approvals) error {
	if maps.Equal(old, next) {
		return nil
	}
	data, err := json.Marshal(map[string]any{"approved": next})
	if err != nil {
		return err
	}
	return w.repo.WriteState(approvedFile, append(data, '\n'), true)
}
