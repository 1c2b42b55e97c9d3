package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/worktree"
)

func TestCallNamesTheModel(t *testing.T) {
	for _, name := range Names() {
		for _, phase := range []worktree.Phase{worktree.Coding, worktree.Auditing} {
			for _, inside := range []bool{false, true} {
				argv, _, err := Call(name, "m1", phase, inside)
				i := slices.Index(argv, "m1")
				if err != nil || argv[0] != name || i < 1 || argv[i-1] != "--model" {
					t.Errorf("%s %s: %q, %v", name, phase, argv, err)
				}
				if slices.Contains(argv[:len(argv)-1], "-") {
					t.Errorf("%s %s: something follows the prompt: %q", name, phase, argv)
				}
			}
		}
	}
}

// In a container an agent disables its own sandbox; outside it keeps it.
func TestCallInAContainer(t *testing.T) {
	for _, test := range []struct {
		name   string
		phase  worktree.Phase
		inside bool
		want   string
	}{
		{"codex", worktree.Coding, false, "codex exec --json --sandbox workspace-write -"},
		{"codex", worktree.Auditing, false, "codex exec --json --sandbox read-only -"},
		{"codex", worktree.Coding, true, "codex exec --json --sandbox danger-full-access --skip-git-repo-check -"},
		{"codex", worktree.Auditing, true, "codex exec --json --sandbox danger-full-access --skip-git-repo-check -"},
	} {
		argv, _, err := Call(test.name, "", test.phase, test.inside)
		if got := strings.Join(argv, " "); err != nil || got != test.want {
			t.Errorf("%s %s, inside %v: %q, %v", test.name, test.phase, test.inside, got, err)
		}
	}
	for _, inside := range []bool{false, true} {
		_, env, err := Call("claude", "", worktree.Coding, inside)
		if err != nil || slices.Contains(env, "IS_SANDBOX=1") != inside {
			t.Errorf("claude, inside %v: %q, %v", inside, env, err)
		}
	}
}
