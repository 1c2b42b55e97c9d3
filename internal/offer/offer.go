// Package offer proposes a preference for all repositories of a person, once two of them learned
// it. Begin with Preferences. It reads the memories of the person's other clones on this machine,
// and writes only to the person's own memory, where the proposals wait for review.
package offer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/reader"
)

const (
	maxClones = 100              // that are looked into, the newest in the list first
	patience  = 20 * time.Second // for all of them
)

// listFile names the file beside the person's own memory that lists the work trees whose
// repositories learned a preference, one a line. It holds no statements, so no purge reads it.
func listFile() string { return filepath.Join(filepath.Dir(config.OwnStore()), "repositories") }

// Preferences proposes the preferences of a repository that another one of the person's learned
// too. It omits the statements that the person's own memory knows, and those that were rejected
// there. For an agent, and if the own memory is turned off, it does nothing.
func Preferences(ctx context.Context, r *reader.Reader) error {
	if !r.Config.UserMemory || r.Asker() != "" || r.Repo.WorkTree == "" || config.OwnStore() == "" {
		return nil
	}
	mine, err := preferences(ctx, r)
	if err != nil || len(mine) == 0 {
		return err
	}
	own, err := clone.OpenOwn(ctx, r.Clone)
	if err == nil {
		mine, err = unknown(ctx, own, mine)
	}
	if err != nil && !clone.NoOwn(err) {
		return err
	}
	others, err := enlist(r.Repo.WorkTree)
	if err != nil {
		return err
	}
	if found := common(ctx, r, mine, others); len(found) > 0 {
		return propose(ctx, r, found)
	}
	return nil
}

// preferences returns the preferences of a repository that its person stated, and that hold
// everywhere in it.
func preferences(ctx context.Context, r *reader.Reader) (all []record.Memory, err error) {
	err = r.View(ctx, func(v *record.View) error {
		held, err := r.Withheld(ctx, v)
		if err != nil {
			return err
		}
		for _, m := range v.Memories() {
			said := m.Source.How == record.Said || m.Source.How == record.Written
			if m.Kind == record.Preference && m.Private && said && m.Live(r.Now()) && m.Noted == "" && m.Branch == "" && len(m.Paths) == 0 && len(held.Whose(m)) == 0 {
				all = append(all, m)
			}
		}
		return nil
	})
	if clone.NoMemory(err) {
		err = nil
	}
	return all, err
}

// unknown returns the memories of which the person's own memory says and decided nothing.
func unknown(ctx context.Context, own *clone.Clone, mine []record.Memory) ([]record.Memory, error) {
	err := own.View(ctx, func(v *record.View, _ clone.Team) error {
		texts, err := known(v)
		mine = slices.DeleteFunc(mine, func(m record.Memory) bool {
			return slices.ContainsFunc(texts, func(text string) bool { return dream.Same(text, m.Text) })
		})
		return err
	})
	return mine, err
}

// known returns the statements in a view: known, retired, pending and rejected ones.
func known(v *record.View) (texts []string, err error) {
	for _, m := range v.Memories() {
		texts = append(texts, m.Text)
	}
	pending, err := v.Inbox().Operations()
	rejected, err2 := v.Inbox().Rejections()
	for _, o := range pending {
		texts = append(texts, o.Memory.Text)
	}
	for _, r := range rejected {
		texts = append(texts, r.Text)
	}
	_, err = record.Unreadable(errors.Join(err, err2))
	return texts, err
}

