package cmd

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

// ourRefs is the folder of refs that are ours whatever their names.
const ourRefs = "refs/reverie/"

// shelfRefs are refs whose histories are of one kind, and the record that a purge leaves on one of them.
type shelfRefs struct {
	store string // the ref that carries the records; "" where no history is ever joined with another's
	refs  []git.Ref
	logs  []gitstore.ID // what the reflogs of refs, and proposals, name beside
	purge record.Purge
}

// purgePlan is what a purge would do.
type purgePlan struct {
	target
	shelves  []*shelfRefs
	dirty    map[string]bool            // refs whose logs tell something
	memories map[string]int             // by id: how many versions go
	kinds    map[string]map[string]bool // contents that go, by the top folder of their paths
	messages map[string]bool            // of commits, by their hash
	omit     gitstore.Omit              // all of it, and what the records here say already
	sessions map[string]bool            // files of the sessions that a memory was learned from
	also     map[string]bool            // memories that hold a statement of the purged one
	state    []stateFile
	loops    []string // refs of the loops' records that go whole
	config   bool     // reverie.toml as it is now holds the text
}

// found reports whether there is anything to do in git.
func (p *purgePlan) found() bool { return len(p.kinds) > 0 || len(p.messages) > 0 || len(p.dirty) > 0 }

// tips are all the histories that were looked at.
func (p *purgePlan) tips() (out []gitstore.ID) {
	for _, s := range p.shelves {
		out = append(out, s.tips()...)
	}
	return out
}

// ours lists every ref of ours by the store whose history it has.
func (w *workspace) ours(ctx context.Context) ([]*shelfRefs, error) {
	memory, journal, rest := &shelfRefs{store: w.config.Ref}, &shelfRefs{store: journalRef}, &shelfRefs{}
	refs, err := w.repo.Refs(ctx, w.config.Ref, ourRefs)
	if err != nil {
		return nil, err
	}
	kinds, err := w.repo.Git(ctx, nil, "for-each-ref", "--format=%(objecttype) %(refname)", w.config.Ref, ourRefs)
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		if !strings.Contains("\n"+string(kinds), "\ncommit "+r.Name+"\n") {
			continue // no history; another program's, in our folder
		}
		if unjudged(r.Name) {
			continue
		}
		to := rest
		switch {
		case r.Name == w.config.Ref, strings.HasPrefix(r.Name, ourRefs+"backup/"), strings.HasPrefix(r.Name, ourRefs+"remotes/") && strings.HasSuffix(r.Name, "/memory"),
			strings.HasPrefix(r.Name, ourRefs+"proposal"):
			to = memory
		case r.Name == journalRef, strings.HasPrefix(r.Name, ourRefs+"remotes/") && strings.HasSuffix(r.Name, "/journal"):
			to = journal
		}
		to.refs = append(to.refs, r)
	}
	// The branch last: what an interrupted purge of a memory needs to know stands there.
	shelves := []*shelfRefs{rest, journal, memory}
	for _, s := range shelves {
		slices.SortStableFunc(s.refs, func(a, b git.Ref) int {
			switch {
			case a.Name == s.store:
				return 1
			case b.Name == s.store:
				return -1
			}
			return 0
		})
	}
	return shelves, nil
}

// unjudged reports whether a ref is where a fetch of ours puts what a remote has before anything is made of it. It
// may hold anything, so nobody looks through it; a purge removes it, and the next fetch fills it again.
func unjudged(name string) bool {
	rest, ok := strings.CutPrefix(name, ourRefs+"remotes/")
	return ok && strings.Contains(rest, "/new/")
}

