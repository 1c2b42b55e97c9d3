// Package container runs the commands of a loop in containers (Runner). From the work tree that
// they write, it passes on only content that is safe for the host (Guard).
//
// A Tree serves one loop at a time, and only the process that runs the loop may use it.
package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
)

// Tree is a work tree that containers write into.
type Tree struct {
	Repo    *git.Repo
	Base    string                 // the base commit of the loop
	Dir     string                 // its top
	Removed func([]sandbox.Change) // receives the removed files
}

// scrub removes content from the work tree that git must not meet. It keeps a folder that git takes
// for a repository if the base has exactly the same: it is part of the project, and in the user's
// own work tree too. An error wraps worktree.ErrSandbox.
func (t Tree) scrub(ctx context.Context) error {
	gone, err := sandbox.Scrub(t.Dir, func(bare string) (bool, error) { return t.asCommitted(ctx, bare) })
	t.Removed(gone)
	if err != nil {
		return fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
	}
	return nil
}

// refused maps the changed paths that must not leave a sandbox to the reasons.
func (t Tree) refused(ctx context.Context, maxFile int64, changed []string) (map[string]string, error) {
	wanted := map[string]bool{}
	var gone []string
	for _, name := range changed {
		name = strings.TrimSuffix(name, "/")
		wanted[name] = true
		if _, err := os.Lstat(filepath.Join(t.Dir, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, name)
		}
	}
	before := sync.OnceValues(func() (map[string]committed, error) { return committedAt(ctx, t.Repo, t.Base, ".") })
	how := sandbox.Collecting{
		MaxFile: max(maxFile, 0), MaxFiles: 1 << 20, Gone: gone,
		Skip: func(p string, folder bool) bool { return !folder && !wanted[p] },
		Before: func(p string) (string, bool) {
			all, err := before()
			if err != nil || all[p].mode != "120000" {
				return "", false
			}
			target, err := t.Repo.Git(ctx, nil, "cat-file", "blob", all[p].blob)
			return string(target), err == nil
		},
	}
	files, no, err := sandbox.Collect(ctx, t.Dir, how)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
	}
	all := map[string]string{}
	for _, r := range no {
		all[r.Path] = "it was refused: " + r.Why
	}
	// whether a folder equals the base: git also lists files that were only rewritten
	same := map[string]bool{}
	for _, f := range files {
		if f.Runs != sandbox.BareRepository && f.Runs != sandbox.OtherRepository {
			continue
		}
		folder := path.Dir(f.Path)
		if _, known := same[folder]; !known {
			if same[folder], err = t.asCommitted(ctx, folder); err != nil {
				return nil, err
			}
		}
		if !same[folder] {
			all[f.Path] = f.Runs
		}
	}
	return all, nil
}
