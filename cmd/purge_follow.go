package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// followPurge makes two histories meetable of which one was purged: it is called with what was fetched from
// a remote, before that is merged into a store, and returns what to merge in its place.
//
// If theirs has purge records that ours lacks, the same is taken out of all our refs, and out of the state
// folder, which a person has to agree to. Our own commits are then on top of the same new history.
// If theirs holds what was purged here, the returned history is theirs without it, and differs from
// theirs: it may be merged, but not pushed, because for the remote it is no fast-forward. A person replaces
// the remote's branch by purge --push, and has to be told so. Without any
// record on either side nothing is done and theirs is returned, for the cost of a look at two trees.
func (w *workspace) followPurge(ctx context.Context, remote string, s *gitstore.Store, theirs gitstore.ID, agree func(question string) bool) (gitstore.ID, error) {
	ours, err := s.Tip(ctx)
	if errors.Is(err, gitstore.ErrNoStore) {
		return theirs, nil // nothing here to be rewritten, and what comes is adopted as it is
	}
	if err != nil {
		return "", err
	}
	known, err := w.book.PurgesAt(ctx, ours)
	if err != nil {
		return "", err
	}
	came, err := w.book.PurgesAt(ctx, theirs)
	if err != nil {
		return "", err
	}
	fresh := slices.DeleteFunc(slices.Clone(came), func(p record.Purge) bool {
		return slices.ContainsFunc(known, func(k record.Purge) bool { return k.ID == p.ID })
	})
	if len(fresh) == 0 {
		return w.withoutPurged(ctx, remote, theirs, ours, known)
	}
	all := append(slices.Clone(known), came...)
	t, err := w.purgedTexts(ctx, fresh, theirs)
	if err != nil {
		return "", err
	}
	done := newPurgeJSON()
	p, err := w.planPurge(ctx, t, all)
	if err != nil {
		return "", err
	}
	if err := w.describePurge(ctx, p, &done); err != nil {
		return "", err
	}
	if len(done.Refs)+len(done.Sessions)+len(done.State) > 0 {
		w.env.say("%s was purged of something (%s); to follow takes out for good, here:", remote, count(len(fresh), "record", "records"))
		w.env.say("%s, %s in %s, %s", count(len(done.Memories), "memory", "memories"), count(files(done.Files), "file", "files"),
			count(len(done.Refs), "ref", "refs"), count(len(done.Sessions), "session", "sessions"))
		gone, err := w.goneStatements(ctx, p)
		if err != nil {
			return "", err
		}
		for _, text := range gone[:min(maxGone, len(gone))] {
			w.env.say("  - %s", visible(text))
		}
		if more := len(gone) - maxGone; more > 0 {
			w.env.say("  and %d more", more)
		}
		if !agree("Take the same out here?") {
			return "", &failure{exitPerson, fmt.Errorf("%s was purged, and this clone still holds what went there: nothing was merged", remote),
				"look at 'git log " + string(theirs) + " -- purged', then: reverie sync --yes"}
		}
	}
	last, err := w.applyPurge(ctx, t, all, "", &done, theirs)
	if last != nil {
		last.followed = true
		err = errors.Join(err, w.finishPurge(ctx, &done, last))
	}
	if err != nil {
		return "", err
	}
	for _, l := range done.Left {
		if l.Next != "" && !strings.Contains(l.Next, "--push") { // to their remote nothing has to be pushed
			w.env.say("still there: %s: %s", l.What, l.Next)
		}
	}
	if len(done.Memories) > 0 {
		ids := make([]string, len(done.Memories))
		for i, m := range done.Memories {
			ids[i] = m.ID
		}
		w.env.say("gone, as from %s: %s: %s", remote, count(len(ids), "memory", "memories"), strings.Join(ids, " "))
	}
	return w.followed(remote, theirs, last.rw)
}

// maxGone is how many statements are shown before a person lets them go.
const maxGone = 10

