package trust

import (
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Pending is a change for a person to decide. Agents do not get it.
type Pending struct {
	record.Memory                // the current version, or the last one of a removed file
	By            []string       // untrusted authors of the last change
	Given         *record.Memory // the version that agents get meanwhile, or nil
	When          time.Time      // date of that version; zero if unknown
	Gone          bool           // its file was taken away
}

// Pending returns the changes of a view that await a decision, sorted by id. They are withheld
// memories in force at now, and memories that were changed, retired or removed while agents get an
// older version.
func (w *Withheld) Pending(v *record.View, now time.Time) []Pending {
	if w.None() {
		return nil
	}
	given := map[string]*record.Memory{}
	var all []Pending
	there := map[string]bool{}
	agents, v := w.Given(v), v.Actual()
	for i, f := range agents.Files() { // read only changed files
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

// key identifies a memory: one in the journal may have the same file name as one on the branch.
func key(m record.Memory) string {
	if m.Private {
		return m.Path() + "+"
	}
	return m.Path()
}
