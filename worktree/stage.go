package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// stage writes the work as a tree, by its own index, which the caller installs or gives up, even
// after an error. Only secrets that base lacks count.
func (p *Place) stage(ctx context.Context, base, parent string) (tree string, left []LeftOut, index *ownIndex, err error) {
	if err := p.Sandbox.ready(ctx); err != nil {
		return "", nil, nil, err
	}
	gitDir, err := p.gitDir()
	if err != nil {
		return "", nil, nil, err
	}
	if index, err = p.takeIndex(gitDir); err != nil {
		return "", nil, index, err
	}
	if _, err := os.Lstat(filepath.Join(gitDir, "index")); errors.Is(err, fs.ErrNotExist) {
		if _, err = p.git(ctx, index.path, nil, "read-tree", parent); err != nil {
			return "", nil, index, err
		}
	}
	changed, err := p.changed(ctx, index.path, parent)
	if err != nil {
		return "", nil, index, err
	}
	var refused map[string]string
	if p.Sandbox.Refused != nil {
		if refused, err = p.Sandbox.Refused(ctx, changed); err != nil {
			return "", nil, index, err
		}
	}
	for name, why := range refused {
		// git does not list a pipe, or the content of a nested repository
		if !slices.Contains(changed, name) {
			left = append(left, LeftOut{Path: name, Why: why})
		}
	}
	before, err := entriesOf(ctx, p.repo, parent)
	if err != nil {
		return "", nil, index, err
	}
	inner, err := submodules{p}.changed(ctx, before.submodules())
	if err != nil {
		return "", nil, index, err
	}
	var add, info bytes.Buffer
	for s, why := range inner {
		left = append(left, LeftOut{Path: s.path, Why: why, Rule: ruleOfSubmodule})
		changed = slices.DeleteFunc(changed, func(name string) bool { return strings.TrimSuffix(name, "/") == s.path })
		fmt.Fprintf(&info, "160000 %s\t%s\x00", s.commit, s.path)
	}
	ignored, err := p.ignored(ctx, index.path, before, changed)
	if err != nil {
		return "", nil, index, err
	}
	filters, same, err := filterNotes{p}.changed(ctx, index.path, changed)
	if err != nil {
		return "", nil, index, err
	}
	var plain []string
	back := func(name string) { // resets a path to the parent's state
		fmt.Fprintf(&info, "%s\t%s\x00", cmp.Or(before.head(name), "0 "+strings.Repeat("0", len(parent))), name)
	}
	for _, name := range changed {
		if err := ctx.Err(); err != nil {
			return "", nil, index, err
		}
		if same[name] {
			back(name)
			continue
		}
		why, err := refused[name], error(nil)
		if why == "" {
			why, err = p.screen.refuse(ctx, base, name)
		}
		switch {
		case err != nil:
			return "", nil, index, err
		case ignored[name]:
			left = append(left, LeftOut{Path: name, Why: "git ignores it", Ignored: true})
		case why == unlisted: // and it is put back
		case why == gone:
			fmt.Fprintf(&info, "0 %s\t%s\x00", strings.Repeat("0", len(parent)), name)
			continue
		case why == "" && p.sealed:
			plain = append(plain, name)
			continue
		case why == "":
			add.WriteString(name + "\x00")
			continue
		default:
			left = append(left, LeftOut{Path: name, Why: why})
		}
		back(name)
	}
	taken, err := savePlain(ctx, p.repo, p.Dir, plain, func(name, blob string) (bool, error) {
		held, why, err := p.Sandbox.holds(ctx, before, name, blob, filters[name])
		if err == nil && held {
			left = append(left, LeftOut{Path: name, Why: why, Rule: ruleOfContent(blob)})
			back(name)
		}
		return held, err
	})
	if err != nil {
		return "", nil, index, err
	}
	info.Write(taken)
	if info.Len() > 0 {
		if _, err := p.git(ctx, index.path, info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return "", left, index, err
		}
	}
	if add.Len() > 0 {
		if _, err := p.git(ctx, index.path, add.Bytes(), "update-index", "-z", "--add", "--replace", "--stdin"); err != nil {
			return "", left, index, err
		}
	}
	slices.SortFunc(left, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	out, err := p.git(ctx, index.path, nil, "write-tree")
	return strings.TrimSpace(string(out)), left, index, err
}

// changed returns the paths of all differences from a commit: in the index, in the work tree, and
// new files, except ignored ones.
func (p *Place) changed(ctx context.Context, index, commit string) ([]string, error) {
	tracked, err := p.git(ctx, index, nil, "diff-index", "--name-only", "-z", "--no-renames", "--ignore-submodules=dirty", commit, "--")
	if err != nil {
		return nil, err
	}
	staged, err := p.git(ctx, index, nil, "diff-index", "--cached", "--name-only", "-z", "--no-renames", commit, "--")
	if err != nil {
		return nil, err
	}
	fresh, err := p.git(ctx, index, nil, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, out := range [][]byte{tracked, staged, fresh} {
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name != "" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// ignored returns the ignored paths, and for each whether the previous commit lacks it: an agent
// then added it by force.
func (p *Place) ignored(ctx context.Context, index string, before entries, names []string) (map[string]bool, error) {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return nil, err
	}
	// git refuses to look there
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return beyond(root, filepath.FromSlash(name)) })
	root.Close()
	if len(names) == 0 {
		return nil, nil
	}
	out, err := p.git(ctx, index, []byte(strings.Join(names, "\x00")+"\x00"), "check-ignore", "--no-index", "-z", "--stdin")
	var failed *git.Error
	if errors.As(err, &failed) && failed.Code == 1 { // none of them
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			all[name] = !before.has(name)
		}
	}
	return all, nil
}

