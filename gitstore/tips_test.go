package gitstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A ref whose file is lost silently falls back to the older value of packed-refs.
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
	// A plain git commit on top of the last one loses nothing.
	r.Run("update-ref", branch, r.Run("commit-tree", "-p", string(second.Commit), "-m", "by hand", string(second.Tree)))
	if id := lost(); id != "" {
		t.Errorf("%s is lost below a commit on top of it", id)
	}
}

// The file may have come with the repository. Nothing is read or written through a link, and only
// valid lines are kept.
func TestTipsKeepOnlyTheirOwnLines(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	tips := filepath.Join(s.Repo().CommonDir, "reverie", "tips")
	victim := filepath.Join(t.TempDir(), "victim")
	id := strings.Repeat("1", 40)
	other := id + " refs/heads/other\n"
	text := []byte("touch canary\n" + id + " --evil\n" + id + "\n" + other)
	wrote := func(before, value string) {
		t.Helper()
		done := write(t, s, map[string]string{"a": value})
		text, err := os.ReadFile(tips)
		if want := before + string(done.Commit) + " " + branch + "\n"; err != nil || string(text) != want {
			t.Errorf("tips holds %q, %v; want %q", text, err, want)
		}
	}
	if err := errors.Join(os.WriteFile(victim, text, 0o600), os.Remove(tips), os.Symlink(victim, tips)); err != nil {
		t.Fatal(err)
	}
	wrote("", "1")
	if held, _ := os.ReadFile(victim); string(held) != string(text) {
		t.Errorf("the victim holds %q", held)
	}
	if err := os.WriteFile(tips, text, 0o600); err != nil {
		t.Fatal(err)
	}
	wrote(other, "2")
}
