package git

import (
	"context"
	"path/filepath"
	"strings"
)

// WorkTrees returns the folders of all work trees that git has on record, this one's first. It
// includes missing ones that git has not pruned yet. For a bare repository it lists only the added
// ones.
func (r *Repo) WorkTrees(ctx context.Context) ([]string, error) {
	out, err := r.Git(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var all []string
	// the second for a submodule, which git does not report
	seen := map[string]bool{"": true, r.CommonDir: true}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			all = append(all, dir)
		}
	}
	add(r.WorkTree)
	for entry := range strings.SplitSeq(string(out), "\x00\x00") {
		dir, bare := "", false
		for line := range strings.SplitSeq(entry, "\x00") {
			if path, ok := strings.CutPrefix(line, "worktree "); ok {
				dir = filepath.FromSlash(path)
			}
			bare = bare || line == "bare"
		}
		if !bare {
			add(dir)
		}
	}
	return all, nil
}
