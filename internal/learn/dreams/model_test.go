package dreams

import (
	"testing"
	"time"
)

func TestDreamIsDue(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		fresh int
		last  time.Time
		want  bool
	}{
		{0, time.Time{}, false}, {4, time.Time{}, false}, {5, time.Time{}, true},
		{5, now.Add(-23 * time.Hour), false}, {5, now.Add(-24 * time.Hour), true}, {4, now.AddDate(-1, 0, 0), false},
		{19, now.Add(-time.Hour), false}, {20, now.Add(-time.Hour), true},
	} {
		if due, wait := dueNow(tt.fresh, tt.last, now); due != tt.want || due == (wait != Wait{}) {
			t.Errorf("%d new, last at %v: %v %+v", tt.fresh, tt.last, due, wait)
		}
	}
}
