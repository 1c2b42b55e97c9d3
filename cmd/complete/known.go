package complete

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/worktree"
)

// Known returns the words of a subject, with those that a repository knows unless r is nil.
func Known(ctx context.Context, r *reader.Reader, s Subject) (all []Word) {
	add := func(text, about string) { all = append(all, Word{text, about}) }
	switch s {
	case Kinds:
		for _, k := range record.Kinds {
			add(string(k), "")
		}
	case Agents:
		for _, a := range hooks.Agents {
			add(a.Name, a.Title)
		}
	}
	if r == nil || len(all) > 0 || s == None {
		return all
	}
	switch s {
	case Loops:
		names, _ := worktree.List(ctx, r.Local)
		for _, name := range names {
			add(name, "")
		}
		return all
	case Sessions:
		kept, _ := r.Sessions.List()
		for _, k := range kept {
			add(k.Name(), k.Title)
		}
		return all
	}
	_ = r.View(ctx, func(v *record.View) (err error) {
		if s == Operations {
			ops, _ := v.Inbox().Operations()
			for _, o := range ops {
				add(o.ID[:8], o.Memory.Text)
			}
			return nil
		}
		if v, err = r.ForAsker(ctx, v); err != nil {
			return err
		}
		tags := map[string]bool{}
		for _, m := range append(v.Memories(), reader.Own(ctx, r, v)...) {
			if s == Memories {
				add(m.ID[:8], m.Text)
				continue
			}
			for _, tag := range m.Tags {
				if !tags[tag] {
					tags[tag] = true
					add(tag, "")
				}
			}
		}
		return nil
	})
	return all
}
