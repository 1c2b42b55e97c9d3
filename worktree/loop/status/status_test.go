package status

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/worktree"
)

// docs/json.md and docs/loops-record.md name these fields. Fields may be added here, never removed.
func TestStatusJSONIsAPromise(t *testing.T) {
	all := func(v any) string {
		t.Helper()
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		return strings.Join(slices.Sorted(maps.Keys(fields)), " ")
	}
	var s Status
	s.State = worktree.State{Reason: "x", Detail: "x", At: "x", InPlace: "x", Given: "x", Nonce: "x", Trees: []string{"x"}}
	want := "at audits base blocking branch changed commits detail dir errors findings foreign format given holder in_place iteration live name nonce phase promised reason repeats run runs settings spent stalls started tip title trees verified"
	if d := cmp.Diff(want, all(s)); d != "" {
		t.Error(d)
	}
	f := worktree.Finding{Rule: "x", Scenario: "x", Context: "x", Reason: "x", Touched: true}
	if d := cmp.Diff("at by context file first id last line reason recurrences rule scenario severity state text touched", all(f)); d != "" {
		t.Error(d)
	}
}
