package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// However many commits of however many sessions a rebase made: those that a branch has are the
// sessions', and no others.
func TestCopiedCommitsCountWhereABranchHasThem(t *testing.T) {
	r := testrepo.New(t)
	w := at(t, r.Dir, noon)
	dir, err := w.Repo.State().Dir()
	if err != nil {
		t.Fatal(err)
	}
	tip := r.Run("rev-parse", "HEAD")
	var links strings.Builder
	next := func(parent, session string) string {
		id := r.Run("commit-tree", "-p", parent, "-m", fmt.Sprint(links.Len()), "HEAD^{tree}")
		fmt.Fprintf(&links, "copied %s main %s\n", id, session)
		return id
	}
	lost := next(tip, "claude/one")
	next(lost, "claude/lost")
	for range 30 {
		tip = next(next(tip, "claude/one"), "codex/two")
	}
	r.Run("update-ref", "refs/remotes/origin/main", tip)
	fmt.Fprintf(&links, "copied %s main codex/two\n", strings.Repeat("ab", 20)) // is not here any more
	if err := os.WriteFile(filepath.Join(dir, githook.LinksFile), []byte(links.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := linked(t.Context(), w)
	if err != nil || len(got) != 2 || len(got["claude/one"]) != 30 || len(got["codex/two"]) != 30 {
		t.Errorf("%d sessions, of one %d and of the other %d: %v", len(got), len(got["claude/one"]), len(got["codex/two"]), err)
	}
}
