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

// ConfiguredHook is a hook that git's configuration defines.
type ConfiguredHook struct {
	Command  string
	Events   []string
	Disabled bool
}

// ConfiguredHooks returns the hooks that the configuration of a work tree defines, by name. Git
// runs them since 2.54; see ConfiguresHooks.
func ConfiguredHooks(ctx context.Context, r *Repo) (map[string]ConfiguredHook, error) {
	out, err := r.fromHere(ctx, "config", "-z", "--get-regexp", `^hook\..*\.(command|event|enabled)$`)
	if failed, ok := err.(*Error); ok && failed.Code == 1 { // none
		return nil, nil
	}
	all := map[string]ConfiguredHook{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		at := strings.LastIndexByte(key, '.')
		name, ok := strings.CutPrefix(key[:max(at, 0)], "hook.")
		if !ok {
			continue
		}
		h := all[name]
		switch key[at+1:] {
		case "command":
			h.Command = value
		case "event":
			if h.Events = append(h.Events, value); value == "" {
				h.Events = nil // git forgets those before
			}
		case "enabled":
			h.Disabled = falsity(value)
		}
		all[name] = h
	}
	return all, err
}

// fromHere runs git as the user would in the current folder, with the configured hooks.
func (r *Repo) fromHere(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + r.GitDir}, args...)...)
	cmd.Dir = r.folder()
	cmd.Env = cleanEnviron()
	return run(cmd)
}
