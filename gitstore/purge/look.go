package purge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// lookout searches the histories of one shelf for the target of a purge.
type lookout struct {
	c      *Clone
	p      *Plan         // counts the finds
	s      *shelf        // collects the names for the records
	before gitstore.Omit // named by earlier records

	paths    map[gitstore.ID][]string // of each content
	texts    map[string]bool          // the words themselves, as they were found
	memories map[string]bool          // memories whose every version is removed
	recorded bool                     // remove only the content that records name
}

// look reads everything once.
func (l *lookout) look(ctx context.Context) error {
	l.paths, l.texts, l.memories = map[gitstore.ID][]string{}, map[string]bool{}, map[string]bool{}
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
	l.otherVersions()
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

// otherVersions counts the versions of memories that are removed entirely.
func (l *lookout) otherVersions() {
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
