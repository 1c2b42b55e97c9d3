package record

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
)

// Instead is a replacement for agents.
type Instead struct {
	Path      string
	Private   bool        // it is of the journal
	Now, Then gitstore.ID // the current content, "" without a file, and the replacement
	Text      string      // of Then, if git may lack it
}

// Given returns the view for agents: v without the withheld files and with replacements for some.
// It leaves out unreadable and purged replacements. key identifies the selection. The result is
// valid as long as v.
func (v *View) Given(key string, versions func() []Instead, withheld func(blob gitstore.ID, private bool) bool) *View {
	g := &View{memory: v.memory, journal: v.journal, inbox: v.inbox, fallback: v.fallback, actual: v, otherwise: key}
	g.shelves = func() (all [2]shelf, err error) {
		v.read()
		instead := versions()
		slices.SortFunc(instead, func(a, b Instead) int { return strings.Compare(a.Path, b.Path) })
		with := replacer{v.memory, instead, v.Purges().Took()}
		for i, s := range v.loaded {
			all[i] = with.replace(s, i == 1, func(blob gitstore.ID) bool { return withheld(blob, i == 1) })
		}
		return all, nil
	}
	v.agents = g
	return g
}

// Actual returns the full view.
func (v *View) Actual() *View {
	if v.actual != nil {
		return v.actual
	}
	return v
}

// replacer applies replacements to shelves.
type replacer struct {
	tree *gitstore.Tree // for their blobs
	all  []Instead
	took func(id, blob string) bool // of purged content; may be nil
}

// replace returns a shelf with the replacements and without the withheld files.
func (r replacer) replace(s shelf, private bool, withheld func(gitstore.ID) bool) shelf {
	out := shelf{tree: s.tree, damage: s.damage}
	var fresh []entry
	var texts []string
	for _, in := range r.all {
		id, is := MemoryID(in.Path)
		if !is || in.Private != private || s.blob(in.Path) != in.Now || r.took != nil && r.took(id, string(in.Then)) {
			continue
		}
		fresh, texts = append(fresh, entry{file: &parsed{path: in.Path, blob: in.Then}}), append(texts, in.Text)
	}
	fresh = r.parse(fresh, texts)
	out.entries = merged(slices.DeleteFunc(slices.Clone(s.entries), func(e entry) bool {
		return e.blob() != "" && withheld(e.blob())
	}), fresh)
	return out
}

// blob returns the content of a file of a shelf, or "".
func (s *shelf) blob(path string) gitstore.ID {
	i, _ := slices.BinarySearchFunc(s.entries, path, func(e entry, path string) int { return strings.Compare(e.path(), path) })
	for ; i < len(s.entries) && s.entries[i].path() == path; i++ {
		if blob := s.entries[i].blob(); blob != "" {
			return blob
		}
	}
	return ""
}

// parse fills in the memories of entries from their texts, or from their blobs if texts are
// empty. It skips unreadable entries, which git may have pruned.
func (r replacer) parse(entries []entry, texts []string) (good []entry) {
	var ids []gitstore.ID
	var at []int
	read := make([][]byte, len(entries))
	for i, text := range texts {
		if read[i] = []byte(text); text == "" {
			ids, at = append(ids, entries[i].blob()), append(at, i)
		}
	}
	if r.tree.ReadAll(ids, func(n int, data []byte) error { read[at[n]] = slices.Clone(data); return nil }) != nil {
		for n, i := range at {
			read[i] = nil
			_ = r.tree.ReadAll(ids[n:n+1], func(_ int, data []byte) error { read[i] = slices.Clone(data); return nil })
		}
	}
	for i := range entries {
		if e := &entries[i]; len(read[i]) > 0 {
			if e.parse(read[i]); !e.is(isBad) {
				good = append(good, *e)
			}
		}
	}
	return good
}
