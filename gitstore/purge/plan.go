package purge

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
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
	clean    map[string]bool            // memories with a version that does not hold the text
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

// Plan searches all our data for a target. more holds records of others to honour too.
func (c *Clone) Plan(ctx context.Context, t Target, more ...record.Purge) (*Plan, error) {
	t.first = c.First
	p := &Plan{Target: t, c: c, dirty: map[string]bool{}, memories: map[string]int{}, kinds: map[string]map[string]bool{}, messages: map[string]bool{},
		sessions: map[string]bool{}, also: map[string]bool{}, clean: map[string]bool{}}
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
	known, shared := slices.Clone(more), slices.Clone(more)
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
			if s.store == c.Memory.Ref() {
				shared = append(shared, purges...)
			}
		}
	}
	before := record.Omit(known...)
	var all []record.Purge
	var looks []*lookout
	for _, s := range p.shelves {
		l := &lookout{c: c, p: p, s: s, before: before}
		if err := l.look(ctx); err != nil {
			return nil, err
		}
		looks = append(looks, l)
	}
	for _, l := range looks {
		l.nameMemories()
		if l.s.store == c.Memory.Ref() {
			l.s.purge = l.s.purge.Beyond(record.Omit(shared...)) // other clones do not see the journal
		} else {
			l.s.purge = l.s.purge.Beyond(before)
		}
		all = append(all, l.s.purge)
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
			log, err := c.Repo.Refs().Log(ctx, r.Name)
			if err != nil {
				return err
			}
			ids := slices.DeleteFunc(log.IDs(), func(id string) bool { return id == r.ID })
			if slices.ContainsFunc(log, func(l git.Logged) bool { return p.inMessage(l.Message, p.texts) }) {
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
			log, err := c.Repo.Refs().Log(ctx, r.Name)
			if err != nil {
				rw.Close()
				return nil, err
			}
			for _, id := range log.IDs() {
				if to := rw.New[gitstore.ID(id)]; to != "" && to != gitstore.ID(id) {
					p.dirty[r.Name] = true
				}
			}
		}
	}
	return rw, nil
}

// Found lists the parts to remove, by number and id, never by their words.
type Found struct {
	Memories []Versions     `json:"memories"`
	Files    map[string]int `json:"files"`    // removed, by their folder, or "other"
	Messages int            `json:"messages"` // of commits
	Commits  int            `json:"commits"`  // with new ids
	Refs     []string       `json:"refs"`     // with new history or without log
	Sessions []string       `json:"sessions"` // names of files in their folder
	Loops    []string       `json:"loops"`    // loops whose record is removed
	State    []string       `json:"state"`    // paths of other files there that go or change
	Left     []Left         `json:"-"`        // other places that hold the target and stay
	Nothing  bool           `json:"-"`        // no data of Reverie and no settings have to change
}

// NothingFound returns a Found without parts, whose lists are not nil.
func NothingFound() Found {
	return Found{Memories: []Versions{}, Files: map[string]int{}, Refs: []string{}, Sessions: []string{}, Loops: []string{}, State: []string{}}
}

// Versions counts the removed versions of a memory.
type Versions struct {
	ID   string `json:"id"`
	N    int    `json:"versions"`
	Kept bool   `json:"kept,omitempty"` // the newest version stays
	// Text is the newest version, in force and without the target, that goes all the same: its path
	// holds that, or the purging clone knew no such version.
	Text   string        `json:"text,omitempty"`
	Newest record.Memory `json:"-"` // if that goes
}

