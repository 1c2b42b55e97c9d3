package purge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Follow describes the changes that a fetched history demands of this clone before a merge.
type Follow struct {
	Records int // number of records that only theirs has; 0 if theirs holds something purged here

	c       *Clone
	theirs  gitstore.ID
	target  Target
	records []record.Purge // effective for both sides
	plan    *Plan          // nil without Records
}

// Follow prepares two histories for a merge if one of them was purged. Call it with a fetched tip
// before merging that into a store. It returns nil if theirs can be merged unchanged. Without any
// purge record that costs a look at two trees.
//
// If theirs has purge records that ours lacks, our refs and state folder have to lose the same. A
// person has to agree if Find finds anything. Our own commits then stand on the same new history.
// If theirs holds something purged here, it has to be merged without that.
func (c *Clone) Follow(ctx context.Context, s *gitstore.Store, theirs gitstore.ID) (*Follow, error) {
	ours, err := s.Tip(ctx)
	if errors.Is(err, gitstore.ErrNoStore) {
		return nil, nil // nothing here to rewrite: theirs is adopted unchanged
	}
	if err != nil {
		return nil, err
	}
	known, err := c.Book.PurgesAt(ctx, ours)
	if err != nil {
		return nil, err
	}
	came, err := c.Book.PurgesAt(ctx, theirs)
	if err != nil {
		return nil, err
	}
	fresh := slices.DeleteFunc(slices.Clone(came), func(p record.Purge) bool {
		return slices.ContainsFunc(known, func(k record.Purge) bool { return k.ID == p.ID })
	})
	f := &Follow{Records: len(fresh), c: c, theirs: theirs, records: known}
	if len(fresh) == 0 {
		holds, err := c.holds(ctx, theirs, ours, known)
		if err != nil || !holds {
			return nil, err
		}
		return f, nil
	}
	f.records = append(slices.Clone(known), came...)
	if f.target, err = c.purgedTexts(ctx, fresh, theirs); err != nil {
		return nil, err
	}
	if f.plan, err = c.Plan(ctx, f.target, f.records...); err != nil {
		return nil, err
	}
	return f, nil
}

// holds reports whether theirs holds anything that some records name.
func (c *Clone) holds(ctx context.Context, theirs, ours gitstore.ID, known []record.Purge) (bool, error) {
	if len(known) == 0 {
		return false, nil
	}
	rw, err := gitstore.Rewrite(ctx, c.Repo, []gitstore.ID{theirs}, []gitstore.ID{ours}, record.Omit(known...))
	if err != nil {
		return false, err
	}
	rw.Close()
	to := rw.New[theirs]
	return to != "" && to != theirs, nil
}

// Find lists the parts to remove here if there are Records.
func (f *Follow) Find(ctx context.Context) (Found, error) { return f.plan.Find(ctx) }

// Apply does the work, as Clone.Apply does, and also rewrites the refs that a fetch filled. Once
// complete, Done.New[theirs] can be merged in place of theirs. If the two differ, the result cannot
// be pushed, as it is no fast-forward for the remote. A person has to replace the remote's branch
// with Push.
func (f *Follow) Apply(ctx context.Context) (*Done, error) {
	d, err := f.c.apply(ctx, f.target, f.records, "", f.theirs)
	if d != nil {
		d.followed = f.Records > 0
	}
	return d, err
}

// Followed describes the outcome of following a history.
type Followed struct {
	Records int                         // of the followed purge
	Found   Found                       // here, where there are Records
	To      gitstore.ID                 // to be merged in the place of theirs
	New     map[gitstore.ID]gitstore.ID // the replaced commits, by their old ids
	Notes   []string                    // from git, about the new commits
	Left    []Left
}

// Settle prepares a fetched history for a merge into a store. It calls Follow, Find, Apply and
// Finish as needed. If anything has to go, agree decides first. The result is valid even with an
// error.
func Settle(ctx context.Context, c *Clone, s *gitstore.Store, theirs gitstore.ID, agree func(records int, found Found) error) (Followed, error) {
	done := Followed{To: theirs}
	f, err := c.Follow(ctx, s, theirs)
	if err != nil || f == nil {
		return done, err
	}
	if done.Records = f.Records; f.Records > 0 {
		if done.Found, err = f.Find(ctx); err != nil {
			return done, err
		}
		if found := done.Found; len(found.Refs)+len(found.Sessions)+len(found.State) > 0 {
			if err := agree(f.Records, found); err != nil {
				return done, err
			}
		}
	}
	done.Left = done.Found.Left
	applied, err := f.Apply(ctx)
	if applied != nil {
		done.New, done.Notes, done.To = applied.New, applied.Notes, applied.New[theirs]
		left, failed := applied.Finish(ctx, "")
		done.Left, err = append(done.Left, left...), errors.Join(err, failed)
	}
	if err == nil && done.To == "" {
		err = fmt.Errorf("follow a purge: %.12s was not rewritten", theirs)
	}
	return done, err
}

// purgedTexts returns a target with the words of purges by others, as far as this clone has them.
// It serves to search places that only this clone can see. Words that remain in memories are
// excluded.
func (c *Clone) purgedTexts(ctx context.Context, fresh []record.Purge, theirs gitstore.ID) (Target, error) {
	omit := record.Omit(fresh...)
	shelves, err := c.ours(ctx)
	if err != nil {
		return Target{}, err
	}
	files := map[gitstore.ID]string{}
	for _, s := range shelves {
		err := gitstore.Survey(ctx, c.Repo, s.tips(), func(at string, id gitstore.ID) {
			if omit.Blobs[id] || omit.Path != nil && omit.Path(at) {
				files[id] = at
			}
		}, func(gitstore.ID, string, string) {})
		if err != nil {
			return Target{}, err
		}
	}
	lines := map[string]bool{}
	err = readBlobs(ctx, c.Repo, files, func(at string, _ gitstore.ID, data []byte) {
		for _, line := range purgedLines(at, data) {
			lines[line] = true
		}
	})
	if err != nil || len(lines) == 0 {
		return Target{}, err
	}
	kept := map[gitstore.ID]string{}
	err = c.Memory.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
		return t.Walk("", func(at string, id gitstore.ID) error {
			kept[id] = at
			return nil
		})
	})
	var odd gitstore.EntryErrors
	if err != nil && !errors.As(err, &odd) {
		return Target{}, err
	}
	err = readBlobs(ctx, c.Repo, kept, func(at string, _ gitstore.ID, data []byte) {
		for _, line := range purgedLines(at, data) {
			delete(lines, line)
		}
	})
	t := Target{local: true}
	for line := range lines {
		t.texts = append(t.texts, line)
	}
	slices.Sort(t.texts)
	t.prepare()
	return t, err
}

// purgedLines returns the statements and whole bodies of a record. A single line of a body may
// occur in any session.
func purgedLines(at string, data []byte) []string {
	const something = 16 // bytes
	var all []string
	if m, err := record.ParseMemory(at, data); err == nil {
		for _, v := range m.Texts() {
			all = append(all, v.Text, v.Body)
		}
	} else if r, err := record.ParseReflection(at, data); err == nil {
		for _, c := range r.Candidates {
			all = append(all, c.Text, c.Body)
		}
	} else if strings.HasSuffix(at, ".md") || strings.HasSuffix(at, ".txt") {
		all = []string{string(data)}
	}
	var out []string
	for _, text := range all {
		if text = strings.TrimSpace(text); len(text) >= something {
			out = append(out, text)
		}
	}
	return out
}
