package recall

import "testing"

// Each case has one hundred trials; w is the wanted memory, the others are not.
func TestWeigh(t *testing.T) {
	repeat := func(n int, one Trial) (all []Trial) {
		for range n {
			one.Want = "w"
			all = append(all, one)
		}
		return all
	}
	words, near := []string{"w", "a", "b"}, []string{"c", "d", "w"}
	for name, test := range map[string]struct {
		trials        []Trial
		weight, alone float64
	}{
		"nothing was tried":                {nil, 0, 0},
		"both always find it":              {repeat(100, Trial{Lexical: words, Near: words}), 0, 1},
		"the words find it, the near late": {repeat(100, Trial{Lexical: words, Near: near}), 0, 0.5},
		"only the near find it":            {repeat(100, Trial{Lexical: near, Near: []string{"w"}}), 1, 1},
		"the near find nothing":            {repeat(100, Trial{Lexical: words, Near: []string{"x"}}), 0, 0},
		// In half of the trials the right memory follows a wrong one that is not near. In the other half
		// it comes first, with another one nearest. Any weight improves the first half. With weight 1 the
		// lexical order still decides the second half.
		"each helps the other": {append(repeat(50, Trial{Lexical: []string{"a", "w"}, Near: []string{"w"}}), repeat(50, Trial{Lexical: []string{"w"}, Near: []string{"x"}})...), 1, 0.5},
		// One in a hundred gains 0.37, which is chance.
		"too little to tell": {append(repeat(1, Trial{Lexical: []string{"a", "w"}, Near: []string{"w"}}), repeat(99, Trial{Lexical: words, Near: words})...), 0, 1},
	} {
		if weight, alone := Weigh(test.trials); weight != test.weight || alone != test.alone {
			t.Errorf("%s: weight %v, alone %v, want %v and %v", name, weight, alone, test.weight, test.alone)
		}
	}
}