// listed returns the work trees of the list, the oldest first, without duplicates.
func listed() (dirs []string, err error) {
	data, err := os.ReadFile(listFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		if dir := strings.TrimRight(line, "\r\n"); filepath.IsAbs(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Forget takes the work trees of a repository off the list. It looks for them with the bounds of
// common. An empty list goes, with its folder if that is empty, too.
func Forget(ctx context.Context, repo *git.Repo) error {
	if config.OwnStore() == "" {
		return nil
	}
	dirs, err := listed()
	if err != nil || len(dirs) == 0 {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var kept []string
	for i, dir := range slices.Backward(dirs) {
		mine := dir == repo.WorkTree
		if !mine && len(dirs)-i <= maxClones {
			other, err := git.Find(ctx, dir)
			mine = err == nil && other.CommonDir == repo.CommonDir
		}
		if !mine {
			kept = append(kept, dir)
		}
	}
	slices.Reverse(kept)
	switch len(kept) {
	case len(dirs):
		return nil
	case 0:
		err = os.Remove(listFile())
		os.Remove(filepath.Dir(listFile())) // stays with a memory in it
		return err
	}
	return file.Replace(listFile(), []byte(strings.Join(kept, "\n")+"\n"), 0o600, true)
}

// Files returns the person's own files that serve every repository: the settings, the own memory
// and the list of work trees.
func Files() (files []string) {
	for _, name := range []string{config.UserFile(), config.OwnStore(), listFile()} {
		if _, err := os.Lstat(name); err == nil && filepath.IsAbs(name) {
			files = append(files, name)
		}
	}
	return files
}

// enlist adds a work tree to the list of those with preferences, and returns the others, the newest
// first.
func enlist(top string) (others []string, err error) {
	if others, err = listed(); err != nil {
		return nil, err
	}
	at := slices.Index(others, top)
	if at >= 0 {
		others = slices.Delete(others, at, at+1)
	}
	if slices.Reverse(others); at >= 0 || strings.ContainsAny(top, "\r\n") {
		return others, nil
	}
	if err := os.MkdirAll(filepath.Dir(listFile()), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(listFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(top + "\n")
	return others, errors.Join(err, f.Close())
}

// shared is a preference that another repository states too.
type shared struct {
	record.Memory
	where string // name of the other one
}

// common returns the memories that a repository of the other work trees states too. It passes over
// a repository that is gone or cannot be read. A copy of this one's own memory proves nothing.
func common(ctx context.Context, r *reader.Reader, mine []record.Memory, others []string) (found []shared) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for _, dir := range others[:min(maxClones, len(others))] {
		if len(mine) == 0 {
			break
		}
		c, err := clone.Open(ctx, clone.Options{Dir: dir, Now: r.Now, Background: true})
		if err != nil || c.Repo.CommonDir == r.Repo.CommonDir || !c.Config.UserMemory {
			continue
		}
		theirs, err := preferences(ctx, reader.New(c, nil))
		if err != nil {
			continue
		}
		mine = slices.DeleteFunc(mine, func(m record.Memory) bool {
			says := slices.ContainsFunc(theirs, func(t record.Memory) bool {
				copied := t.Source.By == m.Source.By && t.Source.Time.Equal(m.Source.Time)
				return !copied && dream.Same(t.Text, m.Text)
			})
			if says {
				found = append(found, shared{m, filepath.Base(dir)})
			}
			return says
		})
	}
	return found
}

// propose puts the shared preferences into the inbox of the person's own memory, which it makes if
// it is missing.
func propose(ctx context.Context, r *reader.Reader, found []shared) error {
	own, err := clone.MakeOwn(ctx, r.Clone)
	if err != nil {
		return err
	}
	if _, err := share.Begin(ctx, own); err != nil {
		return err
	}
	_, err = own.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		texts, err := known(tx.View)
		if err != nil {
			return err
		}
		for _, s := range found {
			if slices.ContainsFunc(texts, func(text string) bool { return dream.Same(text, s.Text) }) {
				continue // meanwhile
			}
			m := record.New(record.Memory{Kind: s.Kind, Text: s.Text, Body: s.Body, Tags: s.Tags, Topic: s.Topic, Expires: s.Expires, Source: s.Source}).WithTrigger(s.Trigger())
			m.Source.Commit = ""
			o := record.Operation{Op: record.Add, How: s.Source.How, Memory: m, Proposed: r.Now().UTC().Truncate(time.Second),
				Why: "you said it in two repositories: " + filepath.Base(r.Repo.WorkTree) + " and " + s.where}
			for _, k := range tx.View.Memories() {
				if k.Live(r.Now()) && dream.Contradict(k, m) {
					o.Contradicts = append(o.Contradicts, k.ID)
				}
			}
			if err := tx.PutOperation(record.NewOperation(o)); err != nil {
				return err
			}
			texts = append(texts, s.Text)
		}
		tx.Describe(gitstore.Commit{Subject: "offer: preferences of two repositories", Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "offer"}}})
		return nil
	})
	return err
}
