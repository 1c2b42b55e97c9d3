package gitstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestRevertRefusesWhatItCannotUndo(t *testing.T) {
	r := testrepo.New(t)
	r.Write("code.go", "package x\n")
	r.Commit("code one")
	r.Write("code.go", "package y\n")
	r.Commit("code two")
	s := create(t, r)
	made := r.Run("rev-parse", branch)
	first := r.Run("rev-parse", branch+"^")
	side := write(t, s, map[string]string{"memories/a": "1"})
	tree := r.Run("rev-parse", branch+"^{tree}")
	merge := r.Run("commit-tree", "-m", "merge", "-p", string(side.Commit), "-p", made, tree)
	r.Run("update-ref", branch, merge)
	before := contents(t, s)
	for _, c := range []struct {
		name, rev, want string
		unknown         bool
	}{
		{"a commit of the code", r.Run("rev-parse", "HEAD"), "is not in the history of " + branch, true},
		{"no commit at all", "nosuch", "no such revision", true},
		{"the first commit", first, "it is the store's first commit", false},
		{"the commit of the first files", made, "it made the store's first files", false},
		{"a merge", merge, "a merge cannot be reverted; revert the commits that it brought", false},
	} {
		_, err := s.Revert(t.Context(), c.rev, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, gitstore.ErrRevision) != c.unknown {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if diff := cmp.Diff(before, contents(t, s)); diff != "" {
		t.Error(diff)
	}
	if got := r.Run("rev-parse", branch); got != merge {
		t.Errorf("the ref is at %s", got)
	}
}

func TestRevertKeepsToAllowedPaths(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	mixed := write(t, s, map[string]string{"memories/a": "1", "reverie.toml": "format = 1\n"})
	only := func(path string) bool { return strings.HasPrefix(path, "memories/") }
	var refused *gitstore.RevertError
	_, err := s.Revert(t.Context(), string(mixed.Commit), only)
	if !errors.As(err, &refused) || !refused.Refused || cmp.Diff([]string{"reverie.toml"}, refused.Paths) != "" {
		t.Errorf("error %v, want one that names reverie.toml", err)
	}
	plain := write(t, s, map[string]string{"memories/b": "1"})
	if _, err := s.Revert(t.Context(), string(plain.Commit), only); err != nil {
		t.Error(err)
	}
	if _, there := contents(t, s)["memories/b"]; there {
		t.Error("memories/b is still there")
	}
}
