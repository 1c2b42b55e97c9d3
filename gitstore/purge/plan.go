package purge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Plan describes a purge before it runs. If its target is a memory, it includes every statement the
// memory ever had.
type Plan struct {
	Target
	c        *Clone
	shelves  []*shelf
	dirty    map[string]bool            // refs whose logs quote the target
	memories map[string]int             // by id: how many versions go
	kinds    map[string]map[string]bool // contents that go, by the top folder of their paths
	messages map[string]bool            // of commits, by their hash
	omit     gitstore.Omit              // everything to omit, including that of earlier records
	sessions map[string]bool            // files of the sessions that a memory was learned from
	also     map[string]bool            // memories that hold a statement of the purged one
	state    []stateFile
	loops    []string // refs of the loops' records that go whole
	config   bool     // reverie.toml as it is now holds the text
}

// tips returns the tips of all searched histories.
func (p *Plan) tips() (out []gitstore.ID) {
	for _, s := range p.shelves {
		out = append(out, s.tips()...)
	}
	return out
}

// Plan searches all our data for a target.
func (c *Clone) Plan(ctx context.Context, t Target) (*Plan, error) { return c.plan(ctx, t, nil) }

// plan searches all our data for a target. more holds records of others to honour too.
func (c *Clone) plan(ctx context.Context, t Target, more []record.Purge) (*Plan, error) {
	t.first = c.First
	p := &Plan{Target: t, c: c, dirty: map[string]bool{}, memories: map[string]int{}, kinds: map[string]map[string]bool{}, messages: map[string]bool{},
		sessions: map[string]bool{}, also: map[string]bool{}}
	var err error
	if p.shelves, err = c.ours(ctx); err != nil {
		return nil, err
	}
	if err := c.readLogs(ctx, p); err != nil {
		return nil, err
	}
	proposed := c.proposedCommits(ctx)
	for _, s := range p.shelves {
		if s.store == c.Memory.Ref() {
			s.logs = append(s.logs, proposed...)
		}
	}
	if p.memory != "" {
		if err := c.statements(ctx, p); err != nil {
			return nil, err
		}
	}
	p.prepare()
	known := slices.Clone(more)
	for _, s := range p.shelves {
		for _, r := range s.refs {
			if r.Name != s.store {
				continue // a fetched record binds us only after a merge
			}
			purges, err := c.Book.PurgesAt(ctx, gitstore.ID(r.ID))
			if err != nil {
				return nil, err
			}
			known = append(known, purges...)
		}
	}
	before := record.Omit(known...)
	var all []record.Purge
	for _, s := range p.shelves {
		l := lookout{c: c, p: p, s: s, before: before}
		if err := l.look(ctx); err != nil {
			return nil, err
		}
		s.purge = s.purge.Beyond(before)
		all = append(all, s.purge)
	}
	p.omit = record.Omit(append(all, known...)...)
	if p.loops, err = c.goneLoops(ctx, p); err != nil {
		return nil, err
	}
	if p.state, err = c.lookState(p); err != nil {
		return nil, err
	}
	return p, nil
}

// Empty reports whether we have no history at all.
func (p *Plan) Empty() bool { return len(p.tips()) == 0 }

// Check returns a *Refused if the branch would no longer be a valid store.
func (p *Plan) Check() error {
	if p.config {
		return &Refused{Why: HoldsSettings, Name: branch(p.c.Memory)}
	}
	return nil
}

// branch returns the branch of a store as people type it.
func branch(s *gitstore.Store) string { return strings.TrimPrefix(s.Ref(), "refs/heads/") }

// EveryMemory returns the number of memories if the target is a text that occurs in each of them;
// otherwise 0.
func (p *Plan) EveryMemory(ctx context.Context) (n int, err error) {
	if p.memory != "" || p.re != nil {
		return 0, nil
	}
	err = p.c.Book.View(ctx, func(v *record.View) error {
		all := v.Memories()
		if !slices.ContainsFunc(all, func(m record.Memory) bool { return p.memories[m.ID] == 0 }) {
			n = len(all)
		}
		return nil
	})
	if errors.Is(err, gitstore.ErrNoStore) {
		err = nil
	}
	return n, err
}

// readLogs finds the commits in the logs of our refs. A log is dirty if some of its commits are
// gone or its messages quote the target.
func (c *Clone) readLogs(ctx context.Context, p *Plan) error {
	p.prepare()
	for _, s := range p.shelves {
		for _, r := range s.refs {
			ids, messages, err := c.Repo.Refs().Log(ctx, r.Name)
			if err != nil {
				return err
			}
			ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id string) bool { return id == r.ID })
			if slices.ContainsFunc(messages, func(m string) bool { return p.inMessage(m, p.texts) }) {
				p.dirty[r.Name] = true
			}
			if !c.Repo.History().Whole(ctx, ids...) {
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

// statements collects every statement that a memory ever had, and the sessions where it was
// learned.
func (c *Clone) statements(ctx context.Context, p *Plan) error {
	said := map[string]bool{}
	for _, s := range p.shelves {
		files := map[gitstore.ID]string{}
		err := gitstore.Survey(ctx, c.Repo, s.tips(), func(at string, id gitstore.ID) {
			if record.MemoryOf(at) == p.memory || strings.HasPrefix(at, "ops/") {
				files[id] = at
			}
		}, func(gitstore.ID, string, string) {})
		if err != nil {
			return err
		}
		err = readBlobs(ctx, c.Repo, files, func(at string, _ gitstore.ID, data []byte) {
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

// rewriting computes the new histories of all our refs, including those that only logs reach.
func (c *Clone) rewriting(ctx context.Context, p *Plan, extra ...gitstore.ID) (*gitstore.Rewriting, error) {
	rw, err := gitstore.Rewrite(ctx, c.Repo, append(p.tips(), extra...), nil, p.omit)
	if errors.Is(err, gitstore.ErrShallow) {
		return nil, &Refused{Why: NotWhole, Err: err}
	}
	if err != nil {
		return nil, err
	}
	for _, s := range p.shelves {
		for _, r := range s.refs {
			ids, _, err := c.Repo.Refs().Log(ctx, r.Name)
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
