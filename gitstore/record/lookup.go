package record

import (
	"cmp"
	"slices"
	"strings"
)

func (v *View) index(id string) (int, bool) {
	v.read()
	return slices.BinarySearchFunc(v.entries, id, func(e *entry, id string) int { return strings.Compare(e.id(), id) })
}

// Find returns the memory whose id begins with prefix. The error wraps ErrNoMemory or ErrAmbiguous.
func (v *View) Find(prefix string) (Memory, error) {
	i, ok := v.index(prefix)
	if !ok {
		e, err := byID(v.entries, (*entry).id, prefix)
		if err != nil {
			return Memory{}, err
		}
		i, _ = v.index(e.id())
	}
	return v.at(i), nil
}

// Same returns a memory whose statement means the same as text, preferably one in force.
func (v *View) Same(text string) (m Memory, found bool) {
	v.read()
	print := Print(text)
	for i, e := range v.entries {
		if !mayShare(e.mark(), print.mark(), sameWords) {
			continue
		}
		of := e.print()
		wordless := of.words == "" && print.words == "" // nothing to compare but the signs
		if !wordless && !of.Same(print) {
			continue
		}
		switch held := v.at(i); {
		case wordless && Normal(held.Text) != Normal(text):
		case held.Status != Retired:
			return held, true
		case !found:
			m, found = held, true
		}
	}
	return m, found
}

// Alike returns memories, retired ones included, whose statements share at least this part of their
// words with text, the most alike first.
func (v *View) Alike(text string, share float64) []Memory {
	v.read()
	print := Print(text)
	var found []Memory
	likeness := map[string]float64{}
	for i, e := range v.entries {
		if !mayShare(e.mark(), print.mark(), share) {
			continue
		}
		if n := e.print().Alike(print); n >= share {
			likeness[e.id()], found = n, append(found, v.at(i))
		}
	}
	slices.SortFunc(found, func(a, b Memory) int {
		return cmp.Or(cmp.Compare(likeness[b.ID], likeness[a.ID]), strings.Compare(a.ID, b.ID))
	})
	return found
}

// Retired returns the retired memory with the meaning of a statement, if none in force has it.
func (v *View) Retired(text string) (Memory, bool) {
	m, found := v.Same(text)
	return m, found && m.Status == Retired
}
