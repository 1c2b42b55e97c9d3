package purge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
)

// Pushed describes the outcome for a remote.
type Pushed struct {
	Lanes []Lane
	Left  []Left
}

// Lane describes the memory branch or the journal of a remote.
type Lane struct {
	Name     string   // "memory" or "journal"
	Current  bool     // it equalled ours already
	Replaced bool     // it held the target and now equals ours
	Said     []string // lines of the server's answer
}

// pusher replaces the branches of a remote after a purge.
type pusher struct {
	c      *Clone
	remote *git.Remote
	packed map[string]bool // old objects that a fetch for inspection left in packs
}

// fresh returns the ref that our fetch fills before the content is checked.
func (r *pusher) fresh(lane string) string {
	return ourRefs + "remotes/" + r.remote.Name + "/new/" + lane
}

// seen returns the ref that keeps the remote's last known tip.
func (r *pusher) seen(lane string) string {
	return ourRefs + "remotes/" + r.remote.Name + "/" + lane
}

// Push replaces a remote's branch with ours, and its journal if that was published. Each must hold
// nothing that ours lacks, apart from the purged content. The result is valid even with an error.
// The caller holds the lock of git.State.LockSync.
func (c *Clone) Push(ctx context.Context, remote *git.Remote) (done Pushed, err error) {
	r := &pusher{c, remote, map[string]bool{}}
	defer func() {
		if len(r.packed) > 0 {
			done.Left = append(done.Left, Left{Place: InPacks, Count: len(r.packed)})
		}
	}()
	lanes := []struct{ name, ref string }{{"memory", r.c.Memory.Ref()}, {"journal", r.c.Journal}}
	there, err := r.remote.Refs(ctx, "refs/heads/reverie/", r.c.Memory.Ref(), r.c.Journal)
	if err != nil {
		return done, err
	}
	if done.Left, err = r.others(ctx, there.Refs); err != nil {
		return done, err
	}
	for _, l := range lanes {
		old := there.Refs[l.ref]
		if old == "" {
			continue
		}
		tip, err := r.c.Repo.Refs().Read(ctx, l.ref)
		if err != nil && !(errors.Is(err, git.ErrNoRef) && l.name == "journal") {
			return done, err
		}
		if tip == old {
			done.Lanes = append(done.Lanes, Lane{Name: l.name, Current: true})
			continue
		}
		if l.name == "journal" && (tip == "" || !r.c.Remotes.At(r.remote.Name).Agreed(l.name, r.remote.PushURL)) {
			done.Left = append(done.Left, Left{Place: InJournal, Name: r.remote.Name})
			continue
		}
		lane, err := r.replace(ctx, l.name, l.ref, old, tip)
		done.Lanes = append(done.Lanes, lane)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// others lists remote branches that look like proposals and may hold the target.
func (r *pusher) others(ctx context.Context, there map[string]string) (left []Left, err error) {
	tip, err := r.c.Memory.Tip(ctx)
	if err != nil {
		return nil, err
	}
	purges, err := r.c.Book.PurgesAt(ctx, tip)
	if err != nil {
		return nil, err
	}
	for _, ref := range slices.Sorted(maps.Keys(there)) {
		branch, ok := strings.CutPrefix(ref, "refs/heads/")
		if !ok || ref == r.c.Memory.Ref() {
			continue
		}
		at := gitstore.ID(there[ref])
		if r.c.Repo.History().Whole(ctx, string(at)) {
			rw, err := gitstore.Rewrite(ctx, r.c.Repo, []gitstore.ID{at}, []gitstore.ID{tip}, record.Omit(purges...))
			if err != nil {
				return left, err
			}
			rw.Close()
			if to := rw.New[at]; to == "" || to == at {
				continue
			}
		}
		left = append(left, Left{Place: InRemoteBranch, Name: branch, Of: r.remote.Name})
	}
	return left, nil
}

// replace overwrites one remote ref, expected at old, if that history holds the target.
func (r *pusher) replace(ctx context.Context, name, ref, old, tip string) (Lane, error) {
	lane := Lane{Name: name}
	holds, err := r.mayReplace(ctx, name, ref, old, tip)
	if err != nil || !holds {
		return lane, err
	}
	pushed, said, err := r.remote.Overwrite(ctx, git.Update{Ref: ref, ID: tip, Old: old})
	lane.Said = said
	if err != nil {
		return lane, err
	}
	switch pushed.Outcome {
	case git.Moved, git.UpToDate:
	case git.LostRace:
		return lane, &Refused{Why: RemoteMoved, Name: r.remote.Name, Lane: name, Said: pushed.Reason}
	default:
		return lane, &Refused{Why: RemoteRefuses, Name: r.remote.Name, Lane: name, Said: pushed.Reason}
	}
	lane.Replaced = true
	return lane, r.see(ctx, name, tip)
}

// see records the remote's current tip.
func (r *pusher) see(ctx context.Context, lane, tip string) error {
	ctx, unlock, err := r.c.Memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := r.c.Repo.Refs().Read(ctx, r.seen(lane))
	if errors.Is(err, git.ErrNoRef) {
		return nil
	}
	if err == nil && now != tip {
		err = r.c.Repo.Refs().Move(ctx, r.seen(lane), tip, now, "reverie: purge pushed")
	}
	if err != nil {
		return err
	}
	r.c.Remotes.At(r.remote.Name).See(lane, tip)
	return r.c.Remotes.Save()
}

// mayReplace reports whether the remote holds the target. If it also has commits that ours lacks,
// it returns an error.
func (r *pusher) mayReplace(ctx context.Context, lane, ref, old, tip string) (holds bool, err error) {
	fetched, err := r.bring(ctx, lane, ref, old)
	var gone []string
	if fetched != "" {
		defer func() { err = errors.Join(err, r.letGo(ctx, lane, fetched, gone)) }()
	}
	if err != nil {
		return false, err
	}
	purges, err := r.c.Book.PurgesAt(ctx, gitstore.ID(tip))
	if err != nil {
		return false, err
	}
	rw, err := gitstore.Rewrite(ctx, r.c.Repo, []gitstore.ID{gitstore.ID(old)}, []gitstore.ID{gitstore.ID(tip)}, record.Omit(purges...))
	if err != nil {
		return false, err
	}
	rw.Close()
	gone = rw.Gone
	now, beyond := rw.New[gitstore.ID(old)]
	holds = beyond && now != gitstore.ID(old)
	ours := !beyond
	if beyond {
		ours, err = r.reaches(ctx, tip, string(now))
	}
	if err == nil && !ours {
		err = &Refused{Why: RemoteAhead, Name: r.remote.Name, Lane: lane}
	}
	return holds, err
}

func (r *pusher) reaches(ctx context.Context, tip, id string) (bool, error) {
	have, err := r.c.Repo.Have(ctx, []string{id})
	if err != nil || len(have) == 0 {
		return false, err
	}
	return r.c.Repo.History().IsAncestor(ctx, id, tip)
}

// bring fetches the remote's history if it is not here, and returns its tip, or "".
func (r *pusher) bring(ctx context.Context, lane, ref, old string) (tip string, err error) {
	if r.c.Repo.History().Whole(ctx, old) {
		return "", nil
	}
	tip, err = r.remote.Fetch(ctx, ref, r.fresh(lane))
	if err == nil && tip != old {
		err = &Refused{Why: RemoteMovedEarly, Name: r.remote.Name}
	}
	return tip, err
}

// letGo removes a history that was fetched only for inspection, and notes its objects in packs.
func (r *pusher) letGo(ctx context.Context, lane, tip string, gone []string) error {
	ctx, unlock, err := r.c.Memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.c.Repo.Refs().Delete(ctx, r.fresh(lane), tip); err != nil {
		return err
	}
	reached, err := r.c.Repo.History().Reachable(ctx, gone)
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(gone), func(id string) bool { return reached[id] })
	left, err := r.c.Repo.Upkeep().DropLoose(ctx, rest)
	for _, id := range left {
		r.packed[id] = true
	}
	return err
}
