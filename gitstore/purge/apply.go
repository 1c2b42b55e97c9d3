package purge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	p, err := c.Plan(ctx, t, more...) // again: others may have written since it was shown
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
	if _, err := c.restOf(rw.Gone); err != nil {
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
	var ids []string
	for _, o := range objs {
		ids = append(ids, o.ID)
	}
	reached, err := c.Repo.History().Reachable(ctx, ids, "--glob="+ourRefs, c.Memory.Ref())
	if len(ids) == 0 || err != nil {
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

// dropOld removes the unreachable loose objects among rest. It returns the reachable ones, and in
// left those that are still here, in packs or because later forbids removal.
//
// A running git may make any object reachable, such as a fetch that found it here. So dropOld
// removes nothing while git runs, or if a ref moved since the objects were listed.
func (c *Clone) dropOld(ctx context.Context, rest []string) (reached map[string]bool, left []string, later *Left, err error) {
	if err := c.Repo.Upkeep().DropCommitGraph(rest); err != nil {
		// This comes first: git calls a graph with missing commits damaged.
		return nil, rest, nil, err
	}
	if file := c.gitAtWork(); file != "" {
		return nil, rest, &Left{Place: WhileGitWorks, Name: file}, nil
	}
	before, err := c.Repo.Refs().List(ctx)
	if err != nil {
		return nil, rest, nil, err
	}
	if reached, err = c.Repo.History().Reachable(ctx, rest); err != nil {
		return nil, rest, &Left{Place: WhileGitFails, Name: err.Error()}, nil
	}
	now, err := c.Repo.Refs().List(ctx)
	if err != nil {
		return nil, rest, nil, err
	}
	if c.gitAtWork() != "" || !slices.Equal(before, now) {
		return reached, rest, &Left{Place: WhileRefsMove}, nil
	}
	gone := slices.DeleteFunc(slices.Clone(rest), func(id string) bool { return reached[id] })
	left, err = c.Repo.Upkeep().DropLoose(ctx, gone)
	if err != nil {
		return reached, left, nil, err
	}
	return reached, left, nil, c.stillWhole(ctx, before)
}

// stillWhole returns an error if a new ref lacks objects.
func (c *Clone) stillWhole(ctx context.Context, before []git.Ref) error {
	now, err := c.Repo.Refs().List(ctx)
	for _, r := range now {
		if !slices.Contains(before, r) && !c.Repo.History().Whole(ctx, r.ID) {
			err = errors.Join(err, &Refused{Why: CameMeanwhile, Name: r.Name})
		}
	}
	return err
}

// atWork bounds the age of files that show git at work; older ones are left by a dead process.
const atWork = time.Minute

// gitAtWork returns a file of the repository that shows a running git, or "".
func (c *Clone) gitAtWork() (found string) {
	root := c.Repo.CommonDir
	objects := filepath.Join(root, "objects")
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		name := d.Name()
		rel, _ := filepath.Rel(root, path)
		working := strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_pack_") || strings.HasPrefix(name, "tmp_idx_") ||
			filepath.Dir(path) == objects && strings.Contains(name, "incoming")
		if working {
			if info, err := d.Info(); err == nil && time.Since(info.ModTime()) < atWork {
				found = filepath.ToSlash(rel)
				return fs.SkipAll
			}
		}
		switch {
		case !d.IsDir():
		case path == c.State.Dir, rel == "logs", rel == "hooks", rel == "modules", filepath.Dir(path) == objects && len(name) == 2:
			return fs.SkipDir
		}
		return nil
	})
	return found
}
