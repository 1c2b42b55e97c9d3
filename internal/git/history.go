package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// History asks real git about commits and their changes. It writes nothing and runs no configured
// program. Ids may be abbreviated; they must be hexadecimal or come from git.
type History struct{ repo *Repo }

// History returns the repository's history. It does no I/O.
func (r *Repo) History() History { return History{r} }

// Commits returns the whole id of the commit that each revision names, or "" for an unknown one.
func (h History) Commits(ctx context.Context, revs ...string) ([]string, error) {
	var in strings.Builder
	for _, rev := range revs {
		if rev == "" || rev[0] == '-' || strings.ContainsAny(rev, "\n\r\x00") {
			rev = "-" // names nothing
		}
		in.WriteString(rev + "^{commit}\n")
	}
	out, err := h.repo.Git(ctx, strings.NewReader(in.String()), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	ids := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(ids) != len(revs) {
		return nil, fmt.Errorf("git cat-file: %d answers to %d questions", len(ids), len(revs))
	}
	for i, id := range ids {
		if !h.repo.ObjectFormat.IsID(id) {
			ids[i] = ""
		}
	}
	return ids, nil
}

// Entry returns what a commit has at a path from its top: a file, a folder or a submodule. It
// returns the zero TreeEntry if there is nothing.
func (h History) Entry(ctx context.Context, commit, path string) (TreeEntry, error) {
	out, err := h.repo.Git(ctx, nil, "ls-tree", "-z", "--full-tree", commit, "--", ":(literal)"+path)
	head, _, _ := strings.Cut(string(out), "\t")
	if fields := strings.Fields(head); err == nil && len(fields) == 3 {
		return TreeEntry{Mode: fields[0], Name: path, ID: fields[2]}, nil
	}
	return TreeEntry{}, err
}

// Committed returns the committer's date of a commit.
func (h History) Committed(ctx context.Context, commit string) (time.Time, error) {
	out, err := h.repo.Git(ctx, nil, "show", "--no-patch", "--no-show-signature", "--format=%ct", commit)
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// Authored returns the author's dates of the newest n commits that are reachable from a tip, but
// from none of the others.
func (h History) Authored(ctx context.Context, tip string, others []string, n int) (dates []time.Time, err error) {
	out, err := h.repo.Git(ctx, nil, slices.Concat([]string{"log", "--no-show-signature", "--format=%at", "--max-count=" + strconv.Itoa(n), tip, "--not"}, others, []string{"--"})...)
	for line := range strings.Lines(string(out)) {
		seconds, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return dates, err
		}
		dates = append(dates, time.Unix(seconds, 0))
	}
	return dates, err
}

// Before returns the newest commit on the first-parent line of ref that is not younger than at, or
// "".
func (h History) Before(ctx context.Context, ref string, at time.Time) (string, error) {
	out, err := h.repo.Git(ctx, nil, "rev-list", "--first-parent", "--max-count=1", "--before="+strconv.FormatInt(at.Unix(), 10), ref, "--")
	return strings.TrimSpace(string(out)), err
}

// IsAncestor reports whether a commit is reachable from another, or equal to it.
func (h History) IsAncestor(ctx context.Context, commit, from string) (bool, error) {
	if commit == from {
		return true, nil
	}
	_, err := h.repo.Git(ctx, nil, "merge-base", "--is-ancestor", commit, from)
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// MergeBase returns the best common ancestor of a commit and any of others, or "".
func (h History) MergeBase(ctx context.Context, commit string, others ...string) (string, error) {
	out, err := h.repo.Git(ctx, nil, append([]string{"merge-base", commit}, others...)...)
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Forks lists the older commits of base on which tip has commits that base lacks.
func (h History) Forks(ctx context.Context, base, tip string) (forks []string, err error) {
	out, err := h.repo.Git(ctx, nil, "rev-list", "--boundary", tip, "^"+base, "--")
	for _, line := range strings.Fields(string(out)) {
		if id, old := strings.CutPrefix(line, "-"); old && id != base {
			forks = append(forks, id)
		}
	}
	return forks, err
}

// Between lists the non-merge commits reachable from tip and not from base, newest first, at most
// n. With paths, it lists only commits that touch one of them.
func (h History) Between(ctx context.Context, base, tip string, n int, paths ...string) ([]string, error) {
	args := []string{"--literal-pathspecs", "rev-list", "--no-merges", "--max-count=" + strconv.Itoa(n), tip, "^" + base, "--"}
	out, err := h.repo.Git(ctx, nil, append(args, paths...)...)
	return strings.Fields(string(out)), err
}

// ChangedPaths lists the files that differ between two commits.
func (h History) ChangedPaths(ctx context.Context, from, to string) ([]string, error) {
	out, err := h.repo.Git(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	if len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

// plainDiff makes a diff independent of the configuration.
var plainDiff = []string{"-p", "-r", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--full-index", "--unified=3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/"}

// PatchID returns git's stable patch id of all changes between two commits, or "" without changes.
func (h History) PatchID(ctx context.Context, from, to string) (string, error) {
	ids, err := h.patchIDs(ctx, "", append(append([]string{"diff-tree"}, plainDiff...), from, to)...)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// PatchIDs returns the stable patch ids of commits, in no order. Empty commits have no patch id.
func (h History) PatchIDs(ctx context.Context, commits []string) ([]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	return h.patchIDs(ctx, strings.Join(commits, "\n")+"\n", append([]string{"diff-tree", "--stdin", "--root"}, plainDiff...)...)
}

// patchIDs pipes the output of a git command into git patch-id.
func (h History) patchIDs(ctx context.Context, stdin string, args ...string) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	diff := h.repo.Command(ctx, append([]string{"-c", "diff.suppressBlankEmpty=false"}, args...)...)
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
	out, err := h.repo.Git(ctx, patch, "patch-id", "--stable")
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
func (h History) Renames(ctx context.Context, from, to string) (map[string]string, error) {
	out, err := h.repo.Git(ctx, nil, "diff-tree", "-r", "-M", "-l1000", "--diff-filter=R", "--name-status", "-z", from, to)
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
func (h History) Removed(ctx context.Context, from, path string) (commit, parent string, err error) {
	out, err := h.repo.Git(ctx, nil, "--literal-pathspecs", "rev-list", "--max-count=1", "--parents", "--no-merges", from, "--", path)
	f := strings.Fields(string(out))
	if err != nil || len(f) < 2 {
		return "", "", err
	}
	return f[0], f[1], nil
}

// OnBranches returns which of the commits, given by whole ids, are on a local or remote-tracking
// branch. It costs two processes for any number of commits.
func (h History) OnBranches(ctx context.Context, commits []string) (map[string]bool, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	here, err := h.Commits(ctx, commits...)
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
	out, err := h.repo.Git(ctx, strings.NewReader(in.String()), "rev-list", "--stdin", "--not", "--branches", "--remotes")
	if err != nil {
		return nil, err
	}
	for id := range strings.FieldsSeq(string(out)) {
		delete(on, id)
	}
	return on, nil
}

// Missing lists the commits in the history of a tip that the histories of others lack, newest
// first.
func (h History) Missing(ctx context.Context, tip string, others ...string) ([]string, error) {
	args := []string{"rev-list", "--topo-order", tip}
	for _, o := range others {
		args = append(args, "^"+o)
	}
	out, err := h.repo.Git(ctx, nil, append(args, "--")...)
	return strings.Fields(string(out)), err
}

// Reachable returns the objects that any ref, reflog, index or HEAD of this repository reaches. It
// lists the whole repository. For a partial clone it returns an error, because git would have to
// fetch.
func (h History) Reachable(ctx context.Context, objects []string, more ...string) (map[string]bool, error) {
	args := []string{"rev-list", "--objects", "--no-object-names"}
	if len(more) == 0 {
		more = []string{"--all", "--reflog", "--indexed-objects"}
	}
	if h.repo.Partial {
		return nil, errors.New("a partial clone cannot tell what it still needs")
	}
	cmd := h.repo.Command(ctx, append(args, more...)...)
	stderr := &limitedBuffer{most: 4096}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, newError(cmd, nil, err)
	}
	asked, found := map[string]bool{}, map[string]bool{}
	for _, id := range objects {
		asked[id] = true
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if id := lines.Text(); asked[id] {
			found[id] = true
		}
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		return nil, newError(cmd, stderr.bytes(), err)
	}
	return found, nil
}

// Whole reports whether commits and their histories are complete here.
func (h History) Whole(ctx context.Context, ids ...string) bool { return h.whole(ctx, ids) }

// Complete reports whether commits, their histories and all files are complete here.
func (h History) Complete(ctx context.Context, ids ...string) bool {
	return h.whole(ctx, ids, "--objects")
}

func (h History) whole(ctx context.Context, ids []string, options ...string) bool {
	have, err := h.repo.Have(ctx, ids)
	if err != nil || len(have) < len(ids) {
		return false
	}
	if len(ids) > 0 {
		_, err = h.repo.Git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), append([]string{"rev-list", "--quiet", "--stdin"}, options...)...)
	}
	return err == nil
}
