package worktree

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// entry is a file, a link or a submodule of a commit.
type entry struct {
	path string
	head string // "100644 blob ID"
}

// entries are the entries of a commit, in the order of their paths, without folders.
type entries []entry

// entriesOf asks git for them, in one call.
func entriesOf(ctx context.Context, repo *git.Repo, commit string) (entries, error) {
	out, err := repo.Git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var all entries
	for line := range strings.SplitSeq(string(out), "\x00") {
		if head, path, found := strings.Cut(line, "\t"); found {
			all = append(all, entry{path, head})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

func (all entries) search(path string) (at int, found bool) {
	return slices.BinarySearchFunc(all, path, func(e entry, path string) int { return strings.Compare(e.path, path) })
}

// head returns mode and id of a path, or "" without such an entry.
func (all entries) head(path string) string {
	if at, found := all.search(path); found {
		return all[at].head
	}
	return ""
}

// has reports whether a path is an entry, or a folder with one.
func (all entries) has(path string) bool {
	path = strings.TrimSuffix(path, "/")
	if _, found := all.search(path); found {
		return true
	}
	at, _ := all.search(path + "/")
	return at < len(all) && strings.HasPrefix(all[at].path, path+"/")
}

// submodules returns the submodules among them.
func (all entries) submodules() (found []submodule) {
	for _, e := range all {
		if strings.HasPrefix(e.head, "160000 ") {
			found = append(found, submodule{e.path, strings.Fields(e.head)[2]})
		}
	}
	return found
}
