package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
)

// onlyHere is how many private memories in force go with the journal of this clone: those that it did not publish as they are now.
func (w *workspace) onlyHere(ctx context.Context) (n int, err error) {
	err = w.view(ctx, func(v *record.View) error {
		var published map[string]bool
		for _, m := range v.Memories() {
			if !m.Private || !m.Live(w.env.Now()) {
				continue
			}
			if published == nil {
				if published, err = w.publishedPrivate(ctx); err != nil {
					return err
				}
			}
			if blob, ok := v.Blob(m.ID); ok && !published[string(blob)] {
				n++
			}
		}
		return nil
	})
	if clone.NoMemory(err) {
		return 0, nil
	}
	return n, err
}

// publishedPrivate are the blobs of the memories in the journals that remotes were last seen to have.
func (w *workspace) publishedPrivate(ctx context.Context) (map[string]bool, error) {
	refs, err := w.Repo.Git(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/reverie/remotes/*/journal")
	if err != nil {
		return nil, err
	}
	blobs := map[string]bool{}
	for _, ref := range strings.Fields(string(refs)) {
		tree, err := w.Repo.Git(ctx, nil, "ls-tree", "-r", "--full-tree", "--format=%(objectname)", ref, "memories/")
		if err != nil {
			return nil, err
		}
		for _, blob := range strings.Fields(string(tree)) {
			blobs[blob] = true
		}
	}
	return blobs, nil
}
