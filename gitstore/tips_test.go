package gitstore_test

import (
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A ref whose file is lost falls back to the older value of packed-refs, without a word of git's.
func TestRefThatWentBackIsNoticed(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	first := write(t, s, map[string]string{"a": "1"})
	second := write(t, s, map[string]string{"a": "2"})
	lost := func() gitstore.ID {
		t.Helper()
		id, err := s.Lost(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if id := lost(); id != "" {
		t.Errorf("%s is lost in a store that is well", id)
	}
	r.Run("update-ref", branch, string(first.Commit))
	if id := lost(); id != second.Commit {
		t.Errorf("lost is %q, want %s", id, second.Commit)
	}
	var found []string
	if err := s.Check(t.Context(), false, func(p gitstore.Problem) { found = append(found, p.String()) }); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !strings.Contains(found[0], string(second.Commit)) {
		t.Errorf("check found %q", found)
	}
	// A commit of plain git's on top of ours is none of that.
	r.Run("update-ref", branch, r.Run("commit-tree", "-p", string(second.Commit), "-m", "by hand", string(second.Tree)))
	if id := lost(); id != "" {
		t.Errorf("%s is lost below a commit on top of it", id)
	}
}
