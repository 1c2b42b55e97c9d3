package git_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// Files that differ from HEAD are named, in any state between; others are not, and no filter of the
// repository runs.
func TestUncommitted(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	ran := filepath.Join(t.TempDir(), "ran")
	r.Write(".gitignore", "ignored\n")
	r.Write(".gitattributes", "*.lfs filter=canary\n")
	for _, name := range []string{"same", "web/changed", "staged", "removed", "also [a]", "big.lfs"} {
		r.Write(name, "one\n")
	}
	r.Commit("one")
	r.Run("config", "filter.canary.clean", "touch '"+ran+"'; cat")
	r.Run("config", "filter.canary.required", "true")
	r.Write("web/changed", "two\n")
	r.Write("staged", "two\n")
	r.Run("add", "staged")
	r.Write("also [a]", "two\n")
	r.Write("also a", "two\n")
	r.Write("big.lfs", "two\n")
	r.Write("new/file", "x\n")
	r.Write("ignored", "x\n")
	r.Write("other", "x\n")
	if err := os.Remove(filepath.Join(r.Dir, "removed")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(r.Dir, link); err != nil {
		t.Skip(err)
	}
	repo, err := git.Find(ctx, r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(ran) // by git add
	files := []string{"../same", "changed", "../staged", "../removed", "../also [a]", "../big.lfs", "../new/file", "../ignored", "../missing", "../../outside", filepath.ToSlash(t.TempDir())}
	for _, dir := range []string{filepath.Join(r.Dir, "web"), filepath.Join(link, "web")} {
		got, err := git.Uncommitted(ctx, repo, dir, files)
		want := []string{"also [a]", "big.lfs", "removed", "staged", "web/changed", "new/file"}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	if got, err := git.Uncommitted(ctx, repo, r.Dir, nil); got != nil || err != nil {
		t.Errorf("without files: %v %v", got, err)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a filter ran")
	}
	r.Run("status", "--porcelain", "big.lfs")
	if _, err := os.Lstat(ran); err != nil {
		t.Error("git itself runs no filter here, so the test proves nothing")
	}
}
