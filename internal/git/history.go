package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Questions to real git about the history of the user's code. They write nothing and run no
// configured program. Ids may be abbreviated; they must be hexadecimal or come from git.

// Commits returns the whole id of the commit that each revision names, or "" for an unknown one.
func (r *Repo) Commits(ctx context.Context, revs ...string) ([]string, error) {
	var in strings.Builder
	for _, rev := range revs {
		if rev == "" || rev[0] == '-' || strings.ContainsAny(rev, "\n\r\x00") {
			rev = "-" // names nothing
		}
		in.WriteString(rev + "^{commit}\n")
	}
	out, err := r.Git(ctx, strings.NewReader(in.String()), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	ids := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(ids) != len(revs) {
		return nil, fmt.Errorf("git cat-file: %d answers to %d questions", len(ids), len(revs))
	}
	for i, id := range ids {
		if !r.ObjectFormat.IsID(id) {
			ids[i] = ""
		}
	}
	return ids, nil
}

// Committed returns the committer's date of a commit.
func (r *Repo) Committed(ctx context.Context, commit string) (time.Time, error) {
	out, err := r.Git(ctx, nil, "show", "--no-patch", "--no-show-signature", "--format=%ct", commit)
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// Before returns the newest commit on the first-parent line of ref that is not younger than at, or
// "".
func (r *Repo) Before(ctx context.Context, ref string, at time.Time) (string, error) {
	out, err := r.Git(ctx, nil, "rev-list", "--first-parent", "--max-count=1", "--before="+strconv.FormatInt(at.Unix(), 10), ref, "--")
	return strings.TrimSpace(string(out)), err
}

// IsAncestor reports whether a commit is reachable from another, or equal to it.
func (r *Repo) IsAncestor(ctx context.Context, commit, from string) (bool, error) {
	if commit == from {
		return true, nil
	}
	_, err := r.Git(ctx, nil, "merge-base", "--is-ancestor", commit, from)
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// MergeBase returns the best common ancestor of a commit and any of others, or "".
func (r *Repo) MergeBase(ctx context.Context, commit string, others ...string) (string, error) {
	out, err := r.Git(ctx, nil, append([]string{"merge-base", commit}, others...)...)
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Between lists the non-merge commits reachable from tip and not from base, newest first, at most
// n. With paths, it lists only commits that touch one of them.
func (r *Repo) Between(ctx context.Context, base, tip string, n int, paths ...string) ([]string, error) {
	args := []string{"--literal-pathspecs", "rev-list", "--no-merges", "--max-count=" + strconv.Itoa(n), tip, "^" + base, "--"}
	out, err := r.Git(ctx, nil, append(args, paths...)...)
	return strings.Fields(string(out)), err
}

// ChangedPaths lists the files that differ between two commits.
func (r *Repo) ChangedPaths(ctx context.Context, from, to string) ([]string, error) {
	out, err := r.Git(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	if len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

// plainDiff makes a diff independent of the configuration.
var plainDiff = []string{"-p", "-r", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--full-index", "--unified=3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/"}

// PatchID returns git's stable patch id of all changes between two commits, or "" without changes.
func (r *Repo) PatchID(ctx context.Context, from, to string) (string, error) {
	ids, err := r.patchIDs(ctx, "", append(append([]string{"diff-tree"}, plainDiff...), from, to)...)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// PatchIDs returns the stable patch ids of commits, in no order. Empty commits have no patch id.
func (r *Repo) PatchIDs(ctx context.Context, commits []string) ([]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	return r.patchIDs(ctx, strings.Join(commits, "\n")+"\n", append([]string{"diff-tree", "--stdin", "--root"}, plainDiff...)...)
}

// patchIDs pipes the output of a git command into git patch-id.
func (r *Repo) patchIDs(ctx context.Context, stdin string, args ...string) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	diff := r.Command(ctx, append([]string{"-c", "diff.suppressBlankEmpty=false"}, args...)...)
	diff.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	diff.Stderr = &stderr
	patch, err := diff.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := diff.Start(); err != nil {
		return nil, newError(diff, nil, err)
	}
	out, err := r.Git(ctx, patch, "patch-id", "--stable")
	if err != nil {
		cancel()
	}
	if derr := diff.Wait(); derr != nil && err == nil {
		err = newError(diff, stderr.Bytes(), derr)
	}
	var ids []string
	for line := range strings.Lines(string(out)) {
		if id, _, ok := strings.Cut(line, " "); ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Renames maps the old paths of renamed files to the new ones, as git detects them.
func (r *Repo) Renames(ctx context.Context, from, to string) (map[string]string, error) {
	out, err := r.Git(ctx, nil, "diff-tree", "-r", "-M", "-l1000", "--diff-filter=R", "--name-status", "-z", from, to)
	if err != nil {
		return nil, err
	}
	renames := map[string]string{}
	f := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(f); i += 3 { // R087, old, new
		renames[f[i+1]] = f[i+2]
	}
	return renames, nil
}

// Removed returns the newest commit reachable from another that removed a file, with its first
// parent. Both are "" if no commit did. It costs a walk of the history.
func (r *Repo) Removed(ctx context.Context, from, path string) (commit, parent string, err error) {
	out, err := r.Git(ctx, nil, "--literal-pathspecs", "rev-list", "--max-count=1", "--parents", "--no-merges", from, "--", path)
	f := strings.Fields(string(out))
	if err != nil || len(f) < 2 {
		return "", "", err
	}
	return f[0], f[1], nil
}

// OnBranches returns which of the commits, given by whole ids, are on a local or remote-tracking
// branch. It costs two processes for any number of commits.
func (r *Repo) OnBranches(ctx context.Context, commits []string) (map[string]bool, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	here, err := r.Commits(ctx, commits...)
	if err != nil {
		return nil, err
	}
	on := map[string]bool{}
	for _, id := range here {
		if id != "" {
			on[id] = true
		}
	}
	if len(on) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for id := range on {
		in.WriteString(id + "\n")
	}
	out, err := r.Git(ctx, strings.NewReader(in.String()), "rev-list", "--stdin", "--not", "--branches", "--remotes")
	if err != nil {
		return nil, err
	}
	for id := range strings.FieldsSeq(string(out)) {
		delete(on, id)
	}
	return on, nil
}
