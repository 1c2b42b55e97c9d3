package git

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
)

// HooksDir returns the absolute path of the hooks folder of this worktree, and the scope that sets
// core.hooksPath: "local", "worktree", "global", "system" or "command". The scope is "" for git's
// default folder.
func (r *Repo) HooksDir(ctx context.Context) (dir, scope string, err error) {
	out, err := r.fromHere(ctx, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return "", "", err
	}
	dir = strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.folder(), dir)
	}
	out, err = r.fromHere(ctx, "config", "--show-scope", "--get", "core.hooksPath")
	if failed, ok := err.(*Error); ok && failed.Code == 1 { // not set
		return dir, "", nil
	}
	scope, _, _ = strings.Cut(string(out), "\t")
	return dir, scope, err
}

// fromHere runs git as the user would in the current folder, with the configured hooks.
func (r *Repo) fromHere(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + r.GitDir}, args...)...)
	cmd.Dir = r.folder()
	cmd.Env = cleanEnviron()
	return run(cmd)
}
