package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Uncommitted returns those of some files that differ from HEAD, relative to the top of the work
// tree. files are relative to dir. It leaves out files outside of the work tree and ignored ones.
// It runs no filter of the repository, so a file with one may count as changed.
func Uncommitted(ctx context.Context, r *Repo, dir string, files []string) (changed []string, err error) {
	args := []string{"--literal-pathspecs", "--git-dir=" + r.GitDir, "--work-tree=" + r.WorkTree,
		"status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all", "--"}
	none := len(args)
	for _, file := range files {
		if rel, err := filepath.Rel(unlinked(r.WorkTree), filepath.Join(unlinked(dir), filepath.FromSlash(file))); err == nil && filepath.IsLocal(rel) {
			args = append(args, filepath.ToSlash(rel))
		}
	}
	if r.WorkTree == "" || len(args) == none {
		return nil, nil
	}
	off, err := NoFilters(ctx, r, r.GitDir)
	if err != nil {
		return nil, err
	}
	cmd := r.Command(ctx, args...)
	cmd.Dir = r.WorkTree
	cmd.Env = append(cmd.Env, off...)
	out, err := Run(cmd)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if len(entry) > 3 { // two letters for the state, and a space
			changed = append(changed, entry[3:])
		}
	}
	return changed, err
}

// unlinked returns a folder without links, or as it is if it cannot be followed.
func unlinked(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// NoFilters returns variables for a git command that disable all configured filters, by name.
func NoFilters(ctx context.Context, r *Repo, gitDir string) ([]string, error) {
	out, err := r.Git(ctx, nil, "--git-dir="+gitDir, "config", "-z", "--name-only", "--get-regexp", `^filter\.`)
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 { // not found
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var keys []string
	for key := range strings.SplitSeq(string(out), "\x00") {
		if at := strings.LastIndexByte(key, '.'); at > len("filter") {
			keys = append(keys, key[:at])
		}
	}
	slices.Sort(keys)
	var env []string
	n := 0
	for _, key := range slices.Compact(keys) {
		for _, kv := range [][2]string{{".clean", ""}, {".smudge", ""}, {".process", ""}, {".required", "false"}} {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key+kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, kv[1]))
			n++
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n)), nil
}
