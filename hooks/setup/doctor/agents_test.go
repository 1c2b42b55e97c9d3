package doctor

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// Hooks for calls are missed only while a clone needs them, and noted once nothing does.
func TestHooksForCallsAreCheckedAgainstTheFilter(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	c, err := clone.Open(t.Context(), clone.Options{Dir: testrepo.New(t).Dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	m, err := agents.ThisMachine()
	if err != nil {
		t.Fatal(err)
	}
	claude, _ := hooks.Find("claude")
	target, _ := m.User(claude)
	program := t.TempDir() + "/reverie"
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (agents.Installer{Dir: m.StateDir()}).Install(t.Context(), target, program, c.Repo.CommonDir); err != nil {
		t.Fatal(err)
	}
	var filter hooks.Filter
	filterOf := func(string) hooks.Filter { return filter }
	look := func() (text string) {
		for _, f := range (agentCheck{clone: c, filterOf: filterOf}).run(t.Context()) {
			if f.What == "claude" {
				text += string(f.State) + " " + f.Detail + "\n"
			}
		}
		return text
	}
	if got := look(); strings.Contains(got, "ToolUse") || !strings.HasPrefix(got, "ok calls Reverie from") {
		t.Errorf("without a filter: %s", got)
	}
	filter = hooks.Filter{Commands: []string{"npm *"}}
	if got := look(); !strings.Contains(got, "broken no hook for PreToolUse Bash(*npm*) in "+target.File) {
		t.Errorf("before the refresh: %s", got)
	}
	if changed, err := setup.RefreshGuards(t.Context(), c, filterOf); err != nil || len(changed) != 1 || changed[0].File != target.File {
		t.Errorf("%+v, %v", changed, err)
	}
	if got := look(); strings.Contains(got, "ToolUse") {
		t.Errorf("after the refresh: %s", got)
	}
	filter = hooks.Filter{}
	if got := look(); !strings.Contains(got, "note hooks that nothing needs any more: PreToolUse Bash(*npm*), in "+target.File) {
		t.Errorf("after the last guard: %s", got)
	}
}
