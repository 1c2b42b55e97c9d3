package gitstore_test

import (
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// WithTree finds the newest commit with a tree, and nothing if only the tree exists.
func TestWithTree(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	first := write(t, s, map[string]string{"n": "1"})
	write(t, s, map[string]string{"n": "2"})
	again := write(t, s, map[string]string{"n": "1"})
	last := write(t, s, map[string]string{"n": "3"})
	for tree, want := range map[gitstore.ID]gitstore.ID{
		first.Tree: again.Commit, last.Tree: last.Commit, gitstore.ID(r.Run("rev-parse", "HEAD^{tree}")): "",
		"~1": "", gitstore.ID(strings.Repeat("1", 40)): "",
	} {
		if got, err := s.WithTree(t.Context(), last.Commit, tree); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", tree, got, err, want)
		}
	}
}
