package gitstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// In a hook, git's environment names the repository, index and author of another command.
func TestWritesInsideEveryHook(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, linked := range []bool{false, true} {
		t.Run(fmt.Sprintf("linked=%t", linked), func(t *testing.T) {
			r := testrepo.New(t)
			s := create(t, r)
			remote := filepath.Join(t.TempDir(), "remote.git")
			testrepo.Init(t, remote, "--bare")
			r.Run("remote", "add", "origin", remote)
			user := r
			if linked {
				dir := filepath.Join(t.TempDir(), "linked")
				r.Run("worktree", "add", "-q", dir)
				user = testrepo.At(t, dir)
			}
			names := []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite",
				"post-checkout", "post-merge", "pre-push", "pre-rebase", "post-applypatch"}
			for _, name := range names {
				installHook(t, filepath.Join(r.Dir, ".git", "hooks", name), name)
			}
			useGit(user)
			if out := user.Run("status", "--porcelain"); out != "" {
				t.Errorf("work tree is not clean:\n%s", out)
			}
			want := map[string]string{"README.md": "what this is\n"}
			for _, name := range names {
				path := "hooks/" + name + "-0.md"
				want[path] = "the body of " + path + "\n"
			}
			if diff := cmp.Diff(want, contents(t, s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if files := user.Run("ls-tree", "-r", "--name-only", "HEAD"); strings.Contains(files, "hooks/") {
				t.Errorf("files of the store in the user's commit:\n%s", files)
			}
			if authors := r.Run("log", "--format=%an", branch, "--not", branch+"~"+fmt.Sprint(1)); authors != "Ann Author" {
				t.Errorf("author %q: taken from the user's commit", authors)
			}
			r.Run("fsck", "--strict")
		})
	}
}

// useGit makes git run each of the hooks at least once.
func useGit(r *testrepo.Repo) {
	r.Write("f", "1\n")
	r.Run("add", "f")
	r.Run("commit", "-q", "-m", "one", "--author=Somebody Else <else@example.com>")
	r.Run("commit", "-q", "--amend", "-m", "two", "--author=Somebody Else <else@example.com>")
	r.Run("checkout", "-q", "-b", "side")
	r.Write("g", "1\n")
	r.Run("add", "g")
	r.Run("commit", "-q", "-m", "three")
	r.Run("format-patch", "-q", "-1", "-o", ".git-patches")
	r.Run("checkout", "-q", "-")
	r.Run("merge", "-q", "--no-ff", "--no-edit", "side")
	r.Run("push", "-q", "origin", "HEAD:refs/heads/pushed")
	r.Run("checkout", "-q", "-b", "rebased", "side~1")
	r.Write("h", "1\n")
	r.Run("add", "h")
	r.Run("commit", "-q", "-m", "four")
	r.Run("rebase", "-q", "side")
	r.Run("checkout", "-q", "-b", "patched", "side~1")
	patches, _ := filepath.Glob(filepath.Join(r.Dir, ".git-patches", "*"))
	r.Run("am", "-q", patches[0])
	os.RemoveAll(filepath.Join(r.Dir, ".git-patches"))
}

func installHook(t *testing.T, path, name string) {
	t.Helper()
	binary, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nexport GORACE=atexit_sleep_ms=0\n%s=hook exec '%s' %s >&2\n", actVariable, filepath.ToSlash(binary), name)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}
