package figure

import (
	"testing"
	"time"
)

// By hand: of 15 throws of a coin 3 or fewer show heads with 1.8 %, 4 or fewer with 5.9 %; none of
// 6 does with 1.6 %, none of 5 with 3.1 %.
func TestMedianHasAnInterval(t *testing.T) {
	for n, want := range map[int]Timing{15: {8, 4, 12, 15}, 6: {4, 1, 6, 6}, 5: {3, 1, 5, 5}, 1: {1, 1, 1, 1}} {
		var all []time.Duration
		for i := n; i > 0; i-- {
			all = append(all, time.Duration(i))
		}
		if got := Median(all); got != want {
			t.Errorf("%d values: %+v, want %+v", n, got, want)
		}
	}
	if got, want := (Timing{10, 8, 12, 9}).Over(Timing{4, 3, 9, 7}), (Timing{6, 0, 9, 7}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if few, enough := interval(1, 2, Timing{N: 15}, Timing{N: 5}), interval(1, 2, Timing{N: 6}); few != nil || enough == nil {
		t.Errorf("5 values have %v, 6 have %v", few, enough)
	}
}
