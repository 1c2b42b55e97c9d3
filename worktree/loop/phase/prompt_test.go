package phase

import (
	"strings"
	"testing"
)

// A diff is cut only for a reader who can see the rest in the work tree.
func TestFitDiffLeavesNothingOutInside(t *testing.T) {
	for _, test := range []struct {
		size   int
		inside bool
		shown  int // bytes of the diff
		rest   string
		fault  string
	}{
		{96 << 10, false, 96 << 10, "", ""},
		{96<<10 + 7, false, 96 << 10, "\n[7 bytes more: read them in the work tree]\n", ""},
		{96<<10 + 7, true, 96<<10 + 7, "", ""},
		{256 << 10, true, 256 << 10, "", ""},
		{256<<10 + 1, true, 0, "", "its diff has 262145 bytes"},
	} {
		got, err := fitDiff(strings.Repeat("x", test.size), test.inside)
		if want := strings.Repeat("x", test.shown) + test.rest; got != want {
			t.Errorf("%d bytes, inside %v: %d bytes, which end in %.60q", test.size, test.inside, len(got), got[max(0, len(got)-60):])
		}
		if test.fault == "" && err != nil || test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)) {
			t.Errorf("%d bytes, inside %v: %v", test.size, test.inside, err)
		}
	}
}
