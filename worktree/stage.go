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

// stage writes what is to be committed as a tree, by an index of its own, which the caller removes or installs. Secrets are those that
// base does not have.
func (p *Place) stage(ctx context.Context, base, parent string) (tree string, left []LeftOut, index string, err error) {
	if err := p.ready(ctx); err != nil {
		return "", nil, "", err
	}
	gitDir, err := p.gitDir()
	if err != nil {
		return "", nil, "", err
	}
	if index, err = p.ownIndex(gitDir); err != nil {
		return "", nil, index, err
	}
	if _, err := os.Lstat(filepath.Join(gitDir, "index")); errors.Is(err, fs.ErrNotExist) {
		if _, err = p.git(ctx, index, nil, "read-tree", parent); err != nil {
			return "", nil, index, err
		}
	}
	changed, err := p.changed(ctx, index, parent)
	if err != nil {
		return "", nil, index, err
	}
	var refused map[string]string
	if p.Refused != nil {
		if refused, err = p.Refused(ctx, changed); err != nil {
			return "", nil, index, err
		}
	}
	for name, why := range refused {
		if !slices.Contains(changed, name) { // git does not list a pipe, and what lies in a repository of its own
			left = append(left, LeftOut{Path: name, Why: why})
		}
	}
	ignored, err := p.ignored(ctx, index, parent, changed)
	if err != nil {
		return "", nil, index, err
	}
	filters, same, err := p.filtered(ctx, index, changed)
	if err != nil {
		return "", nil, index, err
	}
	var add, info bytes.Buffer
	var plain []string
	entries := p.entriesOf(ctx, parent)
	back := func(name string) error { // has a path be as the parent has it
		all, err := entries()
		fmt.Fprintf(&info, "%s\t%s\x00", cmp.Or(all[name], "0 "+strings.Repeat("0", len(parent))), name)
		return err
	}
	for _, name := range changed {
		if same[name] {
			if err := back(name); err != nil {
				return "", nil, index, err
			}
			continue
		}
		why, err := refused[name], error(nil)
		if why == "" {
			why, err = p.refuse(ctx, base, name)
		}
		switch {
		case err != nil:
			return "", nil, index, err
		case ignored[name]:
			left = append(left, LeftOut{Path: name, Why: "git ignores it", Ignored: true})
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
		if err := back(name); err != nil {
			return "", nil, index, err
		}
	}
	taken, err := p.plain(ctx, plain, func(name, blob string) (bool, error) {
		held, why, err := p.holds(ctx, entries, name, blob, filters[name])
		if err == nil && held {
			left = append(left, LeftOut{Path: name, Why: why, Rule: RuleOfContent(blob)})
			err = back(name)
		}
		return held, err
	})
	if err != nil {
		return "", nil, index, err
	}
	info.Write(taken)
	if info.Len() > 0 {
		if _, err := p.git(ctx, index, info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return "", left, index, err
		}
	}
	if add.Len() > 0 {
		if _, err := p.git(ctx, index, add.Bytes(), "update-index", "-z", "--add", "--replace", "--stdin"); err != nil {
			return "", left, index, err
		}
	}
	slices.SortFunc(left, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	out, err := p.git(ctx, index, nil, "write-tree")
	return strings.TrimSpace(string(out)), left, index, err
}

// indexMark is in the git directory of a person's work tree while its index.lock is ours.
const indexMark = "index.reverie-loop-lock"

// ownIndex copies the index of the work tree. Where a person works that is done by git's lock protocol, so that no git of the user's changes
// the index before the copy takes its place, or is given up; nobody else writes that of another work tree of a loop's now.
func (p *Place) ownIndex(gitDir string) (string, error) {
	index, flag := filepath.Join(gitDir, "index.reverie-loop"), os.O_TRUNC
	if p.theirs {
		index, flag = filepath.Join(gitDir, "index.lock"), os.O_EXCL
		if err := os.WriteFile(filepath.Join(gitDir, indexMark), nil, 0o600); err != nil {
			return "", err
		}
	}
	os.Remove(index + ".lock")
	to, err := os.OpenFile(index, flag|os.O_CREATE|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		os.Remove(filepath.Join(gitDir, indexMark))
		return "", fmt.Errorf("%s is there: a git is at work in the work tree, or was killed", index)
	}
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(gitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		to.Close()
		return index, os.Remove(index)
	}
	if err == nil {
		_, err = to.Write(data)
	}
	return index, errors.Join(err, to.Close())
}

// giveUp removes an index that stage has made, unless install has taken it.
func (p *Place) giveUp(index string) {
	if index == "" {
		return
	}
	os.Remove(index)
	if p.theirs {
		os.Remove(filepath.Join(filepath.Dir(index), indexMark))
	}
}

// changed are the paths of all that differs from a commit: in the index, in the work tree, and new, but for what git ignores.
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

// ignored are those of some paths that git ignores and that a commit does not have: an agent has added them by force.
func (p *Place) ignored(ctx context.Context, index, commit string, names []string) (map[string]bool, error) {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return beyond(root, filepath.FromSlash(name)) }) // git refuses to look there
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
		if name == "" {
			continue
		}
		entry, err := p.repo.Git(ctx, nil, "ls-tree", "-z", commit, "--", ":(literal)"+name)
		if err != nil {
			return nil, err
		}
		all[name] = len(entry) == 0
	}
	return all, nil
}

