package term

import (
	"strings"
	"testing"
)

// A mistyped answer is no answer: the question comes again.
func TestAskRepeatsUntilItIsAnswered(t *testing.T) {
	for _, c := range []struct {
		typed, preset string
		want          bool
		asked         int
	}{
		{"yes\n", "n", true, 1},
		{"N\n", "y", false, 1},
		{"\n", "y", true, 1},
		{"t\nyeah\ny\n", "n", true, 3},
		{"what?\nno\n", "y", false, 2},
		{"t\n", "y", false, 2}, // the input ends
		{"", "y", false, 1},
	} {
		var err strings.Builder
		x := Terminal{In: strings.NewReader(c.typed), Err: &err, Interactive: true, Width: 80}
		if got := x.Ask("Trust alice?", c.preset); got != c.want || strings.Count(err.String(), "Trust alice?") != c.asked {
			t.Errorf("%q with %q: %v, want %v asked %d times; shown %q", c.typed, c.preset, got, c.want, c.asked, err.String())
		}
	}
}
