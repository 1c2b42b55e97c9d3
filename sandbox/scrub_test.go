//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whatever git would obey, or wait at, goes; nothing beyond a link does.
func TestScrub(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	tr := tree{t, dir}
	tr.file(".git/config", "x")
	tr.file("sub/.git", "gitdir: /elsewhere\n")
	tr.file("sub/file", "x")
	tr.file(".github/x", "x")
	tr.file(".gitignore", "x")
	tree{t, outside}.file(".git/config", "x")
	tr.link(outside, "away")
	tr.must(os.Mkdir(filepath.Join(dir, "linked"), 0o755))
	tr.link(filepath.Join(outside, ".git"), "linked/.git")
	tr.must(syscall.Mkfifo(filepath.Join(dir, "sub", ".gitattributes"), 0o600))
	gone, err := Scrub(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range gone {
		names = append(names, g.Path)
		if _, err := os.Lstat(filepath.Join(dir, g.Path)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", g.Path, err)
		}
	}
	if got := strings.Join(names, " "); got != ".git linked/.git sub/.git sub/.gitattributes" {
		t.Errorf("gone: %s", got)
	}
	for _, name := range []string{"sub/file", ".github/x", ".gitignore", "away/.git/config"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if again, err := Scrub(dir); len(again) > 0 || err != nil {
		t.Errorf("%v %v", again, err)
	}
}
