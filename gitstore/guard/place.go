package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
)

// Roots returns the fixed parts of a memory's paths and of the files that its guards watch, sorted.
func Roots(m record.Memory) (all []string) {
	for _, glob := range m.Paths {
		all = append(all, recall.Root(glob))
	}
	for _, on := range m.Trigger().Guards {
		if p, err := Parse(on); err == nil && p.Tool == hooks.Edit {
			all = append(all, recall.Root(p.Of))
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(root string) bool { return root == "" })
}

// Move returns a memory with its paths, and those in its guards, changed as if the file or folder
// old had moved to now. Both are clean and start at the top of the work tree.
func Move(m record.Memory, old, now string) record.Memory {
	move := func(at string) string {
		if recall.Under(at, old) {
			return path.Join(now, at[len(old):])
		}
		return at
	}
	m.Paths = slices.Clone(m.Paths)
	for i, glob := range m.Paths {
		m.Paths[i] = move(glob)
	}
	t := m.Trigger()
	for i, on := range t.Guards {
		p, err := Parse(on)
		switch {
		case err != nil:
			continue
		case p.Tool == hooks.Edit:
			p.Of = move(p.Of)
		case p.Tool == hooks.Bash:
			words := strings.Split(p.Of, " ")
			for j, word := range words {
				// no other word is a path for certain
				if strings.Contains(word, "/") || j > 0 && words[j-1] == "cd" {
					words[j] = move(word)
				}
			}
			p.Of = strings.Join(words, " ")
		}
		t.Guards[i] = p.String()
	}
	return m.WithTrigger(t)
}
