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
	if err := p.ready(ctx); err != nil {
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
	if p.Refused != nil {
		if refused, err = p.Refused(ctx, changed); err != nil {
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
	inner, err := p.changedSubmodules(ctx, before.submodules())
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
	filters, same, err := p.filtered(ctx, index.path, changed)
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
			why, err = p.refuse(ctx, base, name)
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
	taken, err := p.plain(ctx, plain, func(name, blob string) (bool, error) {
		held, why, err := p.holds(ctx, before, name, blob, filters[name])
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

// gone is refuse's reason for a missing file.
const gone = "gone"

// unlisted is refuse's reason for a submodule that matches the commit but not the index.
const unlisted = "git's index has another commit of the submodule, or none"

// refuse returns why a file must not be committed, or ""; gone means that it is missing.
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
		target, err := root.Readlink(path)
		if err != nil {
			return "", err
		}
		return p.newSecrets(ctx, base, name, []byte(target))
	case info.IsDir():
		if entry, err := p.repo.Git(ctx, nil, "ls-tree", base, "--", ":(literal)"+name); err != nil || bytes.HasPrefix(entry, []byte("160000 ")) {
			return unlisted, err
		}
		if _, err := root.Lstat(filepath.Join(path, ".git")); err == nil {
			return "it is a repository of its own", nil
		}
		return gone, nil // the folder's files have their own paths
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

// beyond reports whether a path leads through something other than a folder: files beyond a link
// are not in this tree.
func beyond(root *os.Root, path string) bool {
	for at := filepath.Dir(path); at != "."; at = filepath.Dir(at) {
		if info, err := root.Lstat(at); err != nil || !info.IsDir() {
			return true
		}
	}
	return false
}

// newSecrets returns why a file's or link's text or path holds a secret that is not in a commit, or
// "". An equal number of secrets does not prove that they are the same, so each counts for itself.
func (p *Place) newSecrets(ctx context.Context, base, name string, text []byte) (string, error) {
	if why, err := p.secretPath(ctx, base, name); why != "" || err != nil {
		return why, err
	}
	_, found := p.scanner.Text(string(text))
	if found.Found == 0 {
		return "", nil
	}
	why := "it holds what looks like a secret (" + rules(found) + ")"
	entry, err := p.repo.Git(ctx, nil, "ls-tree", "--format=%(objecttype) %(objectname)", base, "--", ":(literal)"+name)
	if err != nil {
		return "", err
	}
	id, blob := strings.CutPrefix(strings.TrimSpace(string(entry)), "blob ")
	if !blob { // it was missing, or a folder
		return why, nil
	}
	data, err := p.repo.Git(ctx, nil, "cat-file", "blob", id)
	if err != nil {
		return "", err
	}
	old := string(data)
	before := p.scanner.Values(old)
	for _, v := range p.scanner.Values(string(text)) {
		if !strings.Contains(old, v) && !slices.Contains(before, v) {
			return why, nil
		}
	}
	return "", nil
}

// secretPath returns why the path of a file holds a secret, or "". It accepts a secret if the
// commit already has the folder or file with that name.
func (p *Place) secretPath(ctx context.Context, base, name string) (string, error) {
	_, found := p.scanner.Text(name)
	if found.Found == 0 {
		return "", nil
	}
	for _, v := range p.scanner.Values(name) {
		known := name
		// up to the end of the folder, or file, with the secret
		if at := strings.Index(name, v); at >= 0 {
			end := at + len(v)
			if next := strings.IndexByte(name[end:], '/'); next >= 0 {
				known = name[:end+next]
			}
		}
		if entry, err := p.repo.Git(ctx, nil, "ls-tree", "-z", base, "--", ":(literal)"+known); err != nil || len(entry) == 0 {
			return "its path holds what looks like a secret (" + rules(found) + ")", err
		}
	}
	return "", nil
}