// goneStatements are those that stand in memory now and would go, with their ids.
func (w *workspace) goneStatements(ctx context.Context, p *purgePlan) (gone []string, err error) {
	err = w.book.View(ctx, func(v *record.View) error {
		for _, m := range v.Memories() {
			if p.memories[m.ID] > 0 {
				gone = append(gone, m.ID[:8]+" "+m.Text)
			}
		}
		return nil
	})
	return gone, err
}

// followed is what took the place of theirs.
func (w *workspace) followed(remote string, theirs gitstore.ID, rw *gitstore.Rewriting) (gitstore.ID, error) {
	to := rw.New[theirs]
	if to == "" {
		return "", fmt.Errorf("follow the purge of %s: %.12s was not rewritten", remote, theirs)
	}
	return to, nil
}

func files(byFolder map[string]int) (n int) {
	for _, c := range byFolder {
		n += c
	}
	return n
}

// withoutPurged is theirs without what was purged here, made durable; theirs itself where it holds none.
func (w *workspace) withoutPurged(ctx context.Context, remote string, theirs, ours gitstore.ID, known []record.Purge) (gitstore.ID, error) {
	if len(known) == 0 {
		return theirs, nil
	}
	rw, err := gitstore.Rewrite(ctx, w.repo, []gitstore.ID{theirs}, []gitstore.ID{ours}, record.Omit(known...))
	if err != nil {
		return "", err
	}
	rw.Close()
	if to := rw.New[theirs]; to == "" || to == theirs {
		return theirs, nil
	}
	done := newPurgeJSON()
	last, err := w.applyPurge(ctx, target{}, known, "", &done, theirs) // the refs that a fetch filled are rewritten with it
	if last != nil {
		err = errors.Join(err, w.finishPurge(ctx, &done, last))
	}
	if err != nil {
		return "", err
	}
	return w.followed(remote, theirs, last.rw)
}

// purgedTexts is a target of the words that stood in what others purged, as far as this clone has them: to
// be looked for where only this clone can look. Words that memories still say are not among them.
func (w *workspace) purgedTexts(ctx context.Context, fresh []record.Purge, theirs gitstore.ID) (target, error) {
	omit := record.Omit(fresh...)
	shelves, err := w.ours(ctx)
	if err != nil {
		return target{}, err
	}
	files := map[gitstore.ID]string{}
	for _, s := range shelves {
		err := gitstore.Survey(ctx, w.repo, s.tips(), func(at string, id gitstore.ID) {
			if omit.Blobs[id] || omit.Path != nil && omit.Path(at) {
				files[id] = at
			}
		}, func(gitstore.ID, string, string) {})
		if err != nil {
			return target{}, err
		}
	}
	lines := map[string]bool{}
	err = w.readBlobs(ctx, files, func(at string, _ gitstore.ID, data []byte) {
		for _, line := range purgedLines(at, data) {
			lines[line] = true
		}
	})
	if err != nil || len(lines) == 0 {
		return target{}, err
	}
	kept := map[gitstore.ID]string{}
	err = w.memory.ViewAt(ctx, string(theirs), func(t *gitstore.Tree) error {
		return t.Walk("", func(at string, id gitstore.ID) error {
			kept[id] = at
			return nil
		})
	})
	var odd gitstore.EntryErrors
	if err != nil && !errors.As(err, &odd) {
		return target{}, err
	}
	err = w.readBlobs(ctx, kept, func(at string, _ gitstore.ID, data []byte) {
		for _, line := range purgedLines(at, data) {
			delete(lines, line)
		}
	})
	t := target{local: true}
	for line := range lines {
		t.texts = append(t.texts, line)
	}
	slices.Sort(t.texts)
	t.prepare()
	return t, err
}

// purgedLines are the statements of a record, and its bodies, each as a whole: one line of a body may stand in
// any session, and says little by itself.
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
