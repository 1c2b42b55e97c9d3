package finding

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSort(t *testing.T) {
	rules := Rules{{ID: "second-in-the-alphabet"}, {ID: "entry"}}
	a := Finding{Rule: "entry", Path: "a", Line: 2, Message: "x"}
	all := []Finding{
		{Rule: "entry", Path: "b"}, a, {Rule: "second-in-the-alphabet", Path: "a", Line: 2, Message: "y"},
		{Rule: "entry", Path: "a", Line: 2, Message: "w"}, a, {Rule: "unknown", Path: "a", Line: 2}, {Rule: "entry", Path: "a", Line: 10},
	}
	want := []Finding{
		{Rule: "unknown", Path: "a", Line: 2}, {Rule: "second-in-the-alphabet", Path: "a", Line: 2, Message: "y"},
		{Rule: "entry", Path: "a", Line: 2, Message: "w"}, a, {Rule: "entry", Path: "a", Line: 10}, {Rule: "entry", Path: "b"},
	}
	if diff := cmp.Diff(want, rules.Sort(all)); diff != "" {
		t.Error(diff)
	}
}

// Forges distinguish findings by their fingerprints, even two that differ only in their line.
func TestFingerprintsInSARIF(t *testing.T) {
	f := Finding{Rule: "entry", Level: Warning, Path: "a b#c", Line: 3, ID: "0123456789abcdef", Message: "m"}
	lower, other := f, f
	lower.Line, other.Message = 9, "n"
	prints := map[string]int{}
	for _, r := range (Rules{{ID: "entry"}}).SARIF([]Finding{f, lower, other}, "v1").Runs[0].Results {
		prints[r.Fingerprints["reverieFinding/v1"]]++
		if at := r.Locations[0].Physical.Artifact.URI; at != "a%20b%23c" {
			t.Errorf("the file is %s", at)
		}
	}
	// sha256 of the rule, path, id, message and number, with zero bytes between, by sha256sum.
	if len(prints) != 3 || prints["47aff0582ce26750acf29a4583caa164"] != 1 {
		t.Errorf("%v", prints)
	}
}
