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
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// A loop commits nothing of a submodule, because its commits belong to another repository. So
// changes there are reported, and removed before the plan's commands run: the commands would pass
// on a tree that the branch lacks.

// ruleOfSubmodule is the rule of a finding about a submodule that differs from the branch.
const ruleOfSubmodule = "submodule"

// Submodules lists the submodules of a commit, in order. A loop's own work tree begins without
// their files.
func Submodules(ctx context.Context, repo *git.Repo, commit string) (paths []string, err error) {
	all, err := entriesOf(ctx, repo, commit)
	for _, s := range all.submodules() {
		paths = append(paths, s.Name)
	}
	return paths, err
}

// submodules compares and resets the submodules in the work tree of a place.
type submodules struct{ place *Place }

// changed returns the submodules whose state in the work tree differs from the commit,
// with the reasons.
func (m submodules) changed(ctx context.Context, all []git.TreeEntry) (map[git.TreeEntry]string, error) {
	if len(all) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(m.place.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	changed := map[git.TreeEntry]string{}
	for _, s := range all {
		path := filepath.FromSlash(s.Name)
		if info, err := root.Lstat(path); err != nil || !info.IsDir() || beyond(root, path) {
			continue // the commit says that it is deleted, or its replacement
		}
		why, err := m.differs(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", s.Name, err)
		}
		if why != "" {
			changed[s] = why
		}
	}
	return changed, nil
}

func (m submodules) differs(ctx context.Context, s git.TreeEntry) (why string, err error) {
	dir := filepath.Join(m.place.Dir, filepath.FromSlash(s.Name))
	if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
		files, err := os.ReadDir(dir)
		if err != nil || len(files) == 0 {
			return "", err
		}
		return "it lies in the folder of a submodule, which is not checked out here", nil
	}
	if why, err := m.strange(ctx, s); why != "" || err != nil {
		return why, err
	}
	head, err := m.git(ctx, s, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return "it is a submodule without a commit", nil
	}
	if strings.TrimSpace(string(head)) != s.ID {
		return "it is a submodule at another commit than the branch says", nil
	}
	out, err := m.git(ctx, s, "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=none")
	if len(out) > 0 {
		why = "it is a submodule with changes that are not committed"
	}
	return why, err
}

// strange returns why git must not work in a submodule: its .git names a repository elsewhere,
// which belongs to another owner.
func (m submodules) strange(ctx context.Context, s git.TreeEntry) (string, error) {
	out, err := m.git(ctx, s, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return "it is a submodule that git cannot read", nil
	}
	gitDir, err := m.place.gitDir()
	if err != nil {
		return "", err
	}
	at, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)))
	if err != nil {
		return "", err
	}
	for _, own := range []string{filepath.Join(gitDir, "modules"), filepath.Join(m.place.Dir, filepath.FromSlash(s.Name), ".git")} {
		if own, err = filepath.EvalSymlinks(own); err == nil && (at == own || strings.HasPrefix(at, own+string(filepath.Separator))) {
			return "", nil
		}
	}
	return "it is a submodule whose repository is elsewhere", nil
}

// git runs git on a submodule of the work tree.
func (m submodules) git(ctx context.Context, s git.TreeEntry, args ...string) ([]byte, error) {
	dir := filepath.Join(m.place.Dir, filepath.FromSlash(s.Name))
	cmd := m.place.repo.Command(ctx, append([]string{"--git-dir=" + filepath.Join(dir, ".git"), "--work-tree=" + dir, "-c", "core.safecrlf=false"}, args...)...)
	cmd.Dir = dir
	return git.Run(cmd)
}

// reset resets the submodules to their state in a commit. It moves other content into the
// folder left of the loop, commits as a bundle, and reports whether there was any. It does nothing
// in a person's work tree.
func (m submodules) reset(ctx context.Context, tip string, now time.Time) (bool, error) {
	if m.place.theirs {
		return false, nil
	}
	all, err := entriesOf(ctx, m.place.repo, tip)
	if err != nil {
		return false, err
	}
	changed, err := m.changed(ctx, all.submodules())
	if err != nil {
		return false, err
	}
	for s := range changed {
		if err := m.resetOne(ctx, s, now); err != nil {
			return true, fmt.Errorf("submodule %s: %w", s.Name, err)
		}
	}
	return len(changed) > 0, nil
}

