// Package testrepo makes real repositories for tests. They vanish with the test, and see neither
// the user's configuration nor the variables of a surrounding agent. Begin with New.
package testrepo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/hooks"
)

// Repo is a repository with a work tree, or a bare one.
type Repo struct {
	t   testing.TB
	Dir string // top of the work tree, or the bare repository
}

// Isolate gives the test an empty home and a git configuration with only a name. Child processes
// inherit both. A test that calls it cannot be parallel.
func Isolate(t testing.TB) (home string) {
	t.Helper()
	home = t.TempDir()
	foreign := hooks.Marks(os.Getenv) // of the agent that runs the tests
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "XDG_") {
			foreign = append(foreign, name)
		}
	}
	for _, name := range foreign {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	config := filepath.Join(home, ".gitconfig")
	text := "[user]\n\tname = Ann Author\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_TERMINAL_PROMPT", "0")
	if dir := OlderGit(t.TempDir()); dir != "" {
		t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return home
}

// OlderGit writes a git into dir that claims to be older than 2.54, so that our hooks go into
// files, and returns dir. It returns "" if git is that old.
func OlderGit(dir string) string {
	out, err := exec.Command("git", "version").Output()
	m := regexp.MustCompile(`^git version (\d+)\.(\d+)`).FindStringSubmatch(string(out))
	if err != nil || m == nil || m[1] == "2" && (len(m[2]) < 2 || m[2] < "54") {
		return ""
	}
	if err := ClaimGit(dir, "2.53.0"); err != nil {
		panic(err)
	}
	return dir
}

// ClaimGit writes a git into dir that claims a version.
func ClaimGit(dir, version string) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	text := "#!/bin/sh\n[ \"$1\" != version ] || exec echo git version " + version + "\nexec '" + git + "' \"$@\"\n"
	return os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755)
}

// New isolates the test and makes a repository with one commit on main, of a file README. options
// go to git init.
func New(t testing.TB, options ...string) *Repo {
	t.Helper()
	Isolate(t)
	r := Init(t, filepath.Join(t.TempDir(), "repo"), options...)
	r.Write("README", "a project\n")
	r.Commit("begin")
	return r
}

// Init makes an empty repository in dir.
func Init(t testing.TB, dir string, options ...string) *Repo {
	t.Helper()
	git(t, "", append(append([]string{"init", "-q"}, options...), dir)...)
	return At(t, dir)
}

// At returns the existing repository in dir.
func At(t testing.TB, dir string) *Repo { return &Repo{t: t, Dir: dir} }

// Run runs git in the repository, fails the test if git fails, and returns git's output without the
// last newline.
func (r *Repo) Run(args ...string) string {
	r.t.Helper()
	return git(r.t, r.Dir, args...)
}

// Try runs git in the repository and returns its combined output and its error.
func (r *Repo) Try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	out, err := cmd.CombinedOutput()
	return string(bytes.TrimSuffix(out, []byte("\n"))), err
}

// Write writes a file of the work tree, making its folders.
func (r *Repo) Write(path, text string) {
	r.t.Helper()
	path = filepath.Join(r.Dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// Commit commits the whole work tree and returns the commit's id.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Run("add", "-A")
	r.Run("commit", "-q", "--allow-empty", "-m", message)
	return r.Run("rev-parse", "HEAD")
}

// Lose moves a loose object away, and removes Reverie's second copies. The returned function
// restores the object.
func (r *Repo) Lose(id string) (back func()) {
	r.t.Helper()
	object := filepath.Join(r.Dir, ".git", "objects", id[:2], id[2:])
	for _, err := range []error{os.Rename(object, object+".away"), os.RemoveAll(filepath.Join(r.Dir, ".git", "reverie", "recent"))} {
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return func() {
		r.t.Helper()
		if err := os.Rename(object+".away", object); err != nil {
			r.t.Fatal(err)
		}
	}
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(bytes.TrimSuffix(out, []byte("\n")))
}
