package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (v *View) index(id string) (int, bool) {
	v.read()
	return slices.BinarySearchFunc(v.entries, id, func(e *entry, id string) int { return strings.Compare(e.id(), id) })
}

// Find returns the memory whose id begins with prefix. Errors wrap ErrNoMemory or ErrAmbiguous.
func (v *View) Find(prefix string) (Memory, error) {
	if t := v.quick(); t != nil && ValidID(prefix) {
		if m, found, err := t.byID(prefix); found {
			return m, nil
		} else if err == nil {
			return Memory{}, fmt.Errorf("%s: %w", prefix, ErrNoMemory)
		}
	}
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

// Same returns the memory whose current text says the same as a statement: one that is in force, or else one that was
// retired.
func (v *View) Same(text string) (m Memory, found bool) {
	if t := v.quick(); t != nil {
		if v.asked != nil && v.asked.text == text {
			return v.asked.m, v.asked.found
		}
		if m, found, err := t.same(text); err == nil {
			v.asked = &asked{text, m, found}
			return m, found
		}
	}
	v.read()
	print := Print(text)
	for i, e := range v.entries {
		wordless := e.print.words == "" && print.words == "" // nothing to compare but the signs
		if !wordless && !e.print.Same(print) {
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

// Alike are memories, retired ones too, whose statements have at least this share of their words in common with a statement, the
// most alike first. Where very many have, not all of them are looked at.
func (v *View) Alike(text string, share float64) []Memory {
	print := Print(text)
	var found []Memory
	known := false
	if t := v.quick(); t != nil {
		found, known = t.near(print, share)
	}
	if !known {
		v.read()
		found = nil
		for i, e := range v.entries {
			if e.print.Alike(print) >= share {
				found = append(found, v.at(i))
			}
		}
	}
	likeness := map[string]float64{}
	for _, m := range found {
		likeness[m.ID] = Print(m.Text).Alike(print)
	}
	found = slices.DeleteFunc(found, func(m Memory) bool { return likeness[m.ID] < share })
	slices.SortFunc(found, func(a, b Memory) int {
		return cmp.Or(cmp.Compare(likeness[b.ID], likeness[a.ID]), strings.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(found, func(a, b Memory) bool { return a.ID == b.ID })
}

// Retired returns the memory that was retired and says the same as a statement, if none in force does.
func (v *View) Retired(text string) (Memory, bool) {
	if v.quick() != nil {
		m, found := v.Same(text)
		return m, found && m.Status == Retired
	}
	v.read()
	if v.retired == nil {
		v.retired = []Fingerprint{}
		for _, e := range v.entries {
			if e.retired {
				v.retired = append(v.retired, e.print)
			}
		}
	}
	print := Print(text)
	if !slices.ContainsFunc(v.retired, func(p Fingerprint) bool { return p.Same(print) || p.words == "" && print.words == "" }) {
		return Memory{}, false
	}
	m, found := v.Same(text)
	return m, found && m.Status == Retired
}

// quick is the table where nothing more was read so far, nil where there is none.
func (v *View) quick() *table {
	if v.shelves == nil {
		return nil
	}
	if v.openTable != nil {
		v.table = v.openTable()
		v.openTable = nil
	}
	return v.table
}

// asked is a question to Same and its answer.
type asked struct {
	text  string
	m     Memory
	found bool
}

// byID finds the one value whose id begins with prefix.
func byID[T any](values []T, id func(T) string, prefix string) (T, error) {
	var zero T
	prefix = strings.ToLower(prefix)
	if prefix == "" || strings.Trim(prefix, "0123456789abcdef") != "" {
		return zero, fmt.Errorf("%q: %w", prefix, ErrNoMemory)
	}
	var found []T
	for _, v := range values {
		if id(v) == prefix {
			return v, nil
		}
		if strings.HasPrefix(id(v), prefix) {
			found = append(found, v)
		}
	}
	switch len(found) {
	case 0:
		return zero, fmt.Errorf("%s: %w", prefix, ErrNoMemory)
	case 1:
		return found[0], nil
	}
	names := make([]string, 0, len(found))
	for _, v := range found {
		names = append(names, id(v))
	}
	slices.Sort(names)
	return zero, fmt.Errorf("%s: %w: %s", prefix, ErrAmbiguous, strings.Join(names[:min(5, len(names))], ", "))
}