func (m submodules) resetOne(ctx context.Context, s git.TreeEntry, now time.Time) error {
	dir, to := filepath.Join(m.place.Dir, filepath.FromSlash(s.Name)), m.place.leftAt(now, s.Name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	known := false // git has the commit to return to
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		why, err := m.strange(ctx, s)
		if err != nil {
			return err
		}
		if why == "" {
			_, err = m.git(ctx, s, "cat-file", "-e", s.ID+"^{commit}")
			known = err == nil
		}
	}
	if !known { // as when nothing is checked out
		if err := os.Rename(dir, to); err != nil {
			return err
		}
		return os.Mkdir(dir, 0o755)
	}
	if ahead, err := m.git(ctx, s, "rev-list", "-1", "HEAD", "^"+s.ID); err == nil && len(ahead) > 0 {
		if _, err := m.git(ctx, s, "bundle", "create", "--quiet", to+bundled, "HEAD", "^"+s.ID); err != nil {
			return err
		}
	}
	out, err := m.git(ctx, s, "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=none")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if len(entry) < 4 { // XY and a blank, then the path
			continue
		}
		path := filepath.FromSlash(strings.TrimSuffix(string(entry[3:]), "/"))
		if _, err := root.Lstat(path); err != nil || beyond(root, path) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, path)), 0o700); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, path), filepath.Join(to, path)); err != nil {
			return err
		}
	}
	_, err = m.git(ctx, s, "checkout", "--quiet", "--force", "--detach", "--no-recurse-submodules", s.ID)
	return err
}

// leftAt returns an unused path to which a removed path of the work tree is moved.
func (p *Place) leftAt(now time.Time, name string) string {
	at := filepath.Join(p.folder, "left", now.UTC().Format("20060102T150405"))
	for n := 1; ; n++ {
		to := filepath.Join(at, filepath.FromSlash(name))
		if n > 1 {
			to = filepath.Join(fmt.Sprintf("%s-%d", at, n), filepath.FromSlash(name))
		}
		_, err := os.Lstat(to)
		if _, err2 := os.Lstat(to + bundled); err != nil && err2 != nil {
			return to
		}
	}
}

// bundled is the suffix of a file that keeps commits.
const bundled = ".bundle"

// clean returns an error wrapping ErrDirty if a submodule differs from the branch. If the
// work tree goes, so does a commit that exists only in it, which is an error too.
func (m submodules) clean(ctx context.Context, goes bool) error {
	tip, err := m.place.Tip(ctx)
	if err != nil {
		return err
	}
	all, err := entriesOf(ctx, m.place.repo, tip)
	if err != nil {
		return err
	}
	changed, err := m.changed(ctx, all.submodules())
	if err != nil {
		return err
	}
	for s, why := range changed {
		return fmt.Errorf("%s: %w (%s: %s)", m.place.Dir, ErrDirty, s.Name, why)
	}
	if !goes {
		return nil
	}
	for _, s := range all.submodules() {
		if _, err := os.Lstat(filepath.Join(m.place.Dir, filepath.FromSlash(s.Name), ".git")); err != nil {
			continue
		}
		out, err := m.git(ctx, s, "rev-list", "-1", "HEAD", "--not", "--remotes")
		if err != nil {
			return fmt.Errorf("submodule %s: %w", s.Name, err)
		}
		if len(out) > 0 {
			return fmt.Errorf("%s: %w (%s: the submodule is at a commit that is on no branch of its remote's: push it)", m.place.Dir, ErrDirty, s.Name)
		}
	}
	return nil
}

// entries are the files, links and submodules of a commit, in the order of their paths.
type entries []git.TreeEntry

// entriesOf asks git for them, in one call.
func entriesOf(ctx context.Context, repo *git.Repo, commit string) (entries, error) {
	out, err := repo.Git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var all entries
	for line := range strings.SplitSeq(string(out), "\x00") {
		head, path, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(head); len(fields) == 3 { // mode, type and id
			all = append(all, git.TreeEntry{Mode: fields[0], Name: path, ID: fields[2]})
		}
	}
	slices.SortFunc(all, func(a, b git.TreeEntry) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (all entries) search(path string) (at int, found bool) {
	return slices.BinarySearchFunc(all, path, func(e git.TreeEntry, path string) int { return strings.Compare(e.Name, path) })
}

// find returns the entry of a path, or the zero TreeEntry.
func (all entries) find(path string) git.TreeEntry {
	if at, found := all.search(path); found {
		return all[at]
	}
	return git.TreeEntry{}
}

// has reports whether a path is an entry, or a folder with one.
func (all entries) has(path string) bool {
	path = strings.TrimSuffix(path, "/")
	if _, found := all.search(path); found {
		return true
	}
	at, _ := all.search(path + "/")
	return at < len(all) && strings.HasPrefix(all[at].Name, path+"/")
}

// submodules returns the submodules among them.
func (all entries) submodules() []git.TreeEntry {
	return slices.DeleteFunc(slices.Clone(all), func(e git.TreeEntry) bool { return !e.IsSubmodule() })
}
