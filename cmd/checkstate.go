package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// The states that check --diff is given: how they are named, and what is none.

// seenAs is the ref under which sync keeps what a remote's branch of the memory was, for the name that git
// gives to a remote-tracking branch, as origin/reverie/memory~2; "" for other names.
func (w *workspace) seenAs(rev string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(rev, "refs/"), "remotes/")
	end := strings.IndexAny(name, "~^@:")
	if end < 0 {
		end = len(name)
	}
	remote, ok := strings.CutSuffix(name[:end], "/"+w.branch())
	if !ok || remote == "" {
		return ""
	}
	return "refs/reverie/remotes/" + remote + "/memory" + name[end:]
}

// spanHint is a span that can be looked at here.
func (w *workspace) spanHint(ctx context.Context) string {
	base, head := w.branch()+"~1", w.branch()
	if id, _, err := w.repo.Head(ctx); err == nil {
		if ours, err := w.ofMemory(ctx, id); ours && err == nil {
			head = "HEAD"
		}
	}
	for _, rev := range []string{"origin/" + w.branch(), w.seenAs("origin/" + w.branch())} {
		if _, err := w.memory.Resolve(ctx, rev); err == nil {
			base = "origin/" + w.branch()
			break
		}
	}
	return "reverie check --diff " + base + "..." + head
}

// isMemoryTree reports whether a state is one of a memory: it has a reverie.toml, or lost it but has memories, or is
// the first commit of every store.
func (c *diffCheck) isMemoryTree(t *gitstore.Tree) bool {
	if _, err := t.Stat("reverie.toml"); err == nil || t.Commit() == c.w.memory.First() {
		return true
	}
	found := false
	stop := errors.New("stop")
	t.Walk(record.MemoryDir, func(path string, _ gitstore.ID) error {
		if found = memoryID(path) != ""; found {
			return stop
		}
		return nil
	})
	return found
}

// needMemories refuses a state that is none of a memory, as the code is: all memories would look deleted.
func (c *diffCheck) needMemories(s span) error {
	for _, side := range []struct {
		name string
		tree *gitstore.Tree
	}{{s.a, c.base}, {s.b, c.head}} {
		if side.tree != nil && !c.isMemoryTree(side.tree) {
			err := fmt.Errorf("%s is no state of the memory: there is no reverie.toml in it", oneLine(side.name, 60))
			return &failure{exitFailed, err, "name two states of the memory branch, as in: " + c.w.spanHint(c.ctx)}
		}
	}
	return nil
}

// tellApart says that the base has commits which the head does not have, where two states are compared as they
// are: what those commits brought looks taken away.
func (w *workspace) tellApart(ctx context.Context, s span) {
	if s.three || s.from == "" || w.repo.Shallow {
		return
	}
	if in, err := w.repo.IsAncestor(ctx, string(s.from), string(s.to)); err != nil || in {
		return // trees have no history
	}
	w.env.warn("%s does not contain all of %s: what only that has looks deleted here; what %s itself changed: reverie check --diff %s...%s", s.b, s.a, s.b, s.a, s.b)
}
