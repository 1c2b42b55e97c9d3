package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On the first day the second person of a team is asked once whether to trust the first one, and
// agents are then given the first one's memories.
func TestFirstDayInATeam(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // with no agent's folder: the first question is about git's hooks
	alice, bob := t.TempDir(), filepath.Join(t.TempDir(), "bob")
	git(t, alice, "init", "-q")
	git(t, alice, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, alice, "config", "user.email", "alice@example.com")
	t.Setenv("GIT_COMMITTER_EMAIL", "alice@example.com")
	must(t, alice, "remember", "-k", "constraint", "Never push to main")
	must(t, alice, "remember", "We deploy on Tuesdays")
	git(t, alice, "clone", "-q", ".", bob)
	git(t, bob, "config", "user.email", "bob@example.com")
	t.Setenv("GIT_COMMITTER_EMAIL", "bob@example.com")
	if a := onTerminal(t, bob, "n\ny\n", "init"); a.code != 0 || strings.Count(a.out, "Trust alice@example.com (2 memories)? [y/N]") != 1 || !strings.Contains(a.out, "released 2 memories") {
		t.Fatalf("%s", a)
	}
	if given := must(t, bob, "context"); !strings.Contains(given, "Never push to main") || !strings.Contains(given, "We deploy on Tuesdays") {
		t.Errorf("agents are given\n%s", given)
	}
	if a := onTerminal(t, bob, "n\n", "init"); a.code != 0 || strings.Contains(a.out, "Trust ") {
		t.Errorf("asks again: %s", a)
	}
}

// A person at a terminal is asked about each part, and gets the agreed ones: the next session is
// given the rule that a past session stated.
func TestInitAsks(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	write(t, filepath.Join(dir, "CLAUDE.md"), "# Rules\n\n- Run `make lint` before each commit.\n- Never edit generated files by hand.\n")
	session, err := os.ReadFile("../examples/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(home, ".claude", "projects", "-here")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(kept, "4b91b8f5-93c1-4344-b8d6-0d7fad1bbbf3.jsonl"), strings.ReplaceAll(string(session), "/home/ada/src/heron", dir))
	questions := []string{"Connect Claude Code (changes ", "Add git hooks, ", "Import 2 statements from CLAUDE.md, ", "Learn from 1 past session of Claude Code "}

	a := onTerminal(t, dir, "n\nn\nn\nn\n", "init")
	for _, q := range questions {
		if a.code != 0 || strings.Count(a.out, q) != 1 {
			t.Errorf("does not ask %q: %s", q, a)
		}
	}
	settings := filepath.Join(home, ".claude", "settings.json")
	if _, err := os.Lstat(settings); err == nil || must(t, dir, "list") != "" || must(t, dir, "review") != "" {
		t.Fatalf("a no is no answer to do it: %s", a)
	}

	a = onTerminal(t, dir, "y\nn\n\n\n", "init")
	if text, err := os.ReadFile(settings); err != nil || !strings.Contains(string(text), "hook claude") {
		t.Errorf("%v: %s\n%s", err, text, a)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git", "hooks", "post-commit")); err == nil {
		t.Errorf("adds git hooks that the person refused: %s", a)
	}
	if given := must(t, dir, "context"); !strings.Contains(given, "always use pnpm") && !strings.Contains(given, "Always use pnpm") {
		t.Errorf("the next session is given\n%s\nafter %s", given, a)
	}
	if waits := must(t, dir, "review"); !strings.Contains(waits, "make lint") {
		t.Errorf("what waits is\n%s\nafter %s", waits, a)
	}

	a = onTerminal(t, dir, "y\n", "init")
	if strings.Count(a.out, "[Y/n]") != 1 || !strings.Contains(a.out, questions[1]) {
		t.Errorf("asks about what is done: %s", a)
	}
	if a = reverie(t, dir, "init"); a.code != 0 || strings.Contains(a.out+a.err, "?") {
		t.Errorf("asks without a terminal: %s", a)
	}
}
