package git_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// Lock overwrites the lock's text: following a link would destroy its target.
func TestLockThatIsALinkIsRefused(t *testing.T) {
	r := testrepo.New(t)
	repo, err := git.Find(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := repo.State().Dir()
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
	if unlock, err := repo.State().Lock(context.Background()); err == nil {
		unlock()
		t.Error("a link was locked")
	}
	if err := os.MkdirAll(filepath.Join(dir, "made", "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	err = repo.State().Write("made/folder", nil, false)
	if !errors.Is(err, fs.ErrExist) || err.Error() != "state file made/folder: file exists" {
		t.Errorf("a folder in the place of a file: %v", err)
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the victim holds %q", text)
	}
}

// A write into the state folder replaces a link of that name and does not follow it.
func TestStateIsNotWrittenThroughLinks(t *testing.T) {
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := repo.State().Dir()
	if err != nil {
		t.Fatal(err)
	}
	victims := t.TempDir()
	victim := filepath.Join(victims, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"loose", "tips", "tips.new", "new-1"} {
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(victims, filepath.Join(dir, "code")); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Upkeep().PackLoose(t.Context(), "HEAD", "refs/none/"); err != nil {
		t.Error(err)
	}
	for _, durable := range []bool{false, true} {
		if err := repo.State().Write("tips", []byte("ours"), durable); err != nil {
			t.Error(err)
		}
		if err := repo.State().Write("code/x", []byte("ours"), durable); err == nil {
			t.Error("wrote into a folder that is a link")
		}
		if err := repo.State().Write("made/x", []byte("ours"), durable); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"../x", "a/b/c", "/x/y"} {
		if err := repo.State().Write(name, nil, false); err == nil {
			t.Errorf("wrote %s", name)
		}
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the victim holds %q", text)
	}
	if there, _ := os.ReadDir(victims); len(there) != 1 {
		t.Errorf("there are %v", there)
	}
	for _, name := range []string{"tips", "made/x"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// A reflog is appended to: following a link would change its target.
func TestReflogThatIsALinkIsRefused(t *testing.T) {
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Write(".git/logs/refs/heads/x", "")
	log := filepath.Join(r.Dir, ".git", "logs", "refs", "heads", "x")
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, log); err != nil {
		t.Fatal(err)
	}
	if err := repo.Refs().Move(t.Context(), "refs/heads/x", r.Run("rev-parse", "HEAD"), "", "reverie: test"); err == nil {
		t.Error("the ref moved")
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the victim holds %q", text)
	}
}
