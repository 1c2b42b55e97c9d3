package cmd

import (
	"context"
	"strings"
)

// The states that check --diff is given: how they are named.

// seenAs is the ref under which sync keeps what a remote's branch of the memory was, for the name
// that git gives to a remote-tracking branch, as origin/reverie/memory~2; "" for other names.
func seenAs(w *workspace, rev string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(rev, "refs/"), "remotes/")
	end := strings.IndexAny(name, "~^@:")
	if end < 0 {
		end = len(name)
	}
	remote, ok := strings.CutSuffix(name[:end], "/"+w.Branch())
	if !ok || remote == "" {
		return ""
	}
	return "refs/reverie/remotes/" + remote + "/memory" + name[end:]
}

// spanHint is a span that can be looked at here.
func spanHint(ctx context.Context, w *workspace) string {
	base, head := w.Branch()+"~1", w.Branch()
	if id, _, err := w.Repo.Head(ctx); err == nil {
		if ours, err := w.OfMemory(ctx, id); ours && err == nil {
			head = "HEAD"
		}
	}
	for _, rev := range []string{"origin/" + w.Branch(), seenAs(w, "origin/"+w.Branch())} {
		if _, err := w.Memory.Resolve(ctx, rev); err == nil {
			base = "origin/" + w.Branch()
			break
		}
	}
	return "reverie check --diff " + base + "..." + head
}

// tellApart says that the base has commits which the head does not have, where two states are
// compared as they are: what those commits brought looks taken away.
func tellApart(ctx context.Context, w *workspace, s span) {
	if s.three || s.from == "" || w.Repo.Shallow {
		return
	}
	if in, err := w.Repo.IsAncestor(ctx, string(s.from), string(s.to)); err != nil || in {
		return // trees have no history
	}
	w.env.Warn("%s does not contain all of %s, so the missing part looks deleted; to check what %s changed: reverie check --diff %s...%s", s.b, s.a, s.b, s.a, s.b)
}
