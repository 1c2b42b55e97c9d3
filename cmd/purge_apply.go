package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

func id(r git.Ref) gitstore.ID { return gitstore.ID(r.ID) }

// purged is a purge that was applied to the refs.
type purged struct {
	plan     *purgePlan
	rw       *gitstore.Rewriting // closed: its maps of ids
	failed   bool                // not every ref was moved
	followed bool                // it was somebody else's, and their remote is rid of it
}

// applyPurge does what planPurge finds, under the lock. New objects come first, then what lies in the
// state folder, then ref after ref, the branch last: whenever it is interrupted, each ref is at its old history
// or at its new one, and the same purge again does the rest. finishPurge has to follow whenever what was purged
// is returned, with an error or without. extra are
// histories to rewrite that no ref reaches.
func (w *workspace) applyPurge(ctx context.Context, t target, more []record.Purge, reason string, done *purgeJSON, extra ...gitstore.ID) (*purged, error) {
	ctx, unlock, err := w.memory.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	p, err := w.planPurge(ctx, t, more) // again: others may have written since it was shown
	if err != nil {
		return nil, err
	}
	rw, err := w.rewriting(ctx, p, extra...)
	if err != nil {
		return nil, err
	}
	defer rw.Close()
	if err := w.keepsConfig(ctx, p, rw); err != nil {
		return nil, err
	}
	if err := rw.Save(ctx); err != nil {
		return nil, err
	}
	old := make([]string, len(rw.Gone))
	for i := range rw.Gone {
		old[i] = string(rw.Gone[i])
	}
	if _, err := w.restOf(old); err != nil {
		return nil, err
	}
	last := &purged{plan: p, rw: rw, failed: true}
	return last, w.applyTo(ctx, last, reason, done)
}

// applyTo changes the state folder and the refs. After an error some of them may be changed.
func (w *workspace) applyTo(ctx context.Context, last *purged, reason string, done *purgeJSON) error {
	p, rw := last.plan, last.rw
	if err := w.cleanState(ctx, p); err != nil {
		return err
	}
	if err := w.dropUnjudged(ctx); err != nil {
		return err
	}
	w.rewrote = rw.New
	for _, s := range p.shelves {
		for _, r := range s.refs {
			if slices.Contains(p.loops, r.Name) {
				if err := gitstore.Open(w.repo, r.Name).Discard(ctx); err != nil {
					return err
				}
				continue
			}
			var purges []record.Purge
			if r.Name == s.store && !s.purge.Empty() {
				s.purge.Time = w.env.Now()
				purges = record.NewPurges(s.purge)
			}
			if err := w.replaceRef(ctx, p, r, rw, purges, reason, done); err != nil {
				return err
			}
		}
	}
	done.Done, last.failed = true, false
	return errors.Join(rw.Release(ctx), w.cleanState(ctx, &purgePlan{})) // a reader may have made the cache meanwhile
}

// keepsConfig refuses a purge after which the branch would have no settings: a record of others may name them.
func (w *workspace) keepsConfig(ctx context.Context, p *purgePlan, rw *gitstore.Rewriting) error {
	tip, err := w.memory.Tip(ctx)
	if errors.Is(err, gitstore.ErrNoStore) {
		return nil
	}
	if err != nil {
		return err
	}
	if p.config {
		return p.refuse(w, purgeOptions{})
	}
	return w.book.ViewAt(ctx, string(tip), func(v *record.View) error {
		blob, err := v.ConfigBlob()
		if err != nil || blob == "" {
			return err
		}
		if p.omit.Blobs[blob] || p.omit.Path != nil && p.omit.Path("reverie.toml") {
			return &failure{exitPerson, errors.New("purge: a purge record names reverie.toml, without which the branch is no store"), "ask who made it: git log -- purged"}
		}
		return nil
	})
}

// replaceRef moves one ref to its new history, with the records on top, and forgets its log.
func (w *workspace) replaceRef(ctx context.Context, p *purgePlan, r git.Ref, rw *gitstore.Rewriting, purges []record.Purge, reason string, done *purgeJSON) error {
	store := gitstore.Open(w.repo, r.Name)
	files := map[string]redact.Redacted{}
	for _, purge := range purges {
		text, err := purge.Format()
		if err != nil {
			return fmt.Errorf("purge record %s %w", purge.ID, err)
		}
		files[purge.Path()], _ = (*redact.Scanner)(nil).Text(string(text)) // hashes look like keys to more than that
		if files[purge.Path()].String() != string(text) {
			return fmt.Errorf("purge record %s: the scanner would change it", purge.ID)
		}
		done.Records = append(done.Records, purge.ID)
	}
	commit := gitstore.Commit{Subject: "purge: remove what must not be kept", Body: reason, Scanner: w.sessions.Scanner,
		Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "purge"}}}
	res, err := store.Replace(ctx, rw, files, commit)
	if err != nil {
		return err
	}
	if res.Note != "" && !w.told[res.Note] {
		w.told[res.Note] = true
		w.env.say("%s", res.Note)
	}
	if p.dirty[r.Name] && !res.Changed {
		return w.repo.ForgetReflog(ctx, r.Name)
	}
	return nil
}

// finishPurge removes the loose objects of the old history that nothing in the repository reaches, and says
// what is left of it and where.
func (w *workspace) finishPurge(ctx context.Context, done *purgeJSON, last *purged) error {
	ctx, unlock, err := w.memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	w.leftEverywhere(ctx, last, done)
	unnamed := w.leftNames(ctx, last.plan, done)
	rest, err := w.restOf(nil)
	if err != nil || len(rest) == 0 {
		return errors.Join(unnamed, err)
	}
	reached, left, later, err := w.dropOld(ctx, rest)
	if err != nil {
		return errors.Join(unnamed, err)
	}
	if later != "" {
		done.Left = append(done.Left, leftover{"the old objects: " + later, "once nothing else runs there: git gc --prune=now"})
		refs, err := w.refsTo(ctx, last.rw)
		for _, r := range refs {
			done.Left = append(done.Left, leftRef(r, last.followed))
		}
		return errors.Join(unnamed, err)
	}
	if err := w.leftInRepository(ctx, last, reached, left, done); err != nil || last.failed {
		return errors.Join(unnamed, err)
	}
	return errors.Join(unnamed, w.forgetRest())
}
