package purge

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
)

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
	ID string `json:"id"`
	N  int    `json:"versions"`
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
		f.Memories = append(f.Memories, Versions{id, p.memories[id]})
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
