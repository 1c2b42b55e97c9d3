package purge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/git"
)

// ourRefs is the prefix of refs that are always ours.
const ourRefs = "refs/reverie/"

// shelf groups refs with histories of one kind. A purge leaves its record on one of them.
type shelf struct {
	store string // the ref for the records; "" if the histories are never merged
	refs  []git.Ref
	logs  []gitstore.ID // tips in reflogs of refs and in proposals
	purge record.Purge
}

// ours groups all our refs by the store whose history they share.
func (c *Clone) ours(ctx context.Context) ([]*shelf, error) {
	memory, journal, rest := &shelf{store: c.Memory.Ref()}, &shelf{store: c.Journal}, &shelf{}
	refs, err := c.Repo.Refs().List(ctx, c.Memory.Ref(), ourRefs)
	if err != nil {
		return nil, err
	}
	kinds, err := c.Repo.Git(ctx, nil, "for-each-ref", "--format=%(objecttype) %(refname)", c.Memory.Ref(), ourRefs)
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		if !strings.Contains("\n"+string(kinds), "\ncommit "+r.Name+"\n") {
			continue // no history; another program's, in our folder
		}
		if unjudged(r.Name) {
			continue
		}
		to := rest
		switch {
		case r.Name == c.Memory.Ref(), strings.HasPrefix(r.Name, ourRefs+"backup/"), strings.HasPrefix(r.Name, ourRefs+"remotes/") && strings.HasSuffix(r.Name, "/memory"),
			strings.HasPrefix(r.Name, ourRefs+"proposal"):
			to = memory
		case r.Name == c.Journal, strings.HasPrefix(r.Name, ourRefs+"remotes/") && strings.HasSuffix(r.Name, "/journal"):
			to = journal
		}
		to.refs = append(to.refs, r)
	}
	// The branch comes last: an interrupted purge of a memory needs its data.
	shelves := []*shelf{rest, journal, memory}
	for _, s := range shelves {
		slices.SortStableFunc(s.refs, func(a, b git.Ref) int {
			switch {
			case a.Name == s.store:
				return 1
			case b.Name == s.store:
				return -1
			}
			return 0
		})
	}
	return shelves, nil
}

// unjudged reports whether a ref holds a fetched history before it is checked. It may hold
// anything, so a purge removes it unread, and the next fetch fills it again.
func unjudged(name string) bool {
	rest, ok := strings.CutPrefix(name, ourRefs+"remotes/")
	return ok && strings.Contains(rest, "/new/")
}

// dropUnjudged removes the refs of unchecked fetches.
func (c *Clone) dropUnjudged(ctx context.Context) error {
	refs, err := c.Repo.Refs().List(ctx, ourRefs+"remotes/")
	if err != nil {
		return err
	}
	for _, r := range refs {
		if unjudged(r.Name) {
			if err := c.Repo.Refs().Delete(ctx, r.Name, r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// tips returns the tips of the refs and of their logs.
func (s *shelf) tips() []gitstore.ID {
	out := slices.Clone(s.logs)
	for _, r := range s.refs {
		out = append(out, gitstore.ID(r.ID))
	}
	return out
}

// readBlobs reads files by id and skips those that are too large for a store.
func readBlobs(ctx context.Context, repo *git.Repo, files map[gitstore.ID]string, fn func(at string, id gitstore.ID, data []byte)) error {
	var ids []string
	for id := range files {
		ids = append(ids, string(id))
	}
	slices.Sort(ids)
	objects := repo.Objects()
	defer objects.Close()
	read := map[string]bool{}
	one := func(_ int, o git.Object) error {
		if !read[o.ID] {
			read[o.ID] = true
			fn(files[gitstore.ID(o.ID)], gitstore.ID(o.ID), o.Data)
		}
		return nil
	}
	err := objects.ReadAll(ctx, ids, one)
	if !errors.Is(err, git.ErrTooLarge) {
		return err
	}
	for _, id := range ids {
		o, err := objects.Read(ctx, id)
		if errors.Is(err, git.ErrTooLarge) {
			continue
		}
		if err != nil {
			return err
		}
		one(0, o)
	}
	return nil
}

// proposedCommits returns the commits of open proposals that are here. None of our refs reaches
// them, but they share the history to rewrite.
func (c *Clone) proposedCommits(ctx context.Context) (out []gitstore.ID) {
	for _, known := range c.Remotes.Remotes {
		for _, p := range known.Proposals {
			for _, id := range slices.Compact([]gitstore.ID{p.Commit, p.Tip()}) {
				if c.Repo.History().Whole(ctx, string(id)) {
					out = append(out, id)
				}
			}
		}
	}
	return out
}

// DropProposals forgets proposals on a rewritten history and returns them, because merging them
// would restore the target. Their operations wait for the next sync. It also updates the noted
// remote tips. rewrote is Done.New. The caller holds the lock of git.State.LockSync.
func DropProposals(all *remotes.File, rewrote map[gitstore.ID]gitstore.ID) (left []Left, err error) {
	moved := func(id gitstore.ID) bool {
		to, known := rewrote[id]
		return known && to != id
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(all.Remotes)) {
		known := all.Remotes[name]
		for lane, id := range known.Seen {
			if moved(gitstore.ID(id)) {
				known.See(lane, string(rewrote[gitstore.ID(id)]))
				changed = true
			}
		}
		for _, p := range slices.Clone(known.Proposals) {
			if !moved(p.Commit) && !moved(p.Base) && !moved(p.Tip()) && !moved(p.On()) {
				continue
			}
			known.Drop(p.Branch)
			left = append(left, Left{Place: InProposal, Name: p.Branch, Of: name})
			changed = true
		}
	}
	if !changed {
		return nil, nil
	}
	return left, all.Save()
}
