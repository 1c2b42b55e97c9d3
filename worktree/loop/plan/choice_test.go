package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/worktree"
)

// A choice replaces the coder and the auditor as a whole, and every other setting by itself.
func TestChoiceApplies(t *testing.T) {
	usual := worktree.Settings{Agent: "claude", AuditAgent: "codex", AuditModel: "large", MinAudits: 1, MaxIterations: 9}
	for _, c := range []struct {
		name  string
		given string // options
		set   worktree.Settings
		want  func(*worktree.Settings)
		fault string
	}{
		{"nothing", "", worktree.Settings{MaxIterations: 3}, func(*worktree.Settings) {}, ""},
		{"a limit", "max", worktree.Settings{MaxIterations: 3}, func(s *worktree.Settings) { s.MaxIterations = 3 }, ""},
		{"a command", "", worktree.Settings{Command: []string{"aider"}}, func(s *worktree.Settings) { s.Agent, s.Command = "", []string{"aider"} }, ""},
		{"an audit", "audit", worktree.Settings{Audit: "make audit"}, func(s *worktree.Settings) { s.Audit, s.AuditAgent, s.AuditModel = "make audit", "", "" }, ""},
		{"an auditor", "audit-agent", worktree.Settings{AuditAgent: "gemini"}, func(s *worktree.Settings) { s.AuditAgent, s.AuditModel = "gemini", "" }, ""},
		{"the auditor's model", "audit-model", worktree.Settings{AuditModel: "small"}, func(s *worktree.Settings) { s.AuditModel = "small" }, ""},
		{"two coders", "agent", worktree.Settings{Agent: "codex", Command: []string{"aider"}}, nil, "not both"},
		{"two auditors", "audit audit-agent", worktree.Settings{Audit: "x", AuditAgent: "codex"}, nil, "not both"},
		{"an unknown agent", "agent", worktree.Settings{Agent: "nobody"}, nil, `there is no agent "nobody"`},
		{"a negative limit", "max", worktree.Settings{MaxIterations: -1}, nil, "--max: less than nothing"},
		{"another sandbox", "sandbox", worktree.Settings{Sandbox: "docker"}, nil, "keeps what it was started with"},
	} {
		given := strings.Fields(c.given)
		got, err := Choice{c.set, func(option string) bool { return slices.Contains(given, option) }}.apply(usual, false)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v, want %q", c.name, err, c.fault)
			}
			continue
		}
		want := usual
		c.want(&want)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, d)
		}
	}
}
