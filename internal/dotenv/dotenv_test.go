package dotenv

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// found returns the files, relative to dir, in alphabetical order.
func found(t *testing.T, dir string, files []File) []string {
	t.Helper()
	var all []string
	for _, f := range files {
		rel, err := filepath.Rel(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if f.Tracked {
			rel += " tracked"
		}
		all = append(all, filepath.ToSlash(rel))
	}
	slices.Sort(all)
	return all
}

func open(t *testing.T, dir string) *git.Repo {
	t.Helper()
	repo, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// started gives a repository the state folder that keeps a listing.
func started(t *testing.T, repo *git.Repo) {
	t.Helper()
	if _, err := repo.State().Dir(); err != nil {
		t.Fatal(err)
	}
}

// old ages a folder and all below, because recent changes are always read again.
func old(t *testing.T, dirs ...string) {
	t.Helper()
	then := time.Now().Add(-time.Hour)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chtimes(path, then, then)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindSeesEveryPlace(t *testing.T) {
	r := testrepo.New(t)
	outside := filepath.Join(filepath.Dir(r.Dir), "outside")
	for _, name := range []string{".env.production", "apps/web/.env.example"} {
		r.Write(name, "A=b\n")
	}
	r.Write("config/app.env", "A=b\n")
	r.Commit("tracked")
	for _, name := range []string{".env", "apps/web/.env.local", "a/b/c/d/e/f/.ENV", ".dev.vars", ".envrc", "secrets.env", "api/.npmrc", "envs/x", "sub/.envs/.production/.postgres",
		"node_modules/x/.env", "environment", "dist/.env", "README.env.md"} {
		r.Write(name, "A=b\n")
	}
	for name, text := range map[string]string{"shared.env": "A=b\n", "folder/.env": "A=b\n"} {
		path := filepath.Join(outside, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"linked/.env": "../../outside/shared.env", "configured": "../outside/folder", "round": ".", "dangling/.env": "nothing"} {
		path := filepath.Join(r.Dir, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{".dev.vars", ".env", ".env.production tracked", ".envrc", "a/b/c/d/e/f/.ENV", "api/.npmrc", "apps/web/.env.example tracked", "apps/web/.env.local",
		"config/app.env tracked", "configured/.env", "dangling/.env", "dist/.env", "linked/.env",
		"secrets.env", "sub/.envs/.production/.postgres"}
	repo := open(t, r.Dir)
	if diff := cmp.Diff(want, found(t, r.Dir, Find(t.Context(), repo, Usual))); diff != "" {
		t.Errorf("without a state folder:\n%s", diff)
	}
	started(t, repo)
	for _, e := range []Effort{Quick, Quick, Usual, Patient, Quick} {
		if diff := cmp.Diff(want, found(t, r.Dir, Find(t.Context(), repo, e))); diff != "" {
			t.Errorf("%+v:\n%s", e, diff)
		}
	}
	if first := Find(t.Context(), repo, Quick); first[0].Tracked || !first[len(first)-1].Tracked {
		t.Errorf("what git tracks should come last: %v", first)
	}
}

// Each work tree's files are known in every other one, regardless of where Find first ran.
func TestFindSeesAllWorkTrees(t *testing.T) {
	r := testrepo.New(t)
	top := filepath.Dir(r.Dir)
	linked, inside := filepath.Join(top, "linked"), filepath.Join(r.Dir, "trees", "inside")
	repo := open(t, r.Dir)
	started(t, repo)
	r.Write(".env", "A=b\n")
	old(t, r.Dir)
	Find(t.Context(), repo, Quick) // before the others are there
	r.Run("worktree", "add", "-q", linked)
	r.Run("worktree", "add", "-q", inside)
	for _, dir := range []string{linked, inside} {
		if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("A=b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"linked/.env", "repo/.env", "repo/trees/inside/.env"}
	for _, dir := range []string{r.Dir, linked, inside} {
		if diff := cmp.Diff(want, found(t, top, Find(t.Context(), open(t, dir), Quick))); diff != "" {
			t.Errorf("from %s:\n%s", dir, diff)
		}
	}
	moved := filepath.Join(top, "moved")
	r.Run("worktree", "move", linked, moved)
	want[0] = "moved/.env"
	if diff := cmp.Diff(want, found(t, top, Find(t.Context(), repo, Quick))); diff != "" {
		t.Errorf("moved:\n%s", diff)
	}
	// A submodule's session may read the files around it.
	r.Run("-c", "protocol.file.allow=always", "submodule", "add", "-q", r.Dir, "sub")
	if got := found(t, top, Find(t.Context(), open(t, filepath.Join(r.Dir, "sub")), Quick)); !slices.Contains(got, "repo/.env") {
		t.Errorf("from a submodule: %v", got)
	}
}

// Find updates the kept listing: new files in old and new folders, and deleted files and folders.
func TestFindSeesChanges(t *testing.T) {
	r := testrepo.New(t)
	r.Write("apps/web/src/a.txt", "a\n")
	r.Write("apps/api/.env", "A=b\n")
	repo := open(t, r.Dir)
	started(t, repo)
	now := func() []string { return found(t, r.Dir, Find(t.Context(), repo, Quick)) }
	step := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, now()); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
		old(t, r.Dir)
		if diff := cmp.Diff(want, now()); diff != "" {
			t.Errorf("%s, again:\n%s", what, diff)
		}
	}
	step("at first", "apps/api/.env")
	r.Write("apps/web/src/.env", "A=b\n")
	step("in an old folder", "apps/api/.env", "apps/web/src/.env")
	r.Write("apps/new/deep/.env", "A=b\n")
	step("in a new folder", "apps/api/.env", "apps/new/deep/.env", "apps/web/src/.env")
	if err := os.Remove(filepath.Join(r.Dir, "apps/web/src/.env")); err != nil {
		t.Fatal(err)
	}
	step("a file is gone", "apps/api/.env", "apps/new/deep/.env")
	if err := os.RemoveAll(filepath.Join(r.Dir, "apps/new")); err != nil {
		t.Fatal(err)
	}
	step("a folder is gone", "apps/api/.env")
	shared := t.TempDir()
	if err := os.Symlink(shared, filepath.Join(r.Dir, "shared")); err != nil {
		t.Fatal(err)
	}
	step("a link to a folder", "apps/api/.env")
	if err := os.WriteFile(filepath.Join(shared, ".env"), []byte("A=b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	step("a file there", "apps/api/.env", "shared/.env")
	r.Write("other.txt", "beside the link\n")
	step("and another beside the link", "apps/api/.env", "shared/.env")
	if err := os.Remove(filepath.Join(r.Dir, "shared")); err != nil {
		t.Fatal(err)
	}
	step("the link is gone", "apps/api/.env")
	for _, spoilt := range []string{"", "x", "w 0\nr " + r.Dir + "\nend 3\n", "w 0\nd x y\nend 2\n"} {
		if err := os.WriteFile(filepath.Join(repo.CommonDir, "reverie", listFile), []byte(spoilt), 0o600); err != nil {
			t.Fatal(err)
		}
		step("the listing is spoilt", "apps/api/.env")
	}
}

// With more folders than the limit, a change in an early folder neither loses nor repeats the
// others.
func TestFindKeepsWhatItDoesNotLookAt(t *testing.T) {
	r := testrepo.New(t)
	for _, name := range []string{"a/.env", "b/c/.env", "b/c/end 3/.env"} {
		r.Write(name, "A=b\n")
	}
	repo := open(t, r.Dir)
	started(t, repo)
	old(t, r.Dir)
	few := Effort{Folders: 2, Time: Quick.Time}
	want := []string{"a/.env", "b/c/.env", "b/c/end 3/.env"}
	for _, e := range []Effort{Quick, few, few} {
		if diff := cmp.Diff(want, found(t, r.Dir, Find(t.Context(), repo, e))); diff != "" {
			t.Errorf("%+v: %s", e, diff)
		}
	}
	r.Write("x/.env", "A=b\n")
	want = append(want, "x/.env")
	for _, e := range []Effort{few, few, Quick} {
		if diff := cmp.Diff(want, found(t, r.Dir, Find(t.Context(), repo, e))); diff != "" {
			t.Errorf("%+v, with another: %s", e, diff)
		}
	}
	if got := read(repo, maxKept); len(got.folders) != 6 {
		t.Errorf("%d folders: %v", len(got.folders), got.folders)
	}
}

// A second Find reads no unchanged folder, and a Find that ran out of time continues the next time.
func TestFindGoesOn(t *testing.T) {
	r := testrepo.New(t)
	for _, name := range []string{"a/.env", "b/c/.env"} {
		r.Write(name, "A=b\n")
	}
	repo := open(t, r.Dir)
	started(t, repo)
	old(t, r.Dir)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Find(over, repo, Quick); len(got) != 0 {
		t.Errorf("without time: %v", got)
	}
	want := []string{"a/.env", "b/c/.env"}
	if diff := cmp.Diff(want, found(t, r.Dir, Find(t.Context(), repo, Quick))); diff != "" {
		t.Error(diff)
	}
	w := &walk{ctx: t.Context(), repo: repo}
	if !w.again(read(repo, Quick.Folders)) || w.entries != 0 || w.changed {
		t.Errorf("%d entries were read again", w.entries)
	}
}
