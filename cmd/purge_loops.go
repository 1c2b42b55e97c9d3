package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/worktree"
)

// What a purge makes of loops. What audits found, what was printed, and the messages of a record go as they do elsewhere. A record whose plan
// or state holds what goes is no record without them: it goes whole. What a loop made is the user's code, on a branch, at refs that keep it,
// or in a work tree: nothing of it is changed, and it is told where it holds what went.

// goneLoops are the refs of the records that go whole. One of a loop that goes on is an error.
func (w *workspace) goneLoops(ctx context.Context, p *purgePlan) (gone []string, err error) {
	for _, s := range p.shelves {
		for _, r := range s.refs {
			name, ok := strings.CutPrefix(r.Name, worktree.Refs)
			if !ok {
				continue
			}
			out, err := w.repo.Git(ctx, nil, "ls-tree", "--format=%(objectname)", r.ID, "--", "state.json", "plan.md")
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(strings.Fields(string(out)), func(id string) bool { return p.omit.Blobs[gitstore.ID(id)] }) {
				continue
			}
			if worktree.Held(ctx, w.repo, name) != nil {
				return nil, &failure{exitPerson, fmt.Errorf("purge: the plan of the loop %s holds it, and that goes on", name), "reverie loop cancel " + name}
			}
			gone = append(gone, r.Name)
		}
	}
	return gone, nil
}

// ofLoop reports whether a path in the state folder is of the files of a loop's work tree, or of those that were set aside in it.
func ofLoop(rel string) bool {
	parts := strings.SplitN(rel, "/", 4)
	return len(parts) >= 3 && parts[0] == "loops" && (parts[2] == "tree" || parts[2] == "left")
}

// leftInLoops names where the code that loops made holds what goes.
func (w *workspace) leftInLoops(ctx context.Context, p *purgePlan) ([]leftover, error) {
	refs, err := w.repo.Refs(ctx, strings.TrimSuffix(worktree.Branches, "/"), strings.TrimSuffix(worktree.Kept, "/"))
	if err != nil {
		return nil, err
	}
	var left []leftover
	for _, r := range refs {
		holds, err := w.madeHolds(ctx, p, r)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		if rest, ok := strings.CutPrefix(r.Name, worktree.Kept); ok {
			name, _, _ := strings.Cut(rest, "/")
			left = append(left, leftover{"what the loop " + name + " made, at " + r.Name, "reverie loop remove " + shellWord(name) + ", or: git update-ref -d " + shellWord(r.Name)})
			continue
		}
		branch := strings.TrimPrefix(r.Name, "refs/heads/")
		left = append(left, leftover{"what a loop made, on the branch " + branch, "rebase it, or take it away: git branch -D " + shellWord(branch)})
	}
	loops, err := os.ReadDir(w.loopFolder(""))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, l := range loops {
		dir := w.loopFolder(l.Name())
		for _, sub := range []string{"tree", "left"} {
			if treeHolds(p, filepath.Join(dir, sub)) {
				left = append(left, leftover{"files of a loop in " + filepath.Join(dir, sub), "take it out there, or: reverie loop remove " + shellWord(filepath.Base(dir))})
			}
		}
	}
	return left, err
}

// madeHolds reports whether a commit that no branch but those of loops has, or what came with it, holds what goes.
func (w *workspace) madeHolds(ctx context.Context, p *purgePlan, r git.Ref) (bool, error) {
	out, err := w.repo.Git(ctx, nil, "rev-list", "--objects", "--no-object-names", r.ID, "--not", "--exclude="+strings.TrimPrefix(worktree.Branches, "refs/heads/")+"*", "--branches", "--tags", "--remotes", "--")
	if err != nil {
		return false, err
	}
	files := map[gitstore.ID]string{}
	for _, id := range strings.Fields(string(out)) {
		files[gitstore.ID(id)] = ""
	}
	holds := false
	err = w.readBlobs(ctx, files, func(_ string, _ gitstore.ID, data []byte) { holds = holds || p.in(data) })
	return holds, err
}

// maxOfLoop is the size of a file of a loop's work tree that a purge looks into, in bytes.
const maxOfLoop = 64 << 20

// treeHolds reports whether a file below a folder holds what goes.
func treeHolds(p *purgePlan, dir string) (holds bool) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxOfLoop {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil && p.in(data) {
			holds = true
			return filepath.SkipAll
		}
		return nil
	})
	return holds
}
