package purge

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// dropOld removes the unreachable loose objects among rest. It returns the reachable ones, and in
// left those that are still here, in packs or because later forbids removal.
//
// A running git may make any object reachable, such as a fetch that found it here. So dropOld
// removes nothing while git runs, or if a ref moved since the objects were listed.
func (c *Clone) dropOld(ctx context.Context, rest []string) (reached map[string]bool, left []string, later *Left, err error) {
	set := map[string]bool{}
	for _, id := range rest {
		set[id] = true
	}
	if err := c.Repo.Upkeep().DropCommitGraph(rest); err != nil {
		// This comes first: git calls a graph with missing commits damaged.
		return nil, rest, nil, err
	}
	if file := c.gitAtWork(); file != "" {
		return nil, rest, &Left{Place: WhileGitWorks, Name: file}, nil
	}
	before, err := c.Repo.Refs().List(ctx)
	if err != nil {
		return nil, rest, nil, err
	}
	if reached, err = c.Repo.History().Reachable(ctx, set); err != nil {
		return nil, rest, &Left{Place: WhileGitFails, Name: err.Error()}, nil
	}
	now, err := c.Repo.Refs().List(ctx)
	if err != nil {
		return nil, rest, nil, err
	}
	if c.gitAtWork() != "" || !slices.Equal(before, now) {
		return reached, rest, &Left{Place: WhileRefsMove}, nil
	}
	gone := slices.DeleteFunc(slices.Clone(rest), func(id string) bool { return reached[id] })
	left, err = c.Repo.Upkeep().DropLoose(ctx, gone)
	if err != nil {
		return reached, left, nil, err
	}
	return reached, left, nil, c.stillWhole(ctx, before)
}

// stillWhole returns an error if a new ref lacks objects.
func (c *Clone) stillWhole(ctx context.Context, before []git.Ref) error {
	now, err := c.Repo.Refs().List(ctx)
	for _, r := range now {
		if !slices.Contains(before, r) && !c.Repo.History().Whole(ctx, r.ID) {
			err = errors.Join(err, &Refused{Why: CameMeanwhile, Name: r.Name})
		}
	}
	return err
}

// atWork bounds the age of files that show git at work; older ones are left by a dead process.
const atWork = time.Minute

// gitAtWork returns a file of the repository that shows a running git, or "".
func (c *Clone) gitAtWork() (found string) {
	root := c.Repo.CommonDir
	objects := filepath.Join(root, "objects")
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		name := d.Name()
		rel, _ := filepath.Rel(root, path)
		working := strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_pack_") || strings.HasPrefix(name, "tmp_idx_") ||
			filepath.Dir(path) == objects && strings.Contains(name, "incoming")
		if working {
			if info, err := d.Info(); err == nil && time.Since(info.ModTime()) < atWork {
				found = filepath.ToSlash(rel)
				return fs.SkipAll
			}
		}
		switch {
		case !d.IsDir():
		case path == c.State.Dir, rel == "logs", rel == "hooks", rel == "modules", filepath.Dir(path) == objects && len(name) == 2:
			return fs.SkipDir
		}
		return nil
	})
	return found
}
