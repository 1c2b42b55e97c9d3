package cmd

import (
	"context"
	"maps"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/remotes"
)

// proposedCommits are the commits of proposals that are open, as far as they are here: no ref of ours reaches them,
// and they have the history that a purge rewrites.
func (w *workspace) proposedCommits(ctx context.Context) ([]gitstore.ID, error) {
	all, err := w.readRemotes()
	if err != nil {
		return nil, err
	}
	var out []gitstore.ID
	for _, known := range all.Remotes {
		for _, p := range known.Proposals {
			for _, id := range slices.Compact([]gitstore.ID{p.Commit, p.Tip()}) {
				if w.whole(ctx, string(id)) {
					out = append(out, id)
				}
			}
		}
	}
	return out, nil
}

// dropProposals forgets the proposals that were made on a history that was rewritten, and names them: merged
// as they are they would bring it back. What they said waits again, or is proposed anew by the next sync. The caller
// holds the lock of LockSync.
func (w *workspace) dropProposals(all *remotes.File, done *purgeJSON) error {
	moved := func(id gitstore.ID) bool {
		to, known := w.rewrote[id]
		return known && to != id
	}
	dropped := false
	for _, name := range slices.Sorted(maps.Keys(all.Remotes)) {
		known := all.Remotes[name]
		for _, p := range slices.Clone(known.Proposals) {
			if !moved(p.Commit) && !moved(p.Base) && !moved(p.Tip()) && !moved(p.On()) {
				continue
			}
			known.Drop(p.Branch)
			dropped = true
			done.Left = append(done.Left, leftover{"the proposal " + p.Branch + " on " + name, "close its pull request, and: git push " + shellWord(name) + " --delete " + shellWord(p.Branch)})
		}
	}
	if !dropped {
		return nil
	}
	return all.Save()
}
