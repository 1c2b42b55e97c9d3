package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Place is the work tree of a loop: a linked one in the state folder, or the user's own. Only the
// holder of the lease uses one.
type Place struct {
	Dir     string // top of the work tree
	InPlace bool   // the user's own: its files are never reset

	Sandbox Sandbox // the zero value: none

	repo   *git.Repo
	screen screen
	name   string
	folder string        // the loop's in the state folder
	branch string        // whole name of the ref
	theirs bool          // a person works in it: its files are never reset, and git's locks are theirs
	sealed bool          // for a sandbox: it contains no .git
	hand   bool          // only that person's commits are the work
	within time.Duration // limit for reading the work to be committed; stageTime except in tests
}

// PlaceOf returns the place of a loop. It may not exist yet, and is not created.
func PlaceOf(repo *git.Repo, s State, scanner *redact.Scanner) (*Place, error) {
	dir, err := folderOf(repo, s.Name)
	if err != nil {
		return nil, err
	}
	p := &Place{
		Dir: filepath.Join(dir, "tree"), repo: repo, name: s.Name, folder: dir, branch: s.Branch,
		hand: s.Settings.Agent == Hand, within: stageTime,
	}
	if s.InPlace != "" {
		p.Dir, p.InPlace = s.InPlace, true
	}
	p.sealed = s.Settings.Sandboxed() && !p.InPlace && !p.hand
	p.theirs = p.InPlace || p.hand
	p.screen = screen{repo, scanner, p.Dir, s.Settings.MaxFile}
	return p, nil
}

// makeTime bounds the time that git takes to create or restore a work tree.
const makeTime = 10 * time.Minute

// stageTime bounds reading and scanning the work to be committed: enough for some gigabytes.
const stageTime = 10 * time.Minute

// Make creates branch and work tree at a commit, as far as they are missing. The error wraps
// ErrTaken if the branch is at another commit. No hook runs.
func (p *Place) Make(ctx context.Context, base string) error {
	if p.InPlace {
		_, err := p.gitDir()
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	if gitDir, err := p.gitDir(); err == nil && p.made(gitDir) {
		return p.seal()
	}
	if err := p.clear(); err != nil { // the leftovers of a killed start
		return err
	}
	if err := p.moveBranch(ctx, base, "", "loop: begin "+p.name); err != nil {
		if now, err2 := p.repo.Refs().Read(ctx, p.branch); err2 != nil || now != base {
			return fmt.Errorf("branch %s: %w (%w)", strings.TrimPrefix(p.branch, "refs/heads/"), ErrTaken, err)
		}
	}
	_, err := p.repo.Git(ctx, nil, "worktree", "add", "--quiet", "--lock", "--reason", "reverie loop "+p.name, p.Dir, strings.TrimPrefix(p.branch, "refs/heads/"))
	if err != nil {
		return err
	}
	gitDir, err := p.gitDir()
	if err == nil {
		err = filterNotes{p}.note(ctx, gitDir)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(gitDir, madeFile), nil, 0o600)
	}
	if err != nil {
		return err
	}
	return p.seal()
}

// madeFile is in the git directory of a work tree that git has finished making.
const madeFile = "reverie-loop"

func (p *Place) made(gitDir string) bool {
	_, err := os.Lstat(filepath.Join(gitDir, madeFile))
	info, err2 := os.Lstat(p.Dir)
	return err == nil && err2 == nil && info.IsDir()
}

// Rollback undoes a failed start. It removes the unused work tree, and the branch if that is still
// where it began.
func (p *Place) Rollback(ctx context.Context, base string) error {
	if p.InPlace {
		return nil
	}
	if err := p.clear(); err != nil {
		return err
	}
	if now, err := p.repo.Refs().Read(ctx, p.branch); err == nil && now == base {
		return p.repo.Refs().Delete(ctx, p.branch, base)
	}
	return nil
}

// clear removes an unused work tree, and git's record of it.
func (p *Place) clear() error {
	if gitDir, err := p.gitDir(); err == nil {
		if err := os.RemoveAll(gitDir); err != nil {
			return err
		}
	}
	return os.RemoveAll(p.Dir)
}

// gitDir returns the git directory of the work tree. The error wraps ErrGone if it is missing.
func (p *Place) gitDir() (string, error) {
	if p.InPlace {
		if p.repo.WorkTree != p.Dir {
			return "", fmt.Errorf("the loop works in %s: %w", p.Dir, ErrGone)
		}
		return p.repo.GitDir, nil
	}
	files, _ := filepath.Glob(filepath.Join(file.Literal(p.repo.CommonDir), "worktrees", "*", "gitdir"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		at := filepath.FromSlash(strings.TrimSuffix(string(text), "\n"))
		if !filepath.IsAbs(at) { // since git 2.48, if the user likes
			at = filepath.Join(filepath.Dir(name), at)
		}
		if filepath.Dir(at) == p.Dir {
			return filepath.Dir(name), nil
		}
	}
	return "", fmt.Errorf("git has no work tree %s on record: %w", p.Dir, ErrGone)
}

// Check returns an error wrapping ErrGone unless the work tree exists.
func (p *Place) Check() error {
	if info, err := os.Lstat(p.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: %w", p.Dir, ErrGone)
	}
	_, err := p.gitDir()
	return err
}

// git runs git on the work tree. It tolerates line endings that a checkout would write differently.
// index is the file to use as index; "" means the work tree's own.
func (p *Place) git(ctx context.Context, index string, stdin []byte, args ...string) ([]byte, error) {
	cmd, err := p.command(ctx, index, args...)
	if err != nil {
		return nil, err
	}
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	return git.Run(cmd)
}

func (p *Place) command(ctx context.Context, index string, args ...string) (*exec.Cmd, error) {
	gitDir, err := p.gitDir()
	if err != nil {
		return nil, err
	}
	cmd := p.repo.Command(ctx, append([]string{"--git-dir=" + gitDir, "--work-tree=" + p.Dir, "-c", "core.fsync=all", "-c", "core.fsyncMethod=batch", "-c", "core.safecrlf=false"}, args...)...)
	cmd.Dir = p.Dir
	if index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
	}
	if p.sealed {
		off, err := git.NoFilters(ctx, p.repo, gitDir)
		if err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Env, off...)
	}
	return cmd, nil
}

