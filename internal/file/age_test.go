package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestByAgeListsTheNewestFirst(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, old := range map[string]int{"a.txt": 2, "b.txt": 1, "c.txt": 3, "other": 0} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.Add(-time.Duration(old) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.txt"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := func(name string) bool { return strings.HasSuffix(name, ".txt") }
	want := []string{filepath.Join(dir, "b.txt"), filepath.Join(dir, "a.txt"), filepath.Join(dir, "c.txt")}
	if got := ByAge(dir, text); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if got := ByAge(link, text); len(got) > 0 {
		t.Errorf("through a link: %v", got)
	}
	if err := os.Symlink(filepath.Join(dir, "a.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if got := ByAge(dir, text); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
}