// Find lists the consequences of a plan.
func (p *Plan) Find(ctx context.Context) (Found, error) {
	f := NothingFound()
	rw, err := p.c.rewriting(ctx, p)
	if err != nil {
		return f, err
	}
	defer rw.Close()
	for _, id := range slices.Sorted(maps.Keys(p.memories)) {
		f.Memories = append(f.Memories, Versions{ID: id, N: p.memories[id]})
	}
	if err := p.newest(ctx, f.Memories); err != nil {
		return f, err
	}
	for top, ids := range p.kinds {
		f.Files[top] = len(ids)
	}
	f.Messages = len(p.messages)
	for old, new := range rw.New {
		if old != new {
			f.Commits++
		}
	}
	for _, s := range p.shelves {
		for _, r := range s.refs {
			if to := rw.New[id(r)]; to != "" && string(to) != r.ID || p.dirty[r.Name] {
				f.Refs = append(f.Refs, r.Name)
			}
		}
	}
	for _, file := range p.state {
		switch file.kind {
		case Settings:
			f.Left = append(f.Left, Left{Place: InSettings, Name: file.path})
		case Session:
			f.Sessions = append(f.Sessions, path.Base(file.path))
		default:
			f.State = append(f.State, file.path)
		}
	}
	for _, name := range p.loops {
		f.Loops = append(f.Loops, strings.TrimPrefix(name, p.c.Loops.Records))
	}
	made, err := p.c.leftInLoops(ctx, p)
	if err != nil {
		return f, err
	}
	f.Left = append(f.Left, made...)
	for _, m := range slices.Sorted(maps.Keys(p.also)) {
		f.Left = append(f.Left, Left{Place: InMemory, Name: m})
	}
	f.Nothing = len(p.kinds)+len(p.messages)+len(p.dirty)+len(p.state) == 0
	return f, nil
}

// newest finds out what becomes of the newest versions.
func (p *Plan) newest(ctx context.Context, all []Versions) error {
	err := p.c.Book.View(ctx, func(v *record.View) error {
		for i := range all {
			m, err := v.Find(all[i].ID)
			if err != nil {
				continue // it is only in history
			}
			blob, _ := v.Blob(m.ID)
			held, named := p.omit.Blobs[blob], p.omit.Path != nil && p.omit.Path(m.Path())
			if all[i].Kept = !held && !named; all[i].Kept {
				continue
			}
			all[i].Newest = m
			if !held && p.memory == "" && m.Status != record.Retired {
				all[i].Text = strings.TrimSpace(m.Text + "\n\n" + m.Body)
			}
		}
		return nil
	})
	if errors.Is(err, gitstore.ErrNoStore) {
		err = nil
	}
	return err
}

// lookout searches the histories of one shelf for the target of a purge.
type lookout struct {
	c      *Clone
	p      *Plan         // counts the finds
	s      *shelf        // collects the names for the records
	before gitstore.Omit // named by earlier records

	paths    map[gitstore.ID][]string // of each content
	texts    map[string]bool          // the words themselves, as they were found
	memories map[string]bool          // memories whose every version is removed
	born     map[string]bool          // ids of statements that hold the text
	recorded bool                     // remove only the content that records name
}

// look reads everything once.
func (l *lookout) look(ctx context.Context) error {
	l.paths, l.texts, l.memories, l.born = map[gitstore.ID][]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	l.recorded = l.p.local && l.s.store == l.c.Memory.Ref()
	for _, text := range l.p.texts {
		l.texts[text] = true
	}
	files := map[gitstore.ID]string{}
	type commit struct{ headers, message string }
	var commits []commit
	err := gitstore.Survey(ctx, l.c.Repo, l.s.tips(), func(at string, id gitstore.ID) {
		files[id] = at
		l.paths[id] = append(l.paths[id], at)
	}, func(_ gitstore.ID, headers, message string) { commits = append(commits, commit{headers, message}) })
	if err != nil {
		return err
	}
	if err := readBlobs(ctx, l.c.Repo, files, l.content); err != nil {
		return err
	}
	said := slices.Collect(maps.Keys(l.texts))
	for _, c := range commits {
		if !l.recorded {
			l.commit(c.headers, c.message, said)
		}
	}
	l.findConfig(ctx)
	return nil
}

// content checks a file's bytes, at each of its paths.
func (l *lookout) content(_ string, id gitstore.ID, data []byte) {
	for _, at := range l.paths[id] {
		m := record.MemoryOf(at)
		_, err := record.ParsePurge(at, data)
		switch {
		case err == nil: // stays, even if a record names it
		case !l.recorded && l.p.inFile(at, data):
			l.gone(at, id)
			l.p.learnedFrom(at, data)
			l.name(at, m, id, data)
		case l.before.Blobs[id] || l.before.Path != nil && l.before.Path(at):
			l.gone(at, id)
		case l.p.memory != "" && m != "" && l.p.in(data):
			l.p.also[m] = true
		default:
			l.p.clean[m] = true
		}
	}
}