// gone is what refuse says of a file that is not there.
const gone = "gone"

// refuse says why a file must not be committed; "" if it may, and gone if it is not there.
func (p *Place) refuse(ctx context.Context, base, name string) (string, error) {
	if rest := strings.TrimSuffix(name, "/"); rest != name {
		return "it is a repository of its own", nil
	}
	if strings.HasPrefix(filepath.Base(name), file.Foreign) {
		return "it is an unfinished file of Reverie's", nil
	}
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	path := filepath.FromSlash(name)
	if beyond(root, path) {
		return gone, nil
	}
	info, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gone, nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return "", nil
	case info.IsDir():
		if entry, err := p.repo.Git(ctx, nil, "ls-tree", base, "--", ":(literal)"+name); err != nil || bytes.HasPrefix(entry, []byte("160000 ")) {
			return "it is a submodule", err
		}
		return gone, nil // what the folder holds has paths of its own
	case !info.Mode().IsRegular():
		return "it is no regular file", nil
	case p.maxFile > 0 && info.Size() > p.maxFile:
		return fmt.Sprintf("it has %d bytes, and the limit is %d", info.Size(), p.maxFile), nil
	}
	text, err := root.ReadFile(path)
	if err != nil {
		return "", err
	}
	return p.newSecrets(ctx, base, name, text)
}

// beyond reports whether a path leads through something that is no folder: what lies beyond a link is not in this tree.
func beyond(root *os.Root, path string) bool {
	for at := filepath.Dir(path); at != "."; at = filepath.Dir(at) {
		if info, err := root.Lstat(at); err != nil || !info.IsDir() {
			return true
		}
	}
	return false
}

// newSecrets says which secrets a text has that the file of a commit has not; "" if there are none.
func (p *Place) newSecrets(ctx context.Context, base, name string, text []byte) (string, error) {
	_, found := p.scanner.Text(string(text))
	if found.Found == 0 {
		return "", nil
	}
	entry, err := p.repo.Git(ctx, nil, "ls-tree", "--format=%(objectname)", base, "--", ":(literal)"+name)
	if err != nil {
		return "", err
	}
	if id := strings.TrimSpace(string(entry)); id != "" {
		old, err := p.repo.Git(ctx, nil, "cat-file", "blob", id)
		if err != nil {
			return "", err
		}
		if _, before := p.scanner.Text(string(old)); before.Found >= found.Found {
			return "", nil
		}
	}
	return "it holds what looks like a secret (" + rules(found) + ")", nil
}
