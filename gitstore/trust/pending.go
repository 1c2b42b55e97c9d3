package trust

import (
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Pending is a change that a person has to decide: agents are not given it.
type Pending struct {
	record.Memory                // as it is; as it was where its file is gone
	By            []string       // who changed it last and is not trusted
	Given         *record.Memory // the version that agents are given meanwhile; nil: none
	When          time.Time      // that version was made; zero where that is not known
	Gone          bool           // its file was taken away
}

// Pending are the changes of a view that matter at a time, sorted by id: what is in force and
// withheld, and what was changed, put out of force or taken away while agents are given an older
// version.
func (w *Withheld) Pending(v *record.View, now time.Time) []Pending {
	if w.None() {
		return nil
	}
	given := map[string]*record.Memory{}
	var all []Pending
	there := map[string]bool{}
	agents, v := w.Given(v), v.Actual()
	for i, f := range agents.Files() { // only what was changed is read
		if _, ok := w.Changed(f.Path, f.Private); !ok {
			continue
		}
		if m := agents.Memory(i); m.Live(now) {
			given[key(m)] = &m
		}
	}
	for i, f := range v.Files() {
		by := w.WhoseFile(f.Blob, f.Private)
		if len(by) == 0 {
			continue
		}
		m := v.Memory(i)
		there[key(m)] = true
		c, _ := w.Changed(f.Path, f.Private)
		if m.Live(now) || given[key(m)] != nil {
			all = append(all, Pending{Memory: m, By: by, Given: given[key(m)], When: c.When})
		}
	}
	for at, m := range given {
		if c, ok := w.Changed(m.Path(), m.Private); ok && !there[at] {
			all = append(all, Pending{Memory: *m, By: c.By, Given: m, When: c.When, Gone: true})
		}
	}
	slices.SortFunc(all, func(a, b Pending) int { return strings.Compare(key(a.Memory), key(b.Memory)) })
	return all
}

// key tells memories apart: one of the journal may have the file name of one of the branch.
func key(m record.Memory) string {
	if m.Private {
		return m.Path() + "+"
	}
	return m.Path()
}
