package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Branches returns the tips of a branch: first the local one, if present, then the remote-tracking
// ones.
func (r Refs) Branches(ctx context.Context, name string) ([]string, error) {
	if err := CheckRef("refs/heads/" + name); err != nil {
		return nil, nil
	}
	out, err := r.repo.Git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/"+name, "refs/remotes/*/"+name)
	var tips []string
	for line := range strings.Lines(string(out)) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ref == "refs/heads/"+name || strings.HasPrefix(ref, "refs/remotes/") && strings.HasSuffix(ref, "/"+name) {
			tips = append(tips, id)
		}
	}
	return tips, err
}

// Default is the branch on which everyone's code is merged.
type Default struct {
	Name string
	Tips []string // of the local one and of origin's, if present
}

// Default finds the default branch: the named one, else origin's, else the configured one, main or
// master. It returns the zero value if no such branch exists.
func (r Refs) Default(ctx context.Context, name string) (Default, error) {
	if name != "" {
		return r.defaultNamed(ctx, name)
	}
	if d, err := r.defaultNamed(ctx, r.originHead(ctx)); err != nil || len(d.Tips) > 0 {
		return d, err
	}
	s, err := r.repo.config.settings(ctx) // costs a process if the configuration was not read yet
	if err != nil {
		return Default{}, err
	}
	return r.defaultNamed(ctx, s["init.defaultbranch"], "main", "master")
}

// defaultNamed returns the first of the branches that exists.
func (r Refs) defaultNamed(ctx context.Context, names ...string) (Default, error) {
	for _, name := range names {
		d := Default{Name: name}
		for _, ref := range []string{"refs/heads/" + name, "refs/remotes/origin/" + name} {
			if CheckRef(ref) != nil {
				continue
			}
			id, err := r.Read(ctx, ref)
			if err == nil {
				d.Tips = append(d.Tips, id)
			} else if !errors.Is(err, ErrNoRef) && !errors.Is(err, ErrBrokenRef) {
				return Default{}, err
			}
		}
		if len(d.Tips) > 0 {
			return d, nil
		}
	}
	return Default{}, nil
}

// originHead returns the branch that origin's HEAD names, or "".
func (r Refs) originHead(ctx context.Context) string {
	const ref, branches = "refs/remotes/origin/HEAD", "refs/remotes/origin/"
	text := ""
	if r.repo.RefFormat == "files" {
		data, err := os.ReadFile(filepath.Join(r.files.dir, filepath.FromSlash(ref)))
		if err != nil {
			return ""
		}
		text = strings.TrimPrefix(string(data), "ref: ")
	} else if out, err := r.repo.Git(ctx, nil, "symbolic-ref", "--quiet", ref); err == nil {
		text = string(out)
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(text), branches)
	if !ok {
		return ""
	}
	return name
}

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