// dropUnjudged removes such refs.
func (w *workspace) dropUnjudged(ctx context.Context) error {
	refs, err := w.repo.Refs(ctx, ourRefs+"remotes/")
	if err != nil {
		return err
	}
	for _, r := range refs {
		if unjudged(r.Name) {
			if err := w.repo.DeleteRef(ctx, r.Name, r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// tips are the histories of the refs, and those that their logs lead to.
func (s *shelfRefs) tips() []gitstore.ID {
	out := slices.Clone(s.logs)
	for _, r := range s.refs {
		out = append(out, gitstore.ID(r.ID))
	}
	return out
}

// planPurge looks everywhere for what a target names. more are records of others that are to be honoured too.
func (w *workspace) planPurge(ctx context.Context, t target, more []record.Purge) (*purgePlan, error) {
	p := &purgePlan{target: t, dirty: map[string]bool{}, memories: map[string]int{}, kinds: map[string]map[string]bool{}, messages: map[string]bool{},
		sessions: map[string]bool{}, also: map[string]bool{}}
	var err error
	if p.shelves, err = w.ours(ctx); err != nil {
		return nil, err
	}
	if err := w.readLogs(ctx, p); err != nil {
		return nil, err
	}
	proposed, err := w.proposedCommits(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range p.shelves {
		if s.store == w.config.Ref {
			s.logs = append(s.logs, proposed...)
		}
	}
	if p.memory != "" {
		if err := w.statements(ctx, p); err != nil {
			return nil, err
		}
	}
	p.prepare()
	known := slices.Clone(more)
	for _, s := range p.shelves {
		for _, r := range s.refs {
			if r.Name != s.store {
				continue // what was fetched binds nobody before it is merged
			}
			purges, err := w.book.PurgesAt(ctx, gitstore.ID(r.ID))
			if err != nil {
				return nil, err
			}
			known = append(known, purges...)
		}
	}
	before := record.Omit(known...)
	var all []record.Purge
	for _, s := range p.shelves {
		l := lookout{w: w, p: p, s: s, before: before}
		if err := l.look(ctx); err != nil {
			return nil, err
		}
		s.purge = s.purge.Beyond(before)
		all = append(all, s.purge)
	}
	p.omit = record.Omit(append(all, known...)...)
	if p.loops, err = w.goneLoops(ctx, p); err != nil {
		return nil, err
	}
	if p.state, err = w.lookState(p); err != nil {
		return nil, err
	}
	return p, nil
}

// readLogs finds what the logs of our refs lead to. A log whose commits are gone in part, or whose
// messages tell something, is dirty.
func (w *workspace) readLogs(ctx context.Context, p *purgePlan) error {
	p.prepare()
	for _, s := range p.shelves {
		for _, r := range s.refs {
			ids, messages, err := w.repo.Reflog(ctx, r.Name)
			if err != nil {
				return err
			}
			ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id string) bool { return id == r.ID })
			if slices.ContainsFunc(messages, func(m string) bool { return p.inMessage(m, p.texts) }) {
				p.dirty[r.Name] = true
			}
			if !w.whole(ctx, ids...) {
				p.dirty[r.Name] = true
				continue
			}
			for _, id := range ids {
				s.logs = append(s.logs, gitstore.ID(id))
			}
		}
	}
	return nil
}

// whole reports whether commits are here with their histories.
func (w *workspace) whole(ctx context.Context, ids ...string) bool {
	have, err := w.repo.Have(ctx, ids)
	if err != nil || len(have) < len(ids) {
		return false
	}
	if len(ids) > 0 {
		_, err = w.repo.Git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), "rev-list", "--quiet", "--stdin")
	}
	return err == nil
}

// statements collects what a memory ever said, and where it was learned.
func (w *workspace) statements(ctx context.Context, p *purgePlan) error {
	said := map[string]bool{}
	for _, s := range p.shelves {
		files := map[gitstore.ID]string{}
		err := gitstore.Survey(ctx, w.repo, s.tips(), func(at string, id gitstore.ID) {
			if record.MemoryOf(at) == p.memory || strings.HasPrefix(at, "ops/") {
				files[id] = at
			}
		}, func(gitstore.ID, string, string) {})
		if err != nil {
			return err
		}
		err = w.readBlobs(ctx, files, func(at string, _ gitstore.ID, data []byte) {
			m, err := record.ParseMemory(at, data)
			if o, oerr := record.ParseOperation(at, data); oerr == nil && o.Memory.ID == p.memory {
				m, err = o.Memory, nil
			}
			if err != nil || m.ID != p.memory {
				return
			}
			said[m.Text] = true
			for _, v := range m.Variants {
				said[v.Text] = true
			}
			if by := m.Source.Session(); by != "" {
				p.sessions[m.Source.Agent()+"/"+by] = true
			}
		})
		if err != nil {
			return err
		}
	}
	delete(said, "")
	p.texts = slices.Sorted(maps.Keys(said))
	return nil
}

// readBlobs reads files by their ids. One that is too large for a file of ours is passed over.
func (w *workspace) readBlobs(ctx context.Context, files map[gitstore.ID]string, fn func(at string, id gitstore.ID, data []byte)) error {
	var ids []string
	for id := range files {
		ids = append(ids, string(id))
	}
	slices.Sort(ids)
	objects := w.repo.Objects()
	defer objects.Close()
	read := map[string]bool{}
	one := func(_ int, o git.Object) error {
		if !read[o.ID] {
			read[o.ID] = true
			fn(files[gitstore.ID(o.ID)], gitstore.ID(o.ID), o.Data)
		}
		return nil
	}
	err := objects.ReadAll(ctx, ids, one)
	if !errors.Is(err, git.ErrTooLarge) {
		return err
	}
	for _, id := range ids {
		o, err := objects.Read(ctx, id)
		if errors.Is(err, git.ErrTooLarge) {
			continue
		}
		if err != nil {
			return err
		}
		one(0, o)
	}
	return nil
}

// rewriting works out what the histories of all our refs become, those that their logs lead to included.
func (w *workspace) rewriting(ctx context.Context, p *purgePlan, extra ...gitstore.ID) (*gitstore.Rewriting, error) {
	rw, err := gitstore.Rewrite(ctx, w.repo, append(p.tips(), extra...), nil, p.omit)
	if errors.Is(err, gitstore.ErrShallow) {
		return nil, &failure{exitPerson, err, "complete it first: git fetch --unshallow"}
	}
	if err != nil {
		return nil, err
	}
	for _, s := range p.shelves {
		for _, r := range s.refs {
			ids, _, err := w.repo.Reflog(ctx, r.Name)
			if err != nil {
				rw.Close()
				return nil, err
			}
			for _, id := range ids {
				if to := rw.New[gitstore.ID(id)]; to != "" && to != gitstore.ID(id) {
					p.dirty[r.Name] = true
				}
			}
		}
	}
	return rw, nil
}
