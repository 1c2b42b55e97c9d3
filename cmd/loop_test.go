package cmd

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/worktree"
)

// The fields that docs/json.md and docs/loops-record.md name. Fields may be added here, never removed.
func TestLoopJSONIsAPromise(t *testing.T) {
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
	var j loopJSON
	j.State = worktree.State{Reason: "x", Detail: "x", At: "x", InPlace: "x", Given: "x", Nonce: "x", Trees: []string{"x"}}
	want := "at audits base blocking branch changed commits detail dir errors findings foreign format given holder in_place iteration live name nonce phase promised reason repeats run runs settings spent stalls started tip title trees verified"
	if d := cmp.Diff(want, all(j)); d != "" {
		t.Error(d)
	}
	f := worktree.Finding{Rule: "x", Scenario: "x", Context: "x", Reason: "x", Touched: true}
	if d := cmp.Diff("at by context file first id last line reason recurrences rule scenario severity state text touched", all(f)); d != "" {
		t.Error(d)
	}
}

// Wherever the text is cut, no part of a secret stays.
func TestFailureKeepsNoPartOfASecret(t *testing.T) {
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for before := 250; before < 300; before++ {
		err := failedRun(nil, "aider", worktree.Result{Code: 1, Output: "first\n" + strings.Repeat("x", before) + " " + token + " and more\n"}, 0)
		if strings.Contains(err.Error(), token[:7]) {
			t.Fatalf("behind %d bytes: %v", before, err)
		}
		if !strings.HasPrefix(err.Error(), "aider ended with exit code 1: xxx") {
			t.Fatal(err)
		}
	}
}
