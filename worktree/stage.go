package worktree

import (
	"bytes"
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
	s := &staging{Place: p, index: index.path, parent: parent}
	if err := s.look(ctx); err != nil {
		return "", nil, index, err
	}
	for _, name := range s.changed {
		if err := s.choose(ctx, base, name); err != nil {
			return "", nil, index, err
		}
	}
	if err := s.write(ctx); err != nil {
		return "", s.left, index, err
	}
	slices.SortFunc(s.left, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	out, err := p.git(ctx, index.path, nil, "write-tree")
	return strings.TrimSpace(string(out)), s.left, index, err
}

// staging decides for each changed path whether it goes into a tree.
type staging struct {
	*Place
	index  string // path of our index
	parent string // commit
	before entries

	changed []string
	refused map[string]string // by the sandbox: path to reason
	ignored map[string]bool
	filters map[string]string // of paths in a sealed place
	same    map[string]bool   // unchanged there, but for a filter

	left  []LeftOut
	add   bytes.Buffer // paths that git reads
	plain []string     // paths that we read, without filters
	info  bytes.Buffer // entries, in the form of update-index --index-info
}

// look finds the changed paths and what is known about them.
func (s *staging) look(ctx context.Context) (err error) {
	if s.changed, err = s.Place.changed(ctx, s.index, s.parent); err != nil {
		return err
	}
	if s.Sandbox.Refused != nil {
		if s.refused, err = s.Sandbox.Refused(ctx, s.changed); err != nil {
			return err
		}
	}
	for name, why := range s.refused {
		// git does not list a pipe, or the content of a nested repository
		if !slices.Contains(s.changed, name) {
			s.left = append(s.left, LeftOut{Path: name, Why: why})
		}
	}
	if s.before, err = entriesOf(ctx, s.repo, s.parent); err != nil {
		return err
	}
	inner, err := submodules{s.Place}.changed(ctx, s.before.submodules())
	if err != nil {
		return err
	}
	for sub, why := range inner {
		s.left = append(s.left, LeftOut{Path: sub.Name, Why: why, Rule: ruleOfSubmodule})
		s.changed = slices.DeleteFunc(s.changed, func(name string) bool { return strings.TrimSuffix(name, "/") == sub.Name })
		fmt.Fprintf(&s.info, "160000 %s\t%s\x00", sub.ID, sub.Name)
	}
	if s.ignored, err = s.Place.ignored(ctx, s.index, s.before, s.changed); err != nil {
		return err
	}
	s.filters, s.same, err = filterNotes{s.Place}.changed(ctx, s.index, s.changed)
	return err
}

// choose adds a changed path, or leaves it out.
func (s *staging) choose(ctx context.Context, base, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.same[name] {
		s.reset(name)
		return nil
	}
	why := s.refused[name]
	if why == "" {
		var err error
		if why, err = s.screen.refuse(ctx, base, name); err != nil {
			return err
		}
	}
	switch {
	case s.ignored[name]:
		s.left = append(s.left, LeftOut{Path: name, Why: "git ignores it", Ignored: true})
		s.reset(name)
	case why == unlisted:
		s.reset(name)
	case why == gone:
		s.remove(name)
	case why != "":
		s.left = append(s.left, LeftOut{Path: name, Why: why})
		s.reset(name)
	case s.sealed:
		s.plain = append(s.plain, name)
	default:
		s.add.WriteString(name + "\x00")
	}
	return nil
}

// reset takes a path back to the parent's state.
func (s *staging) reset(name string) {
	if e := s.before.find(name); e.Mode != "" {
		fmt.Fprintf(&s.info, "%s %s\t%s\x00", e.Mode, e.ID, name)
	} else {
		s.remove(name)
	}
}

// remove takes a path out of the tree.
func (s *staging) remove(name string) {
	fmt.Fprintf(&s.info, "0 %s\t%s\x00", strings.Repeat("0", len(s.parent)), name)
}

// write brings the chosen paths into the index.
func (s *staging) write(ctx context.Context) error {
	taken, err := savePlain(ctx, s.repo, s.Dir, s.plain, func(name, blob string) (bool, error) {
		held, why, err := s.Sandbox.holds(ctx, s.before, name, blob, s.filters[name])
		if err == nil && held {
			s.left = append(s.left, LeftOut{Path: name, Why: why, Rule: ruleOfContent(blob)})
			s.reset(name)
		}
		return held, err
	})
	if err != nil {
		return err
	}
	s.info.Write(taken)
	if s.info.Len() > 0 {
		if _, err := s.git(ctx, s.index, s.info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if s.add.Len() > 0 {
		_, err = s.git(ctx, s.index, s.add.Bytes(), "update-index", "-z", "--add", "--replace", "--stdin")
	}
	return err
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
