package purge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
)

// Loops lose audit findings, output and messages as other stores do. A record whose plan or state
// holds the target goes whole, because it is useless without them. The code that a loop made
// belongs to the user, on a branch, in a kept ref or in a work tree. A purge only reports it.

// goneLoops returns the refs of the records to remove. The record of a running loop is an error.
func (c *Clone) goneLoops(ctx context.Context, p *Plan) (gone []string, err error) {
	for _, s := range p.shelves {
		for _, r := range s.refs {
			name, ok := strings.CutPrefix(r.Name, c.Loops.Records)
			if !ok {
				continue
			}
			out, err := c.Repo.Git(ctx, nil, "ls-tree", "--format=%(objectname)", r.ID, "--", "state.json", "plan.md")
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(strings.Fields(string(out)), func(id string) bool { return p.omit.Blobs[gitstore.ID(id)] }) {
				continue
			}
			if c.Loops.Held(ctx, name) {
				return nil, &Refused{Why: LoopGoesOn, Name: name}
			}
			gone = append(gone, r.Name)
		}
	}
	return gone, nil
}

// leftInLoops lists the places where code made by loops holds the target.
func (c *Clone) leftInLoops(ctx context.Context, p *Plan) ([]Left, error) {
	refs, err := c.Repo.Refs().List(ctx, strings.TrimSuffix(c.Loops.Branches, "/"), strings.TrimSuffix(c.Loops.Kept, "/"))
	if err != nil {
		return nil, err
	}
	var left []Left
	for _, r := range refs {
		holds, err := c.madeHolds(ctx, p, r)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		if rest, ok := strings.CutPrefix(r.Name, c.Loops.Kept); ok {
			name, _, _ := strings.Cut(rest, "/")
			left = append(left, Left{Place: InLoopRef, Name: r.Name, Of: name})
			continue
		}
		left = append(left, Left{Place: InLoopBranch, Name: strings.TrimPrefix(r.Name, "refs/heads/")})
	}
	loops, err := os.ReadDir(c.Loops.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, l := range loops {
		dir := filepath.Join(c.Loops.Dir, l.Name())
		for _, sub := range []string{"tree", "left"} {
			if treeHolds(p, filepath.Join(dir, sub)) {
				left = append(left, Left{Place: InLoopFiles, Name: filepath.Join(dir, sub), Of: l.Name()})
			}
		}
	}
	return left, err
}

// madeHolds reports whether a commit that only loops' branches have, or its content, holds the
// target.
func (c *Clone) madeHolds(ctx context.Context, p *Plan, r git.Ref) (bool, error) {
	out, err := c.Repo.Git(ctx, nil, "rev-list", "--objects", "--no-object-names", r.ID, "--not", "--exclude="+strings.TrimPrefix(c.Loops.Branches, "refs/heads/")+"*", "--branches", "--tags", "--remotes", "--")
	if err != nil {
		return false, err
	}
	files := map[gitstore.ID]string{}
	for _, id := range strings.Fields(string(out)) {
		files[gitstore.ID(id)] = ""
	}
	holds := false
	err = readBlobs(ctx, c.Repo, files, func(_ string, _ gitstore.ID, data []byte) { holds = holds || p.in(data) })
	return holds, err
}

// maxOfLoop bounds the files of a loop's work tree that a purge reads, in bytes.
const maxOfLoop = 64 << 20

// treeHolds reports whether a file below a folder holds the target.
func treeHolds(p *Plan, dir string) (holds bool) {
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
