package gitstore_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// environment is one kind of repository found in practice. make returns the user's directory and a
// repository for asking git.
type environment struct {
	name string
	make func(t *testing.T) (dir string, r *testrepo.Repo)
}

// here returns an environment made from a plain repository by a few git commands.
func here(name string, change func(t *testing.T, r *testrepo.Repo)) environment {
	return environment{name, func(t *testing.T) (string, *testrepo.Repo) {
		r := testrepo.New(t)
		change(t, r)
		return r.Dir, r
	}}
}

// clone returns an environment made by cloning a plain repository with options.
func clone(name string, options ...string) environment {
	return environment{name, func(t *testing.T) (string, *testrepo.Repo) {
		origin := testrepo.New(t)
		origin.Write("second", "2\n")
		origin.Commit("second")
		origin.Run("config", "uploadpack.allowFilter", "true")
		dir := filepath.Join(t.TempDir(), "clone")
		origin.Run(append(append([]string{"clone", "-q"}, options...), "file://"+filepath.ToSlash(origin.Dir), dir)...)
		return dir, testrepo.At(t, dir)
	}}
}

// named returns an environment whose folder has an awkward name.
func named(name, folder string) environment {
	return environment{name, func(t *testing.T) (string, *testrepo.Repo) {
		testrepo.Isolate(t)
		r := testrepo.Init(t, filepath.Join(t.TempDir(), folder))
		r.Commit("begin")
		return r.Dir, r
	}}
}

func initialised(name string, options ...string) environment {
	return environment{name, func(t *testing.T) (string, *testrepo.Repo) {
		r := testrepo.New(t, options...)
		return r.Dir, r
	}}
}

func TestEveryEnvironment(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, env := range environments() {
		t.Run(env.name, func(t *testing.T) {
			dir, r := env.make(t)
			exercise(t, dir, r)
		})
	}
}