// ownIndex is a copy of a work tree's index, which later replaces the original or is dropped. In a
// person's work tree we hold git's index lock meanwhile, so that the person's git cannot change it.
type ownIndex struct {
	path   string // of the copy; missing if the work tree has no index
	gitDir string
	lock   indexLock
	ended  bool // it was installed, or given up
}

// takeIndex copies the index of the work tree.
func (p *Place) takeIndex(gitDir string) (*ownIndex, error) {
	index := &ownIndex{path: filepath.Join(gitDir, "index.reverie-loop"), gitDir: gitDir}
	if p.theirs {
		index.lock = p.indexLock(gitDir)
		if err := index.lock.take(); err != nil {
			return nil, err
		}
	}
	if err := index.copy(); err != nil {
		index.giveUp()
		return nil, err
	}
	return index, nil
}

func (i *ownIndex) copy() error {
	if err := i.clear(); err != nil {
		return err
	}
	name := filepath.Join(i.gitDir, "index")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(i.path, data, 0o644); err != nil {
		return err
	}
	// git distrusts files changed in the second in which an index was written
	return os.Chtimes(i.path, info.ModTime(), info.ModTime())
}

// clear removes the copy, and the lock left by a killed git that wrote it.
func (i *ownIndex) clear() error {
	for _, name := range []string{i.path + ".lock", i.path} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// install makes the copy the index of the work tree. giveUp then has no effect.
func (i *ownIndex) install() error {
	if err := os.Rename(i.path, filepath.Join(i.gitDir, "index")); err != nil {
		return err
	}
	i.ended = true
	return i.lock.drop()
}

// giveUp removes the copy, unless install has used it. A nil receiver is valid.
func (i *ownIndex) giveUp() {
	if i == nil || i.ended {
		return
	}
	i.ended = true
	i.clear()
	i.lock.drop() // else the next settle does
}

// indexLock is git's lock of an index. git writes the new index into its own lock; ours names its
// owner. The zero value is no lock.
type indexLock struct{ path, mark string }

// indexLock returns the loop's lock. Only the holder of the loop's lease takes one, so the holder
// may also drop it.
func (p *Place) indexLock(gitDir string) indexLock {
	return indexLock{filepath.Join(gitDir, "index.lock"), "reverie loop " + p.name + "\n"}
}

// take creates the lock.
func (l indexLock) take() error {
	lock, err := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there: a git is at work in the work tree, or was killed", l.path)
	}
	if err != nil {
		return err
	}
	_, err = lock.WriteString(l.mark)
	if err = errors.Join(err, lock.Close()); err != nil {
		os.Remove(l.path)
	}
	return err
}

// drop removes the lock if the loop owns it.
func (l indexLock) drop() error {
	if text, err := file.Read(l.path, int64(len(l.mark))); l.path == "" || err != nil || string(text) != l.mark {
		return nil // missing, or another owner's
	}
	return os.Remove(l.path)
}
