package cmd

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

// forgetRest ends a purge: everything of it was seen through.
func (w *workspace) forgetRest() error {
	err := os.Remove(filepath.Join(w.state, purgeRest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// leftInRepository names what of the user's still reaches the old history: refs, logs, indexes; and packs,
// which only git gc makes anew.
func (w *workspace) leftInRepository(ctx context.Context, last *purged, reached map[string]bool, left []string, done *purgeJSON) error {
	p, rw := last.plan, last.rw
	old := map[string]bool{}
	for before, now := range rw.New {
		if before != now && reached[string(before)] {
			old[string(before)] = true
		}
	}
	for _, ids := range p.kinds {
		for id := range ids {
			if reached[id] {
				old[id] = true
			}
		}
	}
	if len(old) > 0 {
		refs, err := w.refsTo(ctx, rw)
		if err != nil {
			return err
		}
		for _, r := range refs {
			done.Left = append(done.Left, leftRef(r, last.followed))
		}
		logs := w.logsTo(rw)
		for _, log := range logs {
			if !slices.Contains(refs, log) { // whose log goes with it
				done.Left = append(done.Left, leftLog(log))
			}
		}
		trees, err := w.worktreesOn(ctx, w.config.Ref)
		if err != nil {
			return err
		}
		for _, dir := range trees {
			done.Left = append(done.Left, leftover{"the work tree " + dir + ", which is on the branch, and its index: switch it to another branch", ""})
		}
		if len(refs)+len(logs)+len(trees) == 0 {
			done.Left = append(done.Left, leftover{"an index, a stash or a reflog of yours reaches the old history; which one, git does not say", ""})
		}
	}
	if len(left) > 0 {
		done.Left = append(done.Left, leftover{"packs of this repository: " + count(len(left), "old object", "old objects") + " that nothing reaches", "git gc --prune=now"})
	} else if len(old) > 0 {
		done.Left = append(done.Left, leftover{"the objects those reach; when those are gone", "git gc --prune=now"})
	}
	return nil
}

// refsTo returns the refs, not ours, whose histories hold commits that were replaced.
func (w *workspace) refsTo(ctx context.Context, rw *gitstore.Rewriting) ([]string, error) {
	args := []string{}
	oldest := make([]string, len(rw.Oldest))
	for i := range oldest {
		oldest[i] = string(rw.Oldest[i])
	}
	have, err := w.repo.Have(ctx, oldest) // what nothing reached is removed already
	if err != nil {
		return nil, err
	}
	for _, id := range have {
		args = append(args, "--contains="+id)
		if len(args) == 100 {
			break
		}
	}
	if len(args) == 0 {
		return nil, nil
	}
	refs, err := w.repo.Refs(ctx, args...)
	var names []string
	for _, r := range refs {
		if r.Name != w.config.Ref && !strings.HasPrefix(r.Name, ourRefs) {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// leftRef names a ref that still leads to what went. Where somebody else's purge was followed, the remote has
// let it go already.
func leftRef(name string, followed bool) leftover {
	what := "your ref " + name
	if branch, ok := strings.CutPrefix(name, "refs/remotes/"); ok {
		remote, _, _ := strings.Cut(branch, "/")
		drop := "git update-ref -d " + shellWord(name) // with its log, which a fetch would keep
		if followed {
			return leftover{what, drop + " && git fetch --prune " + shellWord(remote)}
		}
		return leftover{what, "reverie purge --push " + shellWord(remote) + ", or: " + drop}
	}
	if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		return leftover{what, "rebase it, or: git branch -D " + shellWord(branch)}
	}
	if name == "refs/stash" {
		return leftover{"a stash of yours: find it with 'git stash list', and 'git stash drop' that one", ""}
	}
	return leftover{what, "git update-ref -d " + shellWord(name)}
}

// leftLog names a reflog. The log of the stash is the stash.
func leftLog(name string) leftover {
	if name == "refs/stash" {
		return leftRef(name, false)
	}
	return leftover{"the reflog of " + name, "git reflog expire --expire=now " + shellWord(name)}
}

// shellWord is a name as a shell takes it for one word: names of refs come from anybody.
func shellWord(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@+-") == "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// logsTo returns the refs whose logs, not ours, name a commit that was replaced.
func (w *workspace) logsTo(rw *gitstore.Rewriting) []string {
	var out []string
	look := func(dir, prefix string) {
		root := filepath.Join(dir, "logs")
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			name, _ := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			if name == w.config.Ref || strings.HasPrefix(name, ourRefs) {
				return nil
			}
			text, err := os.ReadFile(path)
			if err == nil && namesReplaced(string(text), rw) {
				out = append(out, prefix+name)
			}
			return nil
		})
	}
	look(w.repo.CommonDir, "")
	trees, _ := os.ReadDir(filepath.Join(w.repo.CommonDir, "worktrees"))
	for _, t := range trees {
		look(filepath.Join(w.repo.CommonDir, "worktrees", t.Name()), "worktrees/"+t.Name()+"/")
	}
	slices.Sort(out)
	return out
}

func namesReplaced(log string, rw *gitstore.Rewriting) bool {
	for line := range strings.Lines(log) {
		for i, word := range strings.Fields(line) {
			if to, known := rw.New[gitstore.ID(word)]; i < 2 && known && to != gitstore.ID(word) {
				return true
			}
		}
	}
	return false
}

// worktreesOn lists the work trees that a branch is checked out in.
func (w *workspace) worktreesOn(ctx context.Context, ref string) ([]string, error) {
	out, err := w.repo.Git(ctx, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	var dirs []string
	dir := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			dir = path
		} else if line == "branch "+ref {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// leftNames names what a rewriting keeps: the people who committed, and the names of refs.
func (w *workspace) leftNames(ctx context.Context, p *purgePlan, done *purgeJSON) error {
	if p.local {
		return nil
	}
	names := []string{}
	for _, s := range p.shelves {
		for _, r := range s.refs {
			if slices.Contains(p.loops, r.Name) {
				continue // it is gone
			}
			names = append(names, r.Name)
			if p.in([]byte(r.Name)) {
				done.Left = append(done.Left, leftover{"the name of " + r.Name + ": give its commit another name, then take this one away", "git update-ref -d " + shellWord(r.Name)})
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	out, err := w.repo.Git(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), "log", "--no-show-signature", "--format=%an <%ae> %cn <%ce>", "--stdin")
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		if p.in([]byte(strings.TrimSuffix(line, "\n"))) {
			n++
		}
	}
	if n > 0 {
		done.Left = append(done.Left, leftover{"author or committer of " + count(n, "commit", "commits") + ": people and dates are kept", ""})
	}
	return nil
}

// leftEverywhere names the places that no command of ours can look into, or may change.
func (w *workspace) leftEverywhere(ctx context.Context, last *purged, done *purgeJSON) {
	p, rw := last.plan, last.rw
	if w.repo.WorkTree != "" {
		file := filepath.Join(w.repo.WorkTree, filepath.FromSlash(w.config.Agents))
		if data, err := os.ReadFile(file); err == nil && p.in(data) {
			done.Left = append(done.Left, leftover{w.config.Agents + " of this work tree", "reverie render agents-md; where it was committed, it is in the code's own history"})
		}
	}
	if len(rw.Gone) == 0 {
		return
	}
	for _, remote := range w.remotesWith(ctx) {
		if remote == done.Pushed {
			continue
		}
		done.Left = append(done.Left, leftover{"the remote " + remote + ", if it was ever published there", "reverie purge --push " + shellWord(remote)})
	}
	done.Left = append(done.Left, leftover{"other clones until they sync; forks, pull requests and caches of a forge; backups; transcripts that agents keep themselves", ""})
}

// remotesWith lists the remotes that a branch of ours was seen on.
func (w *workspace) remotesWith(ctx context.Context) []string {
	var out []string
	refs, err := w.repo.Refs(ctx, "refs/remotes/", ourRefs+"remotes/")
	if err != nil {
		return nil
	}
	branch := w.branch()
	add := func(r git.Ref, prefix, suffix string) {
		if rest, ok := strings.CutPrefix(r.Name, prefix); ok {
			if remote, ok := strings.CutSuffix(rest, suffix); ok && !slices.Contains(out, remote) {
				out = append(out, remote)
			}
		}
	}
	for _, r := range refs {
		add(r, "refs/remotes/", "/"+branch)
		add(r, ourRefs+"remotes/", "/memory")
	}
	for i := range out {
		out[i] = strings.TrimSuffix(out[i], "/new")
	}
	slices.Sort(out)
	return slices.Compact(out)
}
