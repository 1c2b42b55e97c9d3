package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Head returns this worktree's commit and branch; the branch is "" when detached. Before the first
// commit the error wraps ErrNoRef, and the branch is still returned.
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
		if !r.ObjectFormat.IsID(head) {
			return "", "", fmt.Errorf("read HEAD: %w", ErrBrokenRef)
		}
		return head, "", nil
	}
	id, err = r.Refs().Read(ctx, ref)
	return id, strings.TrimPrefix(ref, "refs/heads/"), err
}
