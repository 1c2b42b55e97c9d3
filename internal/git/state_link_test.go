package git_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// The lock's text is written over: a link in its place would destroy what it points to.
func TestLockThatIsALinkIsRefused(t *testing.T) {
	r := testrepo.New(t)
	repo, err := git.Find(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := repo.StateDir()
	if err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "lock")); err != nil {
		t.Fatal(err)
	}
	if unlock, err := repo.Lock(context.Background()); err == nil {
		unlock()
		t.Error("a link was locked")
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the victim holds %q", text)
	}
}
