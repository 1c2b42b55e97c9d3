package git

import (
	"context"
	"path/filepath"
	"strings"
)

// WorkTrees are the folders of all work trees that git has on record, this one's first: also of
// those whose folder is gone and that git has not pruned yet. A repository whose own is bare has
// only those that were added.
func (r *Repo) WorkTrees(ctx context.Context) ([]string, error) {
	out, err := r.Git(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var all []string
	seen := map[string]bool{"": true, r.CommonDir: true} // the second for a submodule, of which git does not know better
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
