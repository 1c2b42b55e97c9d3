package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
)

// purgeRemote is a remote whose branches are to be replaced after a purge.
type purgeRemote struct {
	w      *workspace
	remote *git.Remote
}

func (w *workspace) purgeRemote(ctx context.Context, name string) (*purgeRemote, error) {
	remote, err := w.repo.Remote(ctx, name, w.branch())
	if err != nil {
		return nil, explainRemote(err)
	}
	return &purgeRemote{w, remote}, nil
}

// fresh is the ref that a fetch of ours fills, before anything is made of what came.
func (r *purgeRemote) fresh(lane string) string {
	return ourRefs + "remotes/" + r.remote.Name + "/new/" + lane
}

// seen is the ref that keeps what the remote was last seen to have.
func (r *purgeRemote) seen(lane string) string {
	return ourRefs + "remotes/" + r.remote.Name + "/" + lane
}

// push replaces the branch of the remote by ours, and the journal where it was published: each only if it
// holds nothing, but for what was purged, that ours does not.
// The caller holds the lock of LockSync.
func (r *purgeRemote) push(ctx context.Context, done *purgeJSON) error {
	all, err := r.w.readRemotes()
	if err != nil {
		return err
	}
	lanes := []struct{ name, ref string }{{"memory", r.w.config.Ref}, {"journal", journalRef}}
	there, err := r.remote.Refs(ctx, "refs/heads/reverie/", r.w.config.Ref, journalRef)
	if err != nil {
		return err
	}
	if err := r.others(ctx, there.Refs, done); err != nil {
		return err
	}
	moved, current := false, false
	for _, l := range lanes {
		old := there.Refs[l.ref]
		if old == "" {
			continue
		}
		tip, err := r.w.repo.ReadRef(ctx, l.ref)
		if errors.Is(err, git.ErrNoRef) && l.name == "journal" {
			continue // another clone's
		}
		if err != nil {
			return err
		}
		if tip == old {
			r.w.env.say("%s has the %s as it is here already", r.remote.Name, l.name)
			current = true
			continue
		}
		if l.name == "journal" && !all.At(r.remote.Name).Agreed(l.name, r.remote.PushURL) {
			done.Left = append(done.Left, leftover{"the journal on " + r.remote.Name + ", which was not published from here", "whoever published it runs there: reverie purge --push " + r.remote.Name})
			continue
		}
		replaced, err := r.replace(ctx, l.name, l.ref, old, tip)
		if err != nil {
			return err
		}
		moved = moved || replaced
	}
	if !moved && !current {
		what := fmt.Sprintf("%s has nothing that was purged here: nothing was pushed", r.remote.Name)
		if done.Done {
			r.w.env.say("%s", what)
			return nil
		}
		return &failure{exitPerson, errors.New("purge: " + what), "to publish what is new: reverie sync " + r.remote.Name}
	}
	if !moved {
		return nil
	}
	done.Pushed = r.remote.Name
	return nil
}

// others names the branches of the remote that look like proposals and may hold what was purged.
func (r *purgeRemote) others(ctx context.Context, there map[string]string, done *purgeJSON) error {
	tip, err := r.w.memory.Tip(ctx)
	if err != nil {
		return err
	}
	purges, err := r.w.book.PurgesAt(ctx, tip)
	if err != nil {
		return err
	}
	for _, ref := range slices.Sorted(maps.Keys(there)) {
		branch, ok := strings.CutPrefix(ref, "refs/heads/")
		if !ok || ref == r.w.config.Ref {
			continue
		}
		at := gitstore.ID(there[ref])
		if r.w.whole(ctx, string(at)) {
			rw, err := gitstore.Rewrite(ctx, r.w.repo, []gitstore.ID{at}, []gitstore.ID{tip}, record.Omit(purges...))
			if err != nil {
				return err
			}
			rw.Close()
			if to := rw.New[at]; to == "" || to == at {
				continue
			}
		}
		done.Left = append(done.Left, leftover{"the branch " + branch + " of " + r.remote.Name + ", and its pull request, may hold it", "close it, and: git push " + shellWord(r.remote.Name) + " --delete " + shellWord(branch)})
	}
	return nil
}

// replace overwrites one ref of the remote that is at old, where that holds what was purged.
func (r *purgeRemote) replace(ctx context.Context, lane, ref, old, tip string) (replaced bool, err error) {
	if holds, err := r.mayReplace(ctx, lane, ref, old, tip); err != nil || !holds {
		return false, err
	}
	return true, r.overwrite(ctx, lane, ref, old, tip)
}

