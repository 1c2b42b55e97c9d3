package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Restore resets the work tree, and the branch, to a commit. With keep, a ref first keeps the
// differences as a commit; later commits are always kept. Files left out of commits stay: ignored
// ones in place, changed ones in the folder left of the loop, with changes in submodules. A
// person's work tree is never reset.
func (p *Place) Restore(ctx context.Context, tip string, keep bool, now time.Time) (changed bool, err error) {
	if p.theirs {
		return false, nil
	}
	if err := p.Check(); err != nil {
		return false, err
	}
	if err := p.settle(); err != nil {
		return false, err
	}
	if err := p.attach(ctx); err != nil {
		return false, err
	}
	head, err := p.Tip(ctx)
	if err != nil {
		return false, err
	}
	reset, err := submodules{p}.reset(ctx, tip, now)
	if err != nil {
		return false, err
	}
	tree, left, index, err := p.stage(ctx, tip, tip)
	defer index.giveUp()
	if err != nil {
		return false, err
	}
	want, err := treeOf(ctx, p.repo, tip)
	if err != nil {
		return false, err
	}
	if tree == want && head == tip {
		return reset, index.install()
	}
	if keep || head != tip {
		saved := head
		if before, err := treeOf(ctx, p.repo, head); err != nil {
			return false, err
		} else if before != tree {
			if saved, err = p.write(ctx, tree, head, Message{Subject: "loop: what an interrupted iteration of " + p.name + " left"}, now); err != nil {
				return false, err
			}
		}
		if saved != tip {
			if err := p.backup(ctx, saved); err != nil {
				return false, err
			}
		}
	}
	for _, l := range left {
		if err := p.aside(ctx, tip, l.Path, now); err != nil {
			return false, err
		}
	}
	if head != tip {
		if err := p.moveBranch(ctx, tip, head, "loop: an interrupted iteration begins anew"); err != nil {
			return false, err
		}
	}
	if err := index.install(); err != nil {
		return false, err
	}
	_, err = p.git(ctx, "", nil, "read-tree", "--reset", "-u", tip)
	return true, err
}

// Kept is the prefix of the refs that keep a loop's commits after they left all branches: Kept +
// name + "/1" and so on. They are code, so they are apart from our knowledge.
const Kept = "refs/reverie-kept/"

// backup keeps a commit that is about to leave all branches, unless the last kept one is the same.
func (p *Place) backup(ctx context.Context, commit string) error {
	unlock, err := p.repo.State().Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	refs, err := p.repo.Refs().List(ctx, Kept+p.name)
	if err != nil {
		return err
	}
	last := 0
	for _, r := range refs {
		if r.ID == commit {
			return nil
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(r.Name, Kept+p.name+"/")); err == nil {
			last = max(last, n)
		}
	}
	return p.repo.Refs().Move(ctx, fmt.Sprintf("%s%s/%d", Kept, p.name, last+1), commit, "", "loop: kept")
}

// aside moves an uncommitted file away if the commit has a file in its place.
func (p *Place) aside(ctx context.Context, tip, name string, now time.Time) error {
	entry, err := p.repo.Git(ctx, nil, "ls-tree", tip, "--", ":(literal)"+name)
	if err != nil || len(entry) == 0 {
		return err
	}
	to := p.leftAt(now, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Rename(filepath.Join(p.Dir, filepath.FromSlash(name)), to)
}
