package container

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/sandbox"
)

// A folder that git takes for a repository stays while it equals the base in every byte and mode.
func TestScrubKeepsWhatTheBaseHas(t *testing.T) {
	for _, test := range []struct {
		name string
		work func(t *testing.T, dir string)
		gone []string
	}{
		{"untouched", func(*testing.T, string) {}, nil},
		{"another file beside it", func(t *testing.T, dir string) { put(t, dir, "other", "x") }, nil},
		{"other content", func(t *testing.T, dir string) { put(t, dir, "bare/config", "[core]\n\tfsmonitor = evil\n") }, []string{"bare/HEAD"}},
		{"a file more", func(t *testing.T, dir string) { put(t, dir, "bare/hooks/post-checkout", "evil\n") }, []string{"bare/HEAD"}},
		{"another repository", func(t *testing.T, dir string) { put(t, dir, "sub/.git/HEAD", "ref: refs/heads/main\n") }, []string{"sub/.git"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := testrepo.New(t)
			r.Write("bare/HEAD", "ref: refs/heads/main\n")
			r.Write("bare/config", "[core]\n\tbare = true\n")
			r.Write("bare/objects/x", "x")
			r.Write("bare/refs/x", "x")
			r.Commit("with a repository")
			repo, err := git.Find(t.Context(), r.Dir)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "tree")
			r.Run("worktree", "add", "-q", "--detach", dir)
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
			test.work(t, dir)
			var gone []string
			tree := Tree{Repo: repo, Base: r.Run("rev-parse", "HEAD"), Dir: dir, Removed: func(all []sandbox.Change) {
				for _, c := range all {
					gone = append(gone, c.Path)
				}
			}}
			if err := tree.scrub(t.Context()); err != nil {
				t.Fatal(err)
			}
			slices.Sort(gone)
			if d := cmp.Diff(test.gone, gone); d != "" {
				t.Error(d)
			}
		})
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
