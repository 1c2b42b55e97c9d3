package git

import (
	"context"
	"strings"
)

// prefetch gets many objects of a partial clone from its promisor remote at once: left to itself, git
// would ask for them one by one. It runs the command that git runs for its own commands, and leaves
// FETCH_HEAD alone. What could not be had is found missing by whoever reads it.
func (r *Repo) prefetch(ctx context.Context, ids []string) {
	s, err := r.settings(ctx)
	if err != nil || !r.mayFetch() {
		return
	}
	remote := s.promisor()
	if remote == "" {
		return
	}
	r.Git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin", "--", remote)
}

// lazyFetch reports whether git may fetch by itself what a partial clone does not have. Not where the
// repository's own configuration would run a program on the way: reading must not do what a sync
// refuses.
func (r *Repo) lazyFetch() bool {
	c, err := r.remoteConfig(context.Background())
	return err == nil && c.programs("", true) == nil
}

// promisor is the name of a remote that keeps what a partial clone does not have, or "".
func (s settings) promisor() string {
	if remote := s.all["extensions.partialclone"]; remote != "" {
		return remote
	}
	for key, value := range s.all {
		if name, ok := strings.CutSuffix(key, ".promisor"); ok && truth(value) {
			return strings.TrimPrefix(name, "remote.")
		}
	}
	return ""
}