// name puts a removed file into the record by its content. It adds the memory or the path if they
// hold the target too. A memory's path never changes, so all its versions share that.
func (l *lookout) name(at, memory string, id gitstore.ID, data []byte) {
	if l.p.memory != "" {
		if memory != "" {
			l.memories[memory] = true
		} else {
			l.s.purge.Blobs = append(l.s.purge.Blobs, string(id))
		}
		return
	}
	tells := l.p.inPath(at)
	if l.p.wrote(at, data) {
		l.s.purge.Blobs = append(l.s.purge.Blobs, string(id))
		l.born[memory] = true
		if r, err := record.ParseReflection(at, data); err == nil {
			for _, c := range r.Candidates {
				if m := record.New(record.Memory{Text: c.Text, Body: c.Body}); l.p.in([]byte(m.Text)) || l.p.in([]byte(m.Body)) {
					l.born[m.ID] = true
				}
			}
		}
		for _, text := range l.p.Target.found(at, data) {
			l.texts[text] = true
			tells = tells || record.SlugTells(at, text)
		}
	}
	switch {
	case tells && memory != "":
		l.memories[memory] = true
	case tells:
		l.s.purge.Paths = append(l.s.purge.Paths, record.PathHash(at))
	}
}

// nameMemories puts ids of memories into the record, and counts the versions that go with them. It
// adds the statements that hold the text in every version, in all our histories, so that no session
// teaches them again.
func (l *lookout) nameMemories() {
	delete(l.born, "")
	for id := range l.born {
		if !l.p.clean[id] && !l.p.local { // a fetched history may have a clean version
			l.memories[id] = true
		}
	}
	for id, all := range l.paths {
		for _, at := range all {
			if l.memories[record.MemoryOf(at)] && !l.p.kinds[record.MemoryDir][string(id)] {
				l.gone(at, id)
			}
		}
	}
	l.s.purge.Memories = slices.Sorted(maps.Keys(l.memories))
}

// gone counts a removed file.
func (l *lookout) gone(at string, id gitstore.ID) {
	top, _, inside := strings.Cut(at, "/")
	if m := record.MemoryOf(at); m != "" {
		l.p.memories[m]++
	}
	if !inside {
		top = "other"
	}
	if l.p.kinds[top] == nil {
		l.p.kinds[top] = map[string]bool{}
	}
	l.p.kinds[top][string(id)] = true
}

// commit checks the message of a commit.
func (l *lookout) commit(headers, message string, said []string) {
	hash := gitstore.MessageHash(message)
	if message == gitstore.PurgedMessage || l.before.Messages[hash] {
		return
	}
	if l.p.inMessage(ownWords(message), said) || l.p.in([]byte(headers)) {
		l.s.purge.Messages = append(l.s.purge.Messages, hash)
		l.p.messages[hash] = true
	}
}

// findConfig notes whether the current settings hold the text. A store cannot exist without them.
func (l *lookout) findConfig(ctx context.Context) {
	for _, r := range l.s.refs {
		if r.Name == l.c.Memory.Ref() {
			_ = l.c.Book.ViewAt(ctx, r.ID, func(v *record.View) error {
				text, err := v.Config()
				l.p.config = err == nil && l.p.inFile("reverie.toml", text)
				return nil
			})
		}
	}
}

// learnedFrom records the sessions behind a reflection about a purged memory.
func (p *Plan) learnedFrom(at string, data []byte) {
	if p.memory == "" {
		return
	}
	if r, err := record.ParseReflection(at, data); err == nil {
		p.sessions[r.Client+"/"+r.Session] = true
	}
	if o, err := record.ParseOperation(at, data); err == nil && o.Memory.ID == p.memory {
		for _, s := range o.Sightings {
			p.sessions[s.Client+"/"+s.Session] = true
		}
	}
}
