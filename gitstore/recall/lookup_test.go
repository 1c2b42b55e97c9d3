package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A long query uses its most informative words, at any position.
func TestLongQueryIsAskedForWhatTellsMost(t *testing.T) {
	var filler, strange []string
	for i := range 2 * maxLookups {
		filler = append(filler, fmt.Sprintf("filler%c%c", 'a'+i/26, 'a'+i%26))
		strange = append(strange, fmt.Sprintf("strange%c%c", 'a'+i/26, 'a'+i%26))
	}
	all, none := strings.Join(filler, " "), strings.Join(strange, " ")
	x := indexOf(t, docsOf(all, all+" again", "the lacquer of widgets"), 2)
	for _, query := range []string{all + " lacquer", none + " lacquer", "lacquer " + all, all + " " + none + " lacquer"} {
		got := x.Rank(Request{Text: query})
		n := slices.Index(keys(x, got), "002")
		if n < 0 {
			t.Errorf("%.30q… of %d words: not found", query, len(strings.Fields(query)))
			continue
		}
		if c := got[n].Covered; c > 0.05 {
			t.Errorf("%.30q…: one word of %d covers %v", query, len(strings.Fields(query)), c)
		}
	}
}
