//go:build linux || darwin

package git_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// countGits puts a git into PATH that records each start, and returns a function that counts the
// starts during another.
func countGits(t *testing.T) func(fn func()) int {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\necho \"$*\" >>" + log + "\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func(fn func()) int {
		t.Helper()
		os.Remove(log)
		fn()
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
}

// sees returns all fields of a Repo, and the committer.
func sees(t *testing.T, repo *git.Repo, err error) (git.Repo, git.Identity, error) {
	t.Helper()
	if err != nil {
		return git.Repo{}, git.Identity{}, err
	}
	who, err := repo.Config().Identity(t.Context())
	return *repo, who, err
}

// agree fails unless FindCached and Find agree about dir.
func agree(t *testing.T, dir string) {
	t.Helper()
	asked, err := git.Find(t.Context(), dir)
	want, who, wantErr := sees(t, asked, err)
	kept, err := git.FindCached(t.Context(), dir)
	got, name, gotErr := sees(t, kept, err)
	if (wantErr == nil) != (gotErr == nil) || wantErr != nil && wantErr.Error() != gotErr.Error() {
		t.Fatalf("git says %v, kept was %v", wantErr, gotErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(git.Repo{})); diff != "" {
		t.Errorf("-asked +kept\n%s", diff)
	}
	if who != name {
		t.Errorf("git says %+v commits, kept was %+v", who, name)
	}
}

// keep makes the state folder of a repository, with an answer in it.
func keep(t *testing.T, dir string) {
	t.Helper()
	git.Settled(t, -time.Hour)
	repo, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.State().Dir(); err != nil {
		t.Fatal(err)
	}
	agree(t, dir)
}

func TestKeptAnswerNeedsNoGit(t *testing.T) {
	for _, place := range []string{"top", "folder", "linked worktree", "submodule", "through a link", "include of a folder"} {
		t.Run(place, func(t *testing.T) {
			r := testrepo.New(t)
			r.Write("a/b/file", "x\n")
			r.Commit("more")
			dir := r.Dir
			switch place {
			case "folder":
				dir = filepath.Join(dir, "a", "b")
			case "linked worktree":
				dir = filepath.Join(filepath.Dir(r.Dir), "linked")
				r.Run("worktree", "add", "-q", dir)
			case "submodule":
				other := testrepo.Init(t, filepath.Join(t.TempDir(), "other"))
				other.Write("x", "x\n")
				other.Commit("begin")
				r.Run("submodule", "--quiet", "add", other.Dir, "sub")
				dir = filepath.Join(r.Dir, "sub")
			case "through a link":
				dir = filepath.Join(t.TempDir(), "link")
				if err := os.Symlink(r.Dir, dir); err != nil {
					t.Fatal(err)
				}
			case "include of a folder":
				file := filepath.Join(t.TempDir(), "work.config")
				write(t, file, "[user]\n\temail = ann@work.example\n")
				r.Run("config", "--global", "includeIf.gitdir:"+r.Dir+"/.path", file)
			}
			count := countGits(t)
			keep(t, dir)
			var repo *git.Repo
			n := count(func() {
				var err error
				if repo, err = git.FindCached(t.Context(), dir); err != nil {
					t.Fatal(err)
				}
				if _, err := repo.Config().Identity(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%d git processes", n)
			}
			agree(t, dir)
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FindCached asks git whenever git's answer would differ.
func TestKeptAnswerIsNotBelieved(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for name, change := range map[string]func(t *testing.T, r *testrepo.Repo) (dir string){
		"moved": func(t *testing.T, r *testrepo.Repo) string {
			to := filepath.Join(t.TempDir(), "moved")
			if err := os.Rename(r.Dir, to); err != nil {
				t.Fatal(err)
			}
			return to
		},
		"copied": func(t *testing.T, r *testrepo.Repo) string {
			to := filepath.Join(t.TempDir(), "copy")
			if out, err := exec.Command("cp", "-a", r.Dir, to).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return to
		},
		"identity of the repository": func(t *testing.T, r *testrepo.Repo) string {
			r.Run("config", "user.email", "ann@here.example")
			return r.Dir
		},
		"identity of the user": func(t *testing.T, r *testrepo.Repo) string {
			r.Run("config", "--global", "user.email", "ann@new.example")
			return r.Dir
		},
		"same size and time": func(t *testing.T, r *testrepo.Repo) string {
			file := os.Getenv("GIT_CONFIG_GLOBAL")
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write(t, file, strings.Replace(string(text), "ann@", "bob@", 1))
			if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			return r.Dir
		},
		"partial": func(t *testing.T, r *testrepo.Repo) string {
			r.Run("config", "remote.origin.url", "https://example.org/x")
			r.Run("config", "remote.origin.promisor", "true")
			return r.Dir
		},
		"bare": func(t *testing.T, r *testrepo.Repo) string {
			r.Run("config", "core.bare", "true")
			return r.Dir
		},
		"another work tree": func(t *testing.T, r *testrepo.Repo) string {
			r.Run("config", "core.worktree", t.TempDir())
			return r.Dir
		},
		"format not known": func(t *testing.T, r *testrepo.Repo) string {
			r.Run("config", "core.repositoryFormatVersion", "1")
			r.Run("config", "extensions.somethingNew", "true")
			return r.Dir
		},
		"configuration of one worktree": func(t *testing.T, r *testrepo.Repo) string {
			r.Run("config", "extensions.worktreeConfig", "true")
			r.Run("config", "--worktree", "user.email", "ann@tree.example")
			return r.Dir
		},
		"shallow": func(t *testing.T, r *testrepo.Repo) string {
			write(t, filepath.Join(r.Dir, ".git", "shallow"), r.Run("rev-parse", "HEAD")+"\n")
			return r.Dir
		},
		"nested repository": func(t *testing.T, r *testrepo.Repo) string {
			return testrepo.Init(t, filepath.Join(r.Dir, "nested")).Dir
		},
		"bare repository inside": func(t *testing.T, r *testrepo.Repo) string {
			return testrepo.Init(t, filepath.Join(r.Dir, "inside"), "--bare").Dir
		},
		"the git folder": func(t *testing.T, r *testrepo.Repo) string { return filepath.Join(r.Dir, ".git", "refs") },
		"no HEAD": func(t *testing.T, r *testrepo.Repo) string {
			if err := os.Remove(filepath.Join(r.Dir, ".git", "HEAD")); err != nil {
				t.Fatal(err)
			}
			return r.Dir
		},
		"GIT_DIR": func(t *testing.T, r *testrepo.Repo) string {
			t.Setenv("GIT_DIR", filepath.Join(testrepo.Init(t, t.TempDir()).Dir, ".git"))
			return r.Dir
		},
		"ceiling": func(t *testing.T, r *testrepo.Repo) string {
			t.Setenv("GIT_CEILING_DIRECTORIES", r.Dir)
			return filepath.Join(r.Dir, "folder")
		},
		"configuration in the environment": func(t *testing.T, r *testrepo.Repo) string {
			t.Setenv("GIT_CONFIG_COUNT", "1")
			t.Setenv("GIT_CONFIG_KEY_0", "core.bare")
			t.Setenv("GIT_CONFIG_VALUE_0", "true")
			return r.Dir
		},
		"another user's configuration": func(t *testing.T, r *testrepo.Repo) string {
			file := filepath.Join(t.TempDir(), "config")
			write(t, file, "[user]\n\tname = Bob\n\temail = bob@example.com\n")
			t.Setenv("GIT_CONFIG_GLOBAL", file)
			return r.Dir
		},
		"another owner by git's own switch": func(t *testing.T, r *testrepo.Repo) string {
			t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
			return r.Dir
		},
		"another owner": func(t *testing.T, r *testrepo.Repo) string {
			if os.Geteuid() != 0 {
				t.Skip("only root gives a folder away")
			}
			if err := os.Chown(filepath.Join(r.Dir, ".git"), 12345, 12345); err != nil {
				t.Fatal(err)
			}
			return r.Dir
		},
		"another git": func(t *testing.T, r *testrepo.Repo) string {
			dir := t.TempDir()
			// like one that is too old
			write(t, filepath.Join(dir, "git"), "#!/bin/sh\necho --path-format=absolute\n")
			if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			return r.Dir
		},
		"git replaced in its place": func(t *testing.T, r *testrepo.Repo) string {
			program, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}
			write(t, program+".new", "#!/bin/sh\necho --path-format=absolute\n")
			if err := errors.Join(os.Chmod(program+".new", 0o755), os.Rename(program+".new", program)); err != nil {
				t.Fatal(err)
			}
			return r.Dir
		},
		"no git": func(t *testing.T, r *testrepo.Repo) string {
			t.Setenv("PATH", t.TempDir())
			return r.Dir
		},
		"no repository": func(t *testing.T, r *testrepo.Repo) string { return t.TempDir() },
	} {
		t.Run(name, func(t *testing.T) {
			r := testrepo.New(t)
			r.Write("folder/file", "x\n")
			countGits(t)
			keep(t, r.Dir)
			agree(t, change(t, r))
		})
	}
}

// The configuration may include files that do not exist yet.
func TestFilesThatComeIntoBeingAreNoticed(t *testing.T) {
	r := testrepo.New(t)
	os.Unsetenv("GIT_CONFIG_GLOBAL") // testrepo sets it and restores it later
	home := os.Getenv("HOME")
	r.Run("config", "--global", "include.path", "more.config")
	keep(t, r.Dir)
	for _, file := range []string{"more.config", ".config/git/config"} {
		file = filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, "[author]\n\temail = ann@"+filepath.Base(file)+".example\n")
		agree(t, r.Dir)
	}
}

// Configuration that depends on the branch is read each time, as the cached answer says.
func TestConditionOnTheBranchIsAsked(t *testing.T) {
	r := testrepo.New(t)
	file := filepath.Join(t.TempDir(), "side.config")
	write(t, file, "[user]\n\temail = ann@side.example\n")
	r.Run("config", "includeIf.onbranch:side.path", file)
	count := countGits(t)
	keep(t, r.Dir)
	r.Run("switch", "-q", "-c", "side")
	agree(t, r.Dir)
	want := count(func() { git.Find(t.Context(), r.Dir) })
	if n := count(func() { git.FindCached(t.Context(), r.Dir) }); n != want {
		t.Errorf("%d git processes, want the %d of Find", n, want)
	}
}

// An attacker hands over a folder with a planted answer, as good as one made elsewhere can be.
func TestPlantedAnswerIsNotBelieved(t *testing.T) {
	r := testrepo.New(t)
	keep(t, r.Dir)
	found, err := filepath.Glob(filepath.Join(r.Dir, ".git", "reverie", "found", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	to := filepath.Join(t.TempDir(), "repo.tar")
	tar := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("tar", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	tar("-C", filepath.Dir(r.Dir), "-cf", to, filepath.Base(r.Dir))
	if err := os.RemoveAll(r.Dir); err != nil {
		t.Fatal(err)
	}
	tar("-C", filepath.Dir(r.Dir), "-xf", to) // to the same path, with the same times
	count := countGits(t)
	if n := count(func() { git.FindCached(t.Context(), r.Dir) }); n == 0 {
		t.Error("an answer that came with the repository is believed")
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func() error{
		"torn": func() error { return os.WriteFile(found[0], text[:len(text)/2], 0o600) },
		"changed": func() error {
			return os.WriteFile(found[0], []byte(strings.Replace(string(text), "sha1", "sha2", 1)), 0o600)
		},
		"for others": func() error { return os.Chmod(found[0], 0o666) },
		"a link": func() error {
			return errors.Join(os.Rename(found[0], found[0]+"x"), os.Symlink(found[0]+"x", found[0]))
		},
		"a folder":     func() error { return errors.Join(os.Remove(found[0]), os.Mkdir(found[0], 0o700)) },
		"a named pipe": func() error { return errors.Join(os.Remove(found[0]), syscall.Mkfifo(found[0], 0o600)) },
		"a linked home": func() error {
			return errors.Join(os.Rename(filepath.Dir(found[0]), r.Dir+"x"), os.Symlink(r.Dir+"x", filepath.Dir(found[0])))
		},
	} {
		os.RemoveAll(filepath.Dir(found[0]))
		os.RemoveAll(r.Dir + "x")
		agree(t, r.Dir)
		if n := count(func() { git.FindCached(t.Context(), r.Dir) }); n != 0 {
			t.Fatalf("%s: %d git processes before", name, n)
		}
		if text, err = os.ReadFile(found[0]); err != nil {
			t.Fatal(err)
		}
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		if n := count(func() { agree(t, r.Dir) }); n < 2 { // one of Find itself
			t.Errorf("%s: what was kept is believed", name)
		}
	}
}

// An answer about files that may change again without a trace is not kept.
func TestFreshConfigurationIsNotKept(t *testing.T) {
	r := testrepo.New(t)
	keep(t, r.Dir)
	git.Settled(t, time.Hour)
	r.Run("config", "user.email", "ann@here.example")
	count := countGits(t)
	for range 2 {
		if n := count(func() { git.FindCached(t.Context(), r.Dir) }); n == 0 {
			t.Fatal("an answer was kept")
		}
	}
}

func TestNothingIsKeptBeforeThereIsAStateFolder(t *testing.T) {
	r := testrepo.New(t)
	git.Settled(t, -time.Hour)
	agree(t, r.Dir)
	if _, err := os.Lstat(filepath.Join(r.Dir, ".git", "reverie")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a look made the state folder: %v", err)
	}
}

// If git finds a repository with a state folder, FindStarted finds it too; otherwise git need not
// be asked.
func TestFindStartedWhereverGitFindsIt(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a/b/file", "x\n")
	r.Commit("more")
	linked := filepath.Join(filepath.Dir(r.Dir), "linked")
	r.Run("worktree", "add", "-q", linked)
	other := testrepo.Init(t, filepath.Join(t.TempDir(), "other"))
	other.Write("x", "x\n")
	other.Commit("begin")
	r.Run("submodule", "--quiet", "add", other.Dir, "sub")
	bare := filepath.Join(t.TempDir(), "bare.git")
	r.Run("clone", "-q", "--bare", r.Dir, bare)
	link := filepath.Join(t.TempDir(), "link")
	moved := testrepo.New(t)
	elsewhere := filepath.Join(t.TempDir(), "git")
	err := errors.Join(os.Symlink(filepath.Join(r.Dir, "a"), link), os.Rename(filepath.Join(moved.Dir, ".git"), elsewhere), os.Symlink(elsewhere, filepath.Join(moved.Dir, ".git")))
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	started := func(dir string) bool {
		repo, err := git.FindStarted(t.Context(), dir)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		return repo != nil
	}
	for _, dir := range []string{r.Dir, filepath.Join(r.Dir, "a", "b"), linked, filepath.Join(r.Dir, "sub"), bare, filepath.Join(bare, "refs"), filepath.Join(r.Dir, ".git"), link, moved.Dir} {
		repo, err := git.Find(t.Context(), dir)
		if err != nil {
			t.Fatal(dir, err)
		}
		state := filepath.Join(repo.CommonDir, "reverie")
		if err := os.RemoveAll(state); err != nil {
			t.Fatal(err)
		}
		if started(dir) {
			t.Errorf("%s: there is none", dir)
		}
		if err := os.Mkdir(state, 0o700); err != nil {
			t.Fatal(err)
		}
		if !started(dir) {
			t.Errorf("%s: there is one", dir)
		}
	}
	if started(outside) {
		t.Error("outside of any repository")
	}
	// git may stop searching early; there is nothing to find either way
	t.Setenv("GIT_CEILING_DIRECTORIES", "/nowhere")
	if started(outside) || !started(r.Dir) {
		t.Error("with a variable that git heeds")
	}
	t.Setenv("GIT_DIR", filepath.Join(r.Dir, ".git"))
	if !started(outside) {
		t.Error("where GIT_DIR names it")
	}
}
