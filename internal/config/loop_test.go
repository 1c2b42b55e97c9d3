package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A team can require more checks of loops and allow them less, but cannot choose the workers.
func TestTeamCanOnlyTightenLoops(t *testing.T) {
	user := Default()
	user.Loop = Loop{Agent: "claude", MaxIterations: 0, MinAudits: 1, MaxErrors: 3, Stall: 60, MaxStalls: 5, MaxRepeats: 3, BlockOn: []string{"bug"}, MaxFile: 1000}
	c := user
	if err := c.Restrict("reverie.toml", []byte(`format = 1
[loop]
max-iterations = 9
min-audits = 2
max-errors = 0
stall-timeout = 600
max-stalls = 2
block-on = ["warning"]
max-file = 5000
`)); err != nil {
		t.Fatal(err)
	}
	want := user.Loop
	want.MaxIterations, want.MinAudits, want.MaxStalls, want.BlockOn = 9, 2, 2, []string{"bug", "warning"}
	if d := cmp.Diff(want, c.Loop); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"bug"}, user.Loop.BlockOn); d != "" {
		t.Errorf("the user's own changed: %s", d)
	}
	for text, says := range map[string]string{
		`loop.agent = "codex"`:     "only a user's own settings",
		`loop.audit = "true"`:      "only a user's own settings",
		`loop.audit-model = "m"`:   "only a user's own settings",
		`loop.max-iterations = -1`: "-1 is not a whole number from 0",
		`loop.block-on = ["all"]`:  "all is not one of bug, warning, suggestion",
	} {
		if err := c.Restrict("reverie.toml", []byte("format = 1\n"+text+"\n")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
