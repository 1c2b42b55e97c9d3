package recall

import "testing"

// One hundred trials each; w stands for the memory that is wanted, the others for some that are not.
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
		"only the near find it":            {repeat(100, Trial{Lexical: near, Near: []string{"w"}}), 3, 1},
		"the near find nothing":            {repeat(100, Trial{Lexical: words, Near: []string{"x"}}), 0, 0},
		// In half of the trials the words have it behind a wrong one that is not near: 1/11 and 1/12 + weight/11, so that
		// .1 is enough to turn them round; in the others, the nearest one is wrong: 1/11 and weight/11, equal at 1.
		"each helps the other": {append(repeat(50, Trial{Lexical: []string{"a", "w"}, Near: []string{"w"}}), repeat(50, Trial{Lexical: []string{"w"}, Near: []string{"x"}})...), 0.1, 0.5},
	} {
		if weight, alone := Weigh(test.trials); weight != test.weight || alone != test.alone {
			t.Errorf("%s: weight %v, alone %v, want %v and %v", name, weight, alone, test.weight, test.alone)
		}
	}
}
