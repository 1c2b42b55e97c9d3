package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// The entries agree with git for each path, even for names that sort around a folder's.
func TestEntriesAsGitHasThem(t *testing.T) {
	r := testrepo.New(t)
	for _, name := range []string{"a.b", "a/b", "a0", "deep/er/file", "with blank", "tab\there", "é"} {
		r.Write(name, name+"\n")
	}
	// otherwise Commit would remove it
	if err := os.Mkdir(filepath.Join(r.Dir, "a-sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.Run("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",a-sub")
	r.Commit("all")
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := entriesOf(t.Context(), repo, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path       string
		entry, has bool
	}{
		{"a.b", true, true}, {"a/b", true, true}, {"a0", true, true}, {"a-sub", true, true}, {"deep/er/file", true, true},
		{"with blank", true, true}, {"tab\there", true, true}, {"é", true, true},
		{"a", false, true}, {"a/", false, true}, {"deep", false, true}, {"deep/er", false, true},
		{"", false, false}, {"A0", false, false}, {"a/b/c", false, false}, {"dee", false, false}, {"é/", false, true}, {"z", false, false},
	} {
		want := r.Run("ls-tree", "-r", "--format=%(objectmode) %(objectname)", "HEAD", "--", ":(literal)"+c.path)
		if e := all.find(c.path); (e.Mode != "") != c.entry || c.entry && e.Mode+" "+e.ID != want {
			t.Errorf("%q is %+v, want %q", c.path, e, want)
		}
		if got := all.has(c.path); got != c.has {
			t.Errorf("%q: has %v", c.path, got)
		}
	}
	if d := cmp.Diff([]git.TreeEntry{{Mode: "160000", Name: "a-sub", ID: strings.Repeat("1", 40)}}, all.submodules()); d != "" {
		t.Error(d)
	}
}
