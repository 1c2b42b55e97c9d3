package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestBareRepositoryIsTheOwnersAlone(t *testing.T) {
	testrepo.Isolate(t)
	dir := filepath.Join(t.TempDir(), "data", "memory.git")
	if _, err := git.OpenBare(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a missing one: %v", err)
	}
	t.Setenv("GIT_DIR", t.TempDir()) // as in a hook of another repository
	t.Setenv("GIT_DEFAULT_HASH", "sha256")
	r, err := git.InitBare(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := git.InitBare(t.Context(), dir); err != nil || again.CommonDir != r.CommonDir {
		t.Errorf("made again: %v, %v", again, err)
	}
	os.Unsetenv("GIT_DIR")
	found, err := git.Find(t.Context(), dir)
	if err != nil || !found.Bare || found.ObjectFormat != r.ObjectFormat || found.RefFormat != r.RefFormat || found.CommonDir != r.CommonDir {
		t.Errorf("git sees %+v, %v; opened as %+v", found, err, r)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(filepath.Dir(dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder above: %v, %v", info.Mode(), err)
		}
	}
}

func TestOpenBareRefusesWhatItDoesNotKnow(t *testing.T) {
	testrepo.Isolate(t)
	made := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "memory.git")
		if _, err := git.InitBare(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for name, spoil := range map[string]func(t *testing.T, dir string) string{
		"not a folder": func(t *testing.T, dir string) string {
			if err := os.Symlink(dir, dir+"-link"); err != nil {
				t.Skip(err)
			}
			return dir + "-link"
		},
		"extensions": func(t *testing.T, dir string) string {
			f, err := os.OpenFile(filepath.Join(dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("[Extensions]\n\trefStorage = reftable\n")
			}
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		git.ErrNotRepository.Error(): func(t *testing.T, dir string) string {
			if err := os.Remove(filepath.Join(dir, "HEAD")); err != nil {
				t.Fatal(err)
			}
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := git.OpenBare(spoil(t, made(t))); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v", err)
			}
		})
	}
}
