package git

import (
	"context"
	"slices"
	"strings"
)

// prefetch gets many objects of a partial clone from its promisor remote at once, because git would
// fetch them one by one. It runs the command that git itself runs, and leaves FETCH_HEAD alone. It
// ignores failures: the reader then finds the objects missing.
func (r *Repo) prefetch(ctx context.Context, ids []string) {
	c, err := r.remoteConfig(ctx)
	if err != nil || r.offline || !r.mayFetch() {
		return
	}
	remotes := c.promisorNames()
	if len(remotes) == 0 {
		return
	}
	r.Git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin", "--", remotes[0])
}

// lazyFetch reports whether git may fetch missing objects of a partial clone by itself. It may not
// if the repository's own configuration would run a program, or leads to a remote that a sync
// refuses. A read must not do more than a sync; the object is then missing.
func (r *Repo) lazyFetch() bool {
	c, err := r.remoteConfig(context.Background())
	return err == nil && c.programs("", true) == nil && c.promisors(r) == nil
}

// promisorNames lists the remotes that hold a partial clone's missing objects.
func (c listing) promisorNames() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, key := range c.order {
		if key == "extensions.partialclone" {
			for _, name := range c.all[key] {
				add(name)
			}
		}
		name, ok := strings.CutSuffix(key, ".promisor")
		if name, found := strings.CutPrefix(name, "remote."); ok && found && !falsity(c.last(key)) {
			add(name)
		}
	}
	return names
}