func (r *purgeRemote) overwrite(ctx context.Context, lane, ref, old, tip string) error {
	pushed, said, err := r.remote.Overwrite(ctx, git.Update{Ref: ref, ID: tip, Old: old})
	for _, line := range said {
		r.w.env.say("%s says: %s", r.remote.Name, line)
	}
	if err != nil {
		return err
	}
	switch pushed.Outcome {
	case git.Moved, git.UpToDate:
	case git.LostRace:
		return &failure{exitPerson, fmt.Errorf("purge: %s moved meanwhile (%s)", r.remote.Name, pushed.Reason), "reverie sync " + r.remote.Name + ", then: reverie purge --push " + r.remote.Name}
	default:
		return &failure{exitPerson, fmt.Errorf("purge: %s refuses that its %s is replaced (%s)", r.remote.Name, lane, pushed.Reason),
			"whoever administers it has to allow it once (a protected branch, receive.denyNonFastForwards); then: reverie purge --push " + r.remote.Name}
	}
	ctx, unlock, err := r.w.memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := r.w.repo.ReadRef(ctx, r.seen(lane))
	if errors.Is(err, git.ErrNoRef) || now == tip {
		return nil
	}
	if err == nil {
		err = r.w.repo.MoveRef(ctx, r.seen(lane), tip, now, "reverie: purge pushed")
	}
	return err
}

// mayReplace reports whether the remote holds what was purged. If so it returns an error unless everything else that
// the remote has is in ours.
func (r *purgeRemote) mayReplace(ctx context.Context, lane, ref, old, tip string) (holds bool, err error) {
	fetched, err := r.bring(ctx, lane, ref, old)
	if err != nil {
		return false, err
	}
	purges, err := r.w.book.PurgesAt(ctx, gitstore.ID(tip))
	if err != nil {
		return false, err
	}
	rw, err := gitstore.Rewrite(ctx, r.w.repo, []gitstore.ID{gitstore.ID(old)}, []gitstore.ID{gitstore.ID(tip)}, record.Omit(purges...))
	if err != nil {
		return false, err
	}
	rw.Close()
	now, beyond := rw.New[gitstore.ID(old)]
	holds = beyond && now != gitstore.ID(old)
	ours := !beyond
	if beyond {
		ours, err = r.reaches(ctx, tip, string(now))
	}
	if fetched {
		err = errors.Join(err, r.letGo(ctx, lane, old, rw))
	}
	if err == nil && !ours {
		err = &failure{exitPerson, fmt.Errorf("purge: %s has commits that are not here", r.remote.Name),
			"reverie sync " + r.remote.Name + ", then: reverie purge --push " + r.remote.Name}
	}
	return holds, err
}

func (r *purgeRemote) reaches(ctx context.Context, tip, id string) (bool, error) {
	have, err := r.w.repo.Have(ctx, []string{id})
	if err != nil || len(have) == 0 {
		return false, err
	}
	return r.w.repo.IsAncestor(ctx, id, tip)
}

// bring fetches what the remote has, if it is not here.
func (r *purgeRemote) bring(ctx context.Context, lane, ref, old string) (fetched bool, err error) {
	if r.w.whole(ctx, old) {
		return false, nil
	}
	got, err := r.remote.Fetch(ctx, ref, r.fresh(lane))
	if err == nil && got != old {
		err = &failure{exitPerson, fmt.Errorf("purge: %s moved meanwhile", r.remote.Name), "run it again"}
	}
	return true, err
}

// letGo takes away again what was fetched only to be looked at.
func (r *purgeRemote) letGo(ctx context.Context, lane, old string, rw *gitstore.Rewriting) error {
	ctx, unlock, err := r.w.memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.w.repo.DeleteRef(ctx, r.fresh(lane), old); err != nil {
		return err
	}
	set := map[string]bool{}
	var ids []string
	for _, id := range rw.Gone {
		set[string(id)], ids = true, append(ids, string(id))
	}
	reached, err := r.w.repo.Reachable(ctx, set)
	if err != nil {
		return nil // left to git gc
	}
	var rest []string
	for _, id := range ids {
		if !reached[id] {
			rest = append(rest, id)
		}
	}
	_, err = r.w.repo.DropLoose(ctx, rest)
	return err
}
