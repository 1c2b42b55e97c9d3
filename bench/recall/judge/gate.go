package judge

import "slices"

// Gate returns the ids of the memories that a prompt gets unasked, most important first; mostly
// none.
type Gate func(memories []Memory, prompt string) []string

// Given is the result of a gate for the prompts of a set.
type Given struct {
	Right  []float64 // of the labelled queries, in their order: 1 if a right memory was given, else 0
	Wrong  []float64 // of the same: 1 if only wrong memories were given
	Silent []float64 // of the foreign queries: 1 if nothing was given
}

// RunGate asks a gate every query of a set, each about its possible memories.
func RunGate(gate Gate, s Set) Given {
	var g Given
	for _, q := range s.Queries {
		memories := s.Stores[q.Group]
		if q.Before != 0 || len(q.Exclude) > 0 {
			memories = slices.DeleteFunc(slices.Clone(memories), func(m Memory) bool { return !q.sees(m) })
		}
		given := gate(memories, q.Text)
		if len(q.Rel) == 0 {
			g.Silent = append(g.Silent, yes(len(given) == 0))
			continue
		}
		right := slices.ContainsFunc(given, func(id string) bool { return q.Rel[id] > 0 })
		g.Right = append(g.Right, yes(right))
		g.Wrong = append(g.Wrong, yes(len(given) > 0 && !right))
	}
	return g
}

func yes(fact bool) float64 {
	if fact {
		return 1
	}
	return 0
}
