package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestFindSeesWhatGitSees(t *testing.T) {
	r := testrepo.New(t)
	top, err := filepath.EvalSymlinks(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(filepath.Dir(top), "linked")
	r.Run("worktree", "add", "-q", linked)
	common := filepath.Join(top, ".git")
	for dir, want := range map[string]git.Repo{
		top:    {CommonDir: common, GitDir: common, WorkTree: top, ObjectFormat: "sha1", RefFormat: "files"},
		linked: {CommonDir: common, GitDir: filepath.Join(common, "worktrees", "linked"), WorkTree: linked, ObjectFormat: "sha1", RefFormat: "files"},
	} {
		repo, err := git.Find(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		got := git.Repo{CommonDir: repo.CommonDir, GitDir: filepath.FromSlash(repo.GitDir), WorkTree: filepath.FromSlash(repo.WorkTree),
			Bare: repo.Bare, Shallow: repo.Shallow, Partial: repo.Partial, ObjectFormat: repo.ObjectFormat, RefFormat: repo.RefFormat}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(git.Repo{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dir, diff)
		}
	}
}

func TestFindHonoursGitDir(t *testing.T) {
	r := testrepo.New(t)
	elsewhere := t.TempDir()
	t.Setenv("GIT_DIR", filepath.Join(r.Dir, ".git"))
	repo, err := git.Find(t.Context(), elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := filepath.EvalSymlinks(filepath.Join(r.Dir, ".git")); repo.CommonDir != want {
		t.Errorf("found %s, want %s", repo.CommonDir, want)
	}
}

func TestFindSaysWhyNot(t *testing.T) {
	r := testrepo.New(t)
	for _, tt := range []struct {
		name   string
		change func(t *testing.T) (dir string)
		want   error
	}{
		{"no repository", func(t *testing.T) string { return t.TempDir() }, git.ErrNotRepository},
		{"another owner", func(t *testing.T) string {
			t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1") // git's own switch for its tests
			return r.Dir
		}, git.ErrUnsafe},
		{"no git", func(t *testing.T) string {
			t.Setenv("PATH", t.TempDir())
			return r.Dir
		}, git.ErrGitMissing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := tt.change(t)
			if _, err := git.Find(t.Context(), dir); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// A git with reftables answers like this; the present one may lack them, and then refuses by
// itself.
func TestReftableIsNeverTakenForFiles(t *testing.T) {
	r := testrepo.New(t)
	r.Run("config", "core.repositoryFormatVersion", "1")
	r.Run("config", "extensions.refStorage", "reftable")
	repo, err := git.Find(t.Context(), r.Dir)
	switch {
	case err == nil && repo.RefFormat != "reftable":
		t.Errorf("ref format %q", repo.RefFormat)
	case err != nil && !strings.Contains(err.Error(), "refstorage"):
		t.Errorf("refused without a reason: %v", err)
	}
}

func TestStateDirIsOurs(t *testing.T) {
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := repo.State().Dir()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.State().Dir(); err == nil {
		t.Error("a symbolic link is followed")
	}
}

func TestIdentityIsResolvedAsByGit(t *testing.T) {
	r := testrepo.New(t)
	included := filepath.Join(t.TempDir(), "work.config")
	if err := os.WriteFile(included, []byte("[user]\n\temail = ann@work.example\n[commit]\n\tgpgsign\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.Run("config", "--global", "includeIf.gitdir:"+filepath.ToSlash(r.Dir)+"/.path", filepath.ToSlash(included))
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else") // as in a hook
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := repo.Config().Identity(t.Context())
	want := git.Identity{Name: "Ann Author", Email: "ann@work.example", Sign: true}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
