package purge

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

// Done is a purge whose rewritten histories are durable. Finish completes it.
type Done struct {
	Complete bool // every ref was moved
	// New maps every commit to its replacement or itself. It is set once refs are to move.
	New     map[gitstore.ID]gitstore.ID
	Records []string // ids of the new records
	Notes   []string // remarks on the new commits for a person, one sentence each

	c        *Clone
	plan     *Plan
	rw       *gitstore.Rewriting // closed: its maps of ids
	followed bool                // the purge came from a remote, which is already clean
}

// Apply removes a target under the lock. It writes new objects first, then the state folder, then
// each ref, the branch last. After an interruption every ref has its old or its new history, and
// the same call completes the work.
//
// If Apply returns a Done, even with an error, call Done.Finish. reason becomes the body of the
// commits that record the purge.
func (c *Clone) Apply(ctx context.Context, t Target, reason string) (*Done, error) {
	return c.apply(ctx, t, nil, reason)
}

// apply also honours the records in more. extra lists histories to rewrite that no ref reaches.
func (c *Clone) apply(ctx context.Context, t Target, more []record.Purge, reason string, extra ...gitstore.ID) (*Done, error) {
	ctx, unlock, err := c.Memory.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	p, err := c.plan(ctx, t, more) // again: others may have written since it was shown
	if err != nil {
		return nil, err
	}
	rw, err := c.rewriting(ctx, p, extra...)
	if err != nil {
		return nil, err
	}
	defer rw.Close()
	if err := c.keepsConfig(ctx, p); err != nil {
		return nil, err
	}
	kept, err := c.takeRecent(ctx)
	if err != nil {
		return nil, err
	}
	if err := rw.Save(); err != nil {
		return nil, err
	}
	old := make([]string, len(rw.Gone))
	for i := range rw.Gone {
		old[i] = string(rw.Gone[i])
	}
	if _, err := c.restOf(old); err != nil {
		return nil, err
	}
	d := &Done{c: c, plan: p, rw: rw}
	return d, errors.Join(d.apply(ctx, reason), c.keepReached(ctx, kept))
}

// takeRecent returns the objects of the last writes and removes their copies in the state folder,
// so that later copies lack the target.
func (c *Clone) takeRecent(ctx context.Context) ([]git.Object, error) {
	if _, err := c.Repo.Recent().Restore(ctx); err != nil {
		return nil, err
	}
	kept := c.Repo.Recent().All()
	return kept, c.Repo.Recent().Drop()
}

// keepReached stores copies of those objects that our refs still reach. If git cannot tell, it
// stores nothing.
func (c *Clone) keepReached(ctx context.Context, objs []git.Object) error {
	set := map[string]bool{}
	for _, o := range objs {
		set[o.ID] = true
	}
	reached, err := c.Repo.History().Reachable(ctx, set, "--glob="+ourRefs, c.Memory.Ref())
	if len(set) == 0 || err != nil {
		return nil
	}
	objs = slices.DeleteFunc(objs, func(o git.Object) bool { return !reached[o.ID] })
	for part := range slices.Chunk(objs, git.PackFrom) {
		if err := c.Repo.Recent().Keep(part); err != nil {
			return err
		}
	}
	return nil
}

// apply changes the state folder and the refs. An error may leave some of them changed.
func (d *Done) apply(ctx context.Context, reason string) error {
	c, p := d.c, d.plan
	if err := c.cleanState(ctx, p); err != nil {
		return err
	}
	if err := c.dropUnjudged(ctx); err != nil {
		return err
	}
	d.New = d.rw.New
	for _, s := range p.shelves {
		for _, r := range s.refs {
			if slices.Contains(p.loops, r.Name) {
				if err := gitstore.Open(c.Repo, r.Name).Discard(ctx); err != nil {
					return err
				}
				continue
			}
			var purges []record.Purge
			if r.Name == s.store && !s.purge.Empty() {
				s.purge.Time = c.Now()
				purges = record.NewPurges(s.purge)
			}
			if err := d.replaceRef(ctx, r, purges, reason); err != nil {
				return err
			}
		}
	}
	d.Complete = true
	// A reader may have rebuilt the cache meanwhile.
	return errors.Join(d.rw.Release(ctx), c.cleanState(ctx, &Plan{}))
}

// keepsConfig refuses a purge that would remove the branch's settings, which a record of others may
// name.
func (c *Clone) keepsConfig(ctx context.Context, p *Plan) error {
	tip, err := c.Memory.Tip(ctx)
	if errors.Is(err, gitstore.ErrNoStore) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	return c.Book.ViewAt(ctx, string(tip), func(v *record.View) error {
		blob, err := v.ConfigBlob()
		if err != nil || blob == "" {
			return err
		}
		if p.omit.Blobs[blob] || p.omit.Path != nil && p.omit.Path("reverie.toml") {
			return &Refused{Why: NamesSettings}
		}
		return nil
	})
}

// replaceRef moves one ref to its new history, with the records on top, and forgets its log.
func (d *Done) replaceRef(ctx context.Context, r git.Ref, purges []record.Purge, reason string) error {
	store := gitstore.Open(d.c.Repo, r.Name)
	files := map[string]redact.Redacted{}
	for _, purge := range purges {
		text, err := purge.Format()
		if err != nil {
			return fmt.Errorf("purge record %s %w", purge.ID, err)
		}
		// A full scanner would take the hashes for keys.
		files[purge.Path()], _ = (*redact.Scanner)(nil).Text(string(text))
		if files[purge.Path()].String() != string(text) {
			return fmt.Errorf("purge record %s: the scanner would change it", purge.ID)
		}
		d.Records = append(d.Records, purge.ID)
	}
	commit := gitstore.Commit{Subject: "purge: remove what must not be kept", Body: reason, Scanner: d.c.Scanner,
		Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "purge"}}}
	res, err := store.Replace(ctx, d.rw, files, commit)
	if err != nil {
		return err
	}
	if res.Note != "" {
		d.Notes = append(d.Notes, res.Note)
	}
	if d.plan.dirty[r.Name] && !res.Changed {
		return d.c.Repo.Refs().ForgetLog(ctx, r.Name)
	}
	return nil
}
