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
		tree := NewTree(&git.Repo{WorkTree: top, GitDir: filepath.Join(top, ".git")})
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
		if Unchanged(top, tree.Seen()) {
			t.Errorf("%s: its end changed nothing", name)
		}
	}
}
