package reflect

import "testing"

func TestSameMatter(t *testing.T) {
	for _, c := range []struct {
		text, quote string
		want        bool
	}{
		{"User IDs in the context must not be truncated.", "the id gets truncated! needs fixing", true},
		{"User IDs in the context must not be logged.", "the id gets truncated! needs fixing", false},
		{"Squash commits before merging.", "squash", true},
	} {
		if got := sameMatter(c.text, c.quote); got != c.want {
			t.Errorf("%q of %q: %v", c.text, c.quote, got)
		}
	}
}
