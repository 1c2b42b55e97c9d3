package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Head returns the commit that this worktree is at, and the branch, "" when it is detached. The
// error wraps ErrNoRef before the first commit; the branch is returned all the same.
func (r *Repo) Head(ctx context.Context) (id, branch string, err error) {
	if r.RefFormat != "files" {
		out, err := r.Git(ctx, nil, "--git-dir="+r.GitDir, "rev-parse", "--verify", "--quiet", "HEAD")
		if name, nerr := r.Git(ctx, nil, "--git-dir="+r.GitDir, "symbolic-ref", "--quiet", "HEAD"); nerr == nil {
			branch = strings.TrimPrefix(strings.TrimSpace(string(name)), "refs/heads/")
		}
		return strings.TrimSpace(string(out)), branch, err
	}
	text, err := os.ReadFile(filepath.Join(r.GitDir, "HEAD"))
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	head := strings.TrimSpace(string(text))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		if !r.IsID(head) {
			return "", "", fmt.Errorf("read HEAD: %w", ErrBrokenRef)
		}
		return head, "", nil
	}
	id, err = r.ReadRef(ctx, ref)
	return id, strings.TrimPrefix(ref, "refs/heads/"), err
}
