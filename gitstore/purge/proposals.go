package purge

import (
	"context"
	"maps"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/remotes"
)

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