// exercise makes a store or opens the existing one, writes to it, and reads it back through us and
// git. It also checks that nothing else moved.
func exercise(t *testing.T, dir string, r *testrepo.Repo) {
	t.Helper()
	before := snapshot(t, r)
	s := gitstore.Open(find(t, dir), branch)
	begin(t, s)
	want := contents(t, s)
	for i := range 3 {
		path, body := fmt.Sprintf("memories/%02x/m%d.md", i*7, i), fmt.Sprintf("memory %d, äöü\n", i)
		write(t, s, map[string]string{path: body})
		want[path] = body
	}
	if diff := cmp.Diff(want, contents(t, gitstore.Open(find(t, dir), branch))); diff != "" {
		t.Errorf("read by us (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, byGit(r)); diff != "" {
		t.Errorf("read by git (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, snapshot(t, r)); diff != "" {
		t.Errorf("the user's things changed:\n%s", diff)
	}
	if err := s.Check(t.Context(), true, func(p gitstore.Problem) { t.Errorf("check: %s", p) }); err != nil {
		t.Error(err)
	}
}

// begin makes the store, adopts it from origin, or finds it there.
func begin(t *testing.T, s *gitstore.Store) {
	t.Helper()
	_, err := s.Adopt(t.Context(), "refs/remotes/origin/reverie/memory")
	if errors.Is(err, git.ErrNoRef) {
		_, err = s.Create(t.Context(), map[string]redact.Redacted{"README.md": text("readme\n")}, gitstore.Commit{Subject: "init: begin"})
	}
	if err != nil && !errors.Is(err, gitstore.ErrExists) {
		t.Fatal(err)
	}
}

// byGit returns the newest tree as git reads it.
func byGit(r *testrepo.Repo) map[string]string {
	files := map[string]string{}
	for _, path := range strings.Split(r.Run("ls-tree", "-r", "--name-only", branch), "\n") {
		files[path] = r.Run("cat-file", "-p", branch+":"+path) + "\n"
	}
	return files
}

// snapshot returns everything of the user's that must stay as it is.
func snapshot(t *testing.T, r *testrepo.Repo) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, args := range [][]string{{"status", "--porcelain"}, {"stash", "list"}, {"symbolic-ref", "-q", "HEAD"},
		{"rev-parse", "-q", "--verify", "HEAD"}, {"fsck", "--strict", "--no-dangling"}} {
		// --no-optional-locks: status itself would write the index
		out, _ := r.Try(append([]string{"--no-optional-locks"}, args...)...)
		var lines []string
		for _, line := range strings.Split(out, "\n") {
			if !strings.HasPrefix(line, "notice: ") { // fsck, about refs that are not there yet
				lines = append(lines, line)
			}
		}
		got[strings.Join(args, " ")] = strings.Join(lines, "\n")
	}
	common := r.Run("rev-parse", "--path-format=absolute", "--git-common-dir")
	gitDir := r.Run("rev-parse", "--path-format=absolute", "--git-dir")
	for _, path := range []string{gitDir + "/index", gitDir + "/HEAD", gitDir + "/config.worktree", common + "/config", common + "/HEAD", common + "/FETCH_HEAD"} {
		if data, err := os.ReadFile(path); err == nil {
			got[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
	}
	entries, _ := os.ReadDir(common + "/hooks")
	for _, e := range entries {
		got["hooks"] += e.Name() + "\n"
	}
	return got
}

func environments() []environment {
	list := []environment{
		here("plain", func(*testing.T, *testrepo.Repo) {}),
		{"subdirectory", func(t *testing.T) (string, *testrepo.Repo) {
			r := testrepo.New(t)
			r.Write("a/b/file", "x")
			return filepath.Join(r.Dir, "a", "b"), r
		}},
		{"linked worktree", func(t *testing.T) (string, *testrepo.Repo) {
			r := testrepo.New(t)
			dir := filepath.Join(t.TempDir(), "linked")
			r.Run("worktree", "add", "-q", dir)
			return dir, testrepo.At(t, dir)
		}},
		{"linked worktree of a bare repository", func(t *testing.T) (string, *testrepo.Repo) {
			r := testrepo.New(t)
			bare, dir := filepath.Join(t.TempDir(), "bare.git"), filepath.Join(t.TempDir(), "linked")
			r.Run("clone", "-q", "--bare", r.Dir, bare)
			testrepo.At(t, bare).Run("worktree", "add", "-q", dir, "main")
			return dir, testrepo.At(t, dir)
		}},
		{"another worktree removed by hand", func(t *testing.T) (string, *testrepo.Repo) {
			r := testrepo.New(t)
			dir := filepath.Join(t.TempDir(), "linked")
			r.Run("worktree", "add", "-q", dir)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			return r.Dir, r
		}},
		{"bare", func(t *testing.T) (string, *testrepo.Repo) {
			testrepo.Isolate(t)
			r := testrepo.Init(t, filepath.Join(t.TempDir(), "bare.git"), "--bare")
			return r.Dir, r
		}},
		{"inside the git directory", func(t *testing.T) (string, *testrepo.Repo) {
			r := testrepo.New(t)
			return filepath.Join(r.Dir, ".git", "refs"), r
		}},
		{"submodule", func(t *testing.T) (string, *testrepo.Repo) {
			super := testrepo.New(t)
			inner := testrepo.Init(t, filepath.Join(t.TempDir(), "inner"))
			inner.Commit("begin")
			super.Run("submodule", "--quiet", "add", inner.Dir, "sub")
			dir := filepath.Join(super.Dir, "sub")
			return dir, testrepo.At(t, dir)
		}},
		{"separate git directory", func(t *testing.T) (string, *testrepo.Repo) {
			r := testrepo.New(t, "--separate-git-dir="+filepath.Join(t.TempDir(), "elsewhere"))
			return r.Dir, r
		}},
		here("packed refs only", func(t *testing.T, r *testrepo.Repo) { r.Run("pack-refs", "--all") }),
		here("unborn branch", func(t *testing.T, r *testrepo.Repo) { r.Run("checkout", "-q", "--orphan", "new") }),
		here("detached", func(t *testing.T, r *testrepo.Repo) { r.Run("checkout", "-q", "--detach") }),
		here("no identity", func(t *testing.T, r *testrepo.Repo) {
			if err := os.WriteFile(os.Getenv("GIT_CONFIG_GLOBAL"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Setenv("EMAIL", "")
		}),
		here("useConfigOnly without identity", func(t *testing.T, r *testrepo.Repo) {
			if err := os.WriteFile(os.Getenv("GIT_CONFIG_GLOBAL"), []byte("[user]\nuseConfigOnly = true\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}),
		initialised("sha256", "--object-format=sha256"),
		here("objectFormat said explicitly", func(t *testing.T, r *testrepo.Repo) {
			r.Run("config", "core.repositoryFormatVersion", "1")
			r.Run("config", "extensions.objectFormat", "sha1")
		}),
		here("preciousObjects", func(t *testing.T, r *testrepo.Repo) {
			r.Run("config", "core.repositoryFormatVersion", "1")
			r.Run("config", "extensions.preciousObjects", "true")
		}),
		here("sparse checkout", func(t *testing.T, r *testrepo.Repo) {
			r.Write("in/a", "a")
			r.Write("out/b", "b")
			r.Commit("two folders")
			r.Run("sparse-checkout", "set", "--cone", "in")
		}),
		here("per-worktree configuration", func(t *testing.T, r *testrepo.Repo) {
			r.Run("config", "extensions.worktreeConfig", "true")
			r.Run("config", "--worktree", "user.name", "Only Here")
		}),
		clone("shallow", "--depth=1"),
		clone("partial", "--filter=blob:none"),
		clone("mirror", "--mirror"),
		clone("single branch", "--single-branch"),
		here("split index", func(t *testing.T, r *testrepo.Repo) { r.Run("update-index", "--split-index") }),
		here("commit graph", func(t *testing.T, r *testrepo.Repo) { r.Run("commit-graph", "write", "--reachable") }),
		here("multi-pack index", func(t *testing.T, r *testrepo.Repo) {
			r.Run("gc", "-q")
			r.Run("multi-pack-index", "write")
		}),
		here("replaced commit", func(t *testing.T, r *testrepo.Repo) {
			old, new := r.Commit("one"), r.Commit("two")
			r.Run("replace", old, new)
		}),
		here("grafts", func(t *testing.T, r *testrepo.Repo) {
			id := r.Commit("second")
			r.Write(".git/info/grafts", id+"\n")
		}),
		here("branch configured strangely", func(t *testing.T, r *testrepo.Repo) {
			r.Run("config", "branch.main.merge", "refs/pull/1/head")
			r.Run("config", "remote.origin.url", "nowhere")
			r.Run("config", "--add", "remote.origin.fetch", "^refs/heads/x")
		}),
		here("an empty ref somewhere", func(t *testing.T, r *testrepo.Repo) { r.Write(".git/refs/remotes/origin/torn", "") }),
		here("stray pack without index", func(t *testing.T, r *testrepo.Repo) {
			r.Write(".git/objects/pack/pack-"+strings.Repeat("0", 40)+".pack", "PACK")
		}),
		here("shared repository", func(t *testing.T, r *testrepo.Repo) { r.Run("config", "core.sharedRepository", "group") }),
		clone("alternates", "--shared"),
		{"alternates with a relative path", func(t *testing.T) (string, *testrepo.Repo) {
			r := shared(t, stored(t))
			path := filepath.Join(r.Dir, ".git", "objects", "info", "alternates")
			absolute, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			relative, err := filepath.Rel(filepath.Join(r.Dir, ".git", "objects"), strings.TrimSpace(string(absolute)))
			if err != nil {
				t.Fatal(err)
			}
			r.Write(".git/objects/info/alternates", filepath.ToSlash(relative)+"\n")
			return r.Dir, r
		}},
		{"alternates of alternates", func(t *testing.T) (string, *testrepo.Repo) {
			first := shared(t, stored(t))
			first.Run("branch", "-q", "reverie/memory", "origin/reverie/memory")
			second := shared(t, first)
			return second.Dir, second
		}},
		{"store in a big pack", func(t *testing.T) (string, *testrepo.Repo) {
			r := stored(t)
			r.Run("gc", "-q", "--prune=now")
			return r.Dir, r
		}},
		{"store in a pack with an old index", func(t *testing.T) (string, *testrepo.Repo) {
			r := stored(t)
			r.Run("-c", "pack.indexVersion=1", "repack", "-adq")
			r.Run("prune-packed")
			indexes, _ := filepath.Glob(filepath.Join(r.Dir, ".git", "objects", "pack", "*.idx"))
			if data, err := os.ReadFile(indexes[0]); err != nil || data[0] == 0xff {
				t.Fatalf("not an index of version 1: %v", err)
			}
			return r.Dir, r
		}},
		{"store in a partial clone", func(t *testing.T) (string, *testrepo.Repo) {
			origin, dir := stored(t), filepath.Join(t.TempDir(), "clone")
			origin.Run("config", "uploadpack.allowFilter", "true")
			origin.Run("clone", "-q", "--filter=tree:0", "file://"+filepath.ToSlash(origin.Dir), dir)
			return dir, testrepo.At(t, dir)
		}},
		{"store in a shallow clone", func(t *testing.T) (string, *testrepo.Repo) {
			origin, dir := stored(t), filepath.Join(t.TempDir(), "clone")
			origin.Run("clone", "-q", "--depth=1", "--no-single-branch", "file://"+filepath.ToSlash(origin.Dir), dir)
			return dir, testrepo.At(t, dir)
		}},
		named("spaces in the path", "a folder with spaces"),
		named("other scripts in the path", "Проект 项目 🦊"),
	}
	if runtime.GOOS != "windows" {
		list = append(list, unixEnvironments()...)
	}
	return list
}

// unixEnvironments returns those that Windows does not have, or not without rights.
func unixEnvironments() []environment {
	list := []environment{
		named("newline in the path", "two\nlines"),
		named("quotes in the path", `it's a "path" with $HOME and *`),
		{".git is a symbolic link", func(t *testing.T) (string, *testrepo.Repo) {
			r := testrepo.New(t)
			moved := filepath.Join(t.TempDir(), "moved")
			link(t, filepath.Join(r.Dir, ".git"), moved)
			return r.Dir, r
		}},
		{"refs is a symbolic link", func(t *testing.T) (string, *testrepo.Repo) {
			r := testrepo.New(t)
			link(t, filepath.Join(r.Dir, ".git", "refs"), filepath.Join(t.TempDir(), "refs"))
			return r.Dir, r
		}},
		{"umask 077", func(t *testing.T) (string, *testrepo.Repo) {
			setUmask(t, 0o077)
			r := testrepo.New(t)
			return r.Dir, r
		}},
		{"umask 000", func(t *testing.T) (string, *testrepo.Repo) {
			setUmask(t, 0)
			r := testrepo.New(t)
			return r.Dir, r
		}},
	}
	return list
}

// stored returns a repository with a store of two files.
func stored(t *testing.T) *testrepo.Repo {
	r := testrepo.New(t)
	write(t, create(t, r), map[string]string{"memories/aa/old.md": "an old memory\n"})
	return r
}

// shared returns a clone that borrows the objects of another repository.
func shared(t *testing.T, origin *testrepo.Repo) *testrepo.Repo {
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Run("clone", "-q", "--shared", origin.Dir, dir)
	return testrepo.At(t, dir)
}

// link moves a folder and leaves a symbolic link in its place.
func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}
