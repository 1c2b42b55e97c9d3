//go:build unix

package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Every path into a git directory is detected, and a work tree inside one does not count as one.
func TestGitDirIsSeenWhateverLeadsThere(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"r/.git/objects", "r/.git/refs", "r/.git/worktrees/w", "r/.git/reverie/loops/l/tree/docs", "r/docs", "r/sub/.GIT", "r/bare/objects", "r/bare/refs", "w", "separate"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"r/.git/HEAD", "r/.git/config", "r/.git/worktrees/w/HEAD", "r/.git/worktrees/w/commondir", "r/bare/HEAD", "w/.git", "r/docs/HEAD", "r/a.md"} {
		if err := os.WriteFile(filepath.Join(top, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"r/LINK.md": ".git/config", "r/docs/up": "../.git", "r/twice.md": "LINK.md", "r/away": "../w", "r/plain.md": "a.md", "r/dangling.md": "nothing", "r/apart": "../separate"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{
		"r/.git/config": true, "r/.git/new": true, "r/.git/hooks/new": true, "r/LINK.md": true, "r/twice.md": true, "r/docs/up/config": true, "r/docs/up/new/deeper": true,
		"r/docs/../.git/config": true, "r/sub/.GIT/config": true, "r/new/.git": true, "r/new/.git. ": true, "r/new/git~1/x": true, "r/new/.g\u200cit/x": true, "r/bare/config": true,
		"r/away/.git": true, "w/.git": true, "r/apart/hooks": true, "r/.git/worktrees/w/HEAD": true,
		"r/a.md": false, "r/plain.md": false, "r/new.md": false, "r/new/deeper/x.md": false, "r/docs/HEAD": false, "r/away/x.md": false, "w/x.md": false, "r/.github/x": false, "r/.gitignore": false,
	} {
		real, err := Real(filepath.Join(top, "r", "..", path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := GitDir(real, "", filepath.Join(top, "separate")); (got != "") != want {
			t.Errorf("%s, which is %s: in git directory %q", path, real, got)
		}
	}
	if _, err := Real(filepath.Join(top, "r/dangling.md")); !errors.Is(err, ErrLinkToNothing) {
		t.Errorf("a link to nothing: %v", err)
	}
	tree := filepath.Join(top, "r/.git/reverie/loops/l/tree")
	if got := GitDir(filepath.Join(tree, "docs/x.md"), tree); got != "" {
		t.Errorf("a work tree in a git directory: %s", got)
	}
	if got := GitDir(filepath.Join(tree, ".git"), tree); got == "" {
		t.Error("and its own .git is none")
	}
}