// Tip returns the commit of the branch.
func (p *Place) Tip(ctx context.Context) (string, error) { return p.repo.Refs().Read(ctx, p.branch) }

// moveBranch moves the branch by compare-and-swap.
func (p *Place) moveBranch(ctx context.Context, to, from, why string) error {
	unlock, err := p.repo.State().Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return p.repo.Refs().Move(ctx, p.branch, to, from, why)
}

// attach makes HEAD of the work tree name the branch again after an agent moved it. It does not
// touch a person's HEAD: the error then wraps ErrRefused.
func (p *Place) attach(ctx context.Context) error {
	out, err := p.git(ctx, "", nil, "symbolic-ref", "--quiet", "HEAD")
	if err == nil && strings.TrimSpace(string(out)) == p.branch {
		return nil
	}
	if p.theirs {
		return fmt.Errorf("%s is not on the branch %s any more: %w", p.Dir, strings.TrimPrefix(p.branch, "refs/heads/"), ErrRefused)
	}
	_, err = p.git(ctx, "", nil, "symbolic-ref", "-m", "loop: back on its branch", "HEAD", p.branch)
	return err
}

// settle removes the remains of an agent's killed git: locks in the loop's own git directory and on
// its branch, and an unfinished merge or rebase. In a person's work tree it removes only our own
// lock.
func (p *Place) settle() error {
	gitDir, err := p.gitDir()
	if err != nil {
		return err
	}
	if p.theirs {
		return p.indexLock(gitDir).drop() // the previous holder of the lease was killed
	}
	for _, name := range []string{"index.lock", "HEAD.lock", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE", "rebase-merge", "rebase-apply", "sequencer"} {
		if err := os.RemoveAll(filepath.Join(gitDir, name)); err != nil {
			return err
		}
	}
	return p.repo.Refs().ClearLock(p.branch)
}

// ready prepares a place in a sandbox for git.
func (s Sandbox) ready(ctx context.Context) error {
	if s.Ready == nil {
		return nil
	}
	return s.Ready(ctx)
}

// Clean returns an error wrapping ErrDirty if the work tree has changes or new files that git does
// not ignore.
func (p *Place) Clean(ctx context.Context) error {
	if p.sealed {
		return p.cleanSealed(ctx)
	}
	if err := (submodules{p}).clean(ctx, false); err != nil {
		return err
	}
	out, err := p.git(ctx, "", nil, "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return err
	}
	if len(out) > 0 {
		first, _, _ := bytes.Cut(out, []byte{0})
		return fmt.Errorf("%s: %w (%s …)", p.Dir, ErrDirty, strings.TrimSpace(string(first)))
	}
	return nil
}

// Remove removes the work tree if it and its submodules are clean and the branch holds tip. If the
// folder is already gone, it removes git's record. Ignored files go too; the branch stays.
func (p *Place) Remove(ctx context.Context, tip string) error {
	if p.InPlace {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	if _, err := p.gitDir(); errors.Is(err, ErrGone) {
		return nil
	} else if err != nil {
		return err
	}
	now, err := p.Tip(ctx)
	if err != nil {
		return err
	}
	if holds, err := p.repo.History().IsAncestor(ctx, tip, now); err != nil || !holds {
		return fmt.Errorf("the branch does not hold %.12s: %w", tip, errors.Join(ErrDirty, err))
	}
	if _, err := os.Lstat(p.Dir); errors.Is(err, os.ErrNotExist) { // removed without git
		return p.clear()
	}
	if err := p.Clean(ctx); err != nil {
		return err
	}
	if err := (submodules{p}).clean(ctx, true); err != nil {
		return err
	}
	// git would look into it, or not know it
	if _, err := os.Lstat(filepath.Join(p.Dir, ".git")); p.sealed || errors.Is(err, os.ErrNotExist) {
		return p.clear()
	}
	args := []string{"worktree", "remove"}
	if inside, err := Submodules(ctx, p.repo, now); err != nil {
		return err
	} else if len(inside) > 0 { // git does not check whether they are clean
		args = append(args, "--force")
	}
	if _, err := p.repo.Git(ctx, nil, "worktree", "unlock", p.Dir); err != nil && !strings.Contains(err.Error(), "is not locked") {
		return err
	}
	_, err = p.repo.Git(ctx, nil, append(args, p.Dir)...)
	return err
}

// Hand is the agent of a loop in which a person codes. A commit on the branch, made in the work
// tree and reported by git's hooks, ends an iteration's coding. Uncommitted changes are left alone.
const Hand = "hand"

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
		if err := p.moveBranch(ctx, tip, head, "loop: an interrupted iteration begins again"); err != nil {
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
	entry, err := p.repo.History().Entry(ctx, tip, name)
	if err != nil || entry.Mode == "" {
		return err
	}
	to := p.leftAt(now, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Rename(filepath.Join(p.Dir, filepath.FromSlash(name)), to)
}
