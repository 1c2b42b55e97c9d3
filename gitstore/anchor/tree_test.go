package anchor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
)

// A link of the work tree is there, whatever it leads to. Only a file that is gone is missing.
func TestGoneLeavesLinksAlone(t *testing.T) {
	top, outside := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(outside, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"inside": "file", "dangling": "nosuch", "absolute": outside, "circle": "circle"} {
		if err := os.Symlink(to, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
		repo := &git.Repo{WorkTree: top, GitDir: filepath.Join(top, ".git")}
		tree := NewTree(repo)
		defer tree.Close()
		for _, snippet := range []string{"", to} {
			if gone := tree.Gone([]record.Anchor{{Path: name, Snippet: snippet}}); len(gone) > 0 {
				t.Errorf("%s, %q: %q", name, snippet, gone)
			}
		}
		if gone := tree.Gone([]record.Anchor{{Path: "nosuch"}}); len(gone) != 1 {
			t.Errorf("a missing file: %q", gone)
		}
		if err := os.Remove(filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
		if Unchanged(repo, tree.Seen()) {
			t.Errorf("%s: its end changed nothing", name)
		}
	}
}

// An answer about a missing file does not hold once git may leave that file out.
func TestSparseTreeLeavesOutWhatWasGone(t *testing.T) {
	top := t.TempDir()
	repo := &git.Repo{WorkTree: top, GitDir: filepath.Join(top, ".git")}
	look := func() (seen []Sight, gone []string) {
		tree := NewTree(repo)
		defer tree.Close()
		gone = tree.Gone([]record.Anchor{{Path: "db/store.go"}})
		return tree.Seen(), gone
	}
	before, gone := look()
	if len(gone) != 1 || !Unchanged(repo, before) {
		t.Errorf("gone: %q, seen: %+v", gone, before)
	}
	if err := os.MkdirAll(filepath.Join(repo.GitDir, "info"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo.GitDir, "info", "sparse-checkout"), []byte("/*\n!/db/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if Unchanged(repo, before) {
		t.Error("the answer still counts in a sparse work tree")
	}
	if after, gone := look(); len(gone) > 0 || !Unchanged(repo, after) {
		t.Errorf("left out: %q, seen: %+v", gone, after)
	}
}
