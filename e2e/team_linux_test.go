package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// On the first day the second person of a team is asked once whether to trust the first one, and
// agents are then given the first one's memories.
func TestFirstDayInATeam(t *testing.T) {
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
	if a := onTerminal(t, bob, "y\n", "init"); a.code != 0 || strings.Count(a.out, "Trust alice@example.com (2 memories)? [y/N]") != 1 || !strings.Contains(a.out, "released 2 memories") {
		t.Fatalf("%s", a)
	}
	if given := must(t, bob, "context"); !strings.Contains(given, "Never push to main") || !strings.Contains(given, "We deploy on Tuesdays") {
		t.Errorf("agents are given\n%s", given)
	}
	if a := onTerminal(t, bob, "", "init"); a.code != 0 || strings.Contains(a.out, "Trust ") {
		t.Errorf("asks again: %s", a)
	}
}
