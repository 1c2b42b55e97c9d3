package gitstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// canary returns a program that leaves a mark when it runs, and a function that returns the marks.
func canary(t *testing.T) (program string, sang func() string) {
	t.Helper()
	dir := t.TempDir()
	mark := filepath.ToSlash(filepath.Join(dir, "mark"))
	program = filepath.ToSlash(filepath.Join(dir, "canary"))
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+mark+"'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, func() string {
		text, _ := os.ReadFile(mark)
		return string(text)
	}
}

// everything exercises all operations of a store.
func everything(t *testing.T, r *testrepo.Repo) {
	t.Helper()
	s := gitstore.Open(find(t, r.Dir), branch)
	begin(t, s)
	write(t, s, map[string]string{"a/one": "1"})
	second := write(t, s, map[string]string{"a/one": "2"})
	many := map[string]string{}
	for i := range 150 {
		many[fmt.Sprintf("many/%d", i)] = fmt.Sprint(i)
	}
	write(t, s, many)
	if _, err := s.Revert(t.Context(), string(second.Commit), nil); err != nil {
		t.Error(err)
	}
	if err := s.ViewAt(t.Context(), "~1", func(*gitstore.Tree) error { return nil }); err != nil {
		t.Error(err)
	}
	if _, err := s.Tidy(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Check(t.Context(), true, func(p gitstore.Problem) { t.Errorf("check: %s", p) }); err != nil {
		t.Error(err)
	}
	tip, err := s.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Repo().Refs().Delete(t.Context(), branch, string(tip)); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(s.Repo().CommonDir, "reverie", "tips")); err != nil {
		// The store can begin again.
		t.Error(err)
	}
}

// Programs in a repository's own configuration never run: it may have come with a copied folder.
func TestConfiguredProgramsAreNotRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := testrepo.New(t, "--object-format="+format)
			program, sang := canary(t)
			hooks := filepath.Join(t.TempDir(), "hooks")
			for _, name := range []string{"reference-transaction", "post-index-change", "pre-commit", "post-commit", "pre-auto-gc", "post-checkout"} {
				r.Write(filepath.Join("..", "hooks-of-test", name), "#!/bin/sh\nexec '"+program+"' hook\n")
			}
			if err := os.Rename(filepath.Join(r.Dir, "..", "hooks-of-test"), hooks); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"core.fsmonitor", "core.editor", "core.pager", "core.sshCommand", "core.askPass", "diff.external", "gpg.program",
				"gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand", "credential.helper", "pager.log", "core.alternateRefsCommand"} {
				r.Run("config", key, program)
			}
			r.Run("config", "core.hooksPath", hooks)
			r.Run("config", "commit.gpgSign", "true")
			r.Run("config", "gc.auto", "1")
			for _, format := range []string{"openpgp", "ssh", "x509"} {
				r.Run("config", "gpg.format", format)
				t.Setenv("PATH", withoutSigners(t))
				everything(t, r)
			}
			if who := sang(); who != "" {
				t.Errorf("was run:\n%s", who)
			}
		})
	}
}

// withoutSigners returns a PATH with git but without real signing programs, which could find a key
// of the machine.
func withoutSigners(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"gpg", "gpgsm", "ssh-keygen"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho no key >&2\nexit 2\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// Variables that an enclosing git, a hook or a hostile parent set do not reach our git.
func TestEnvironmentOfOthersIsNotUsed(t *testing.T) {
	r := testrepo.New(t)
	other := testrepo.Init(t, filepath.Join(t.TempDir(), "other"))
	program, sang := canary(t)
	s := gitstore.Open(find(t, r.Dir), branch)
	before := snapshot(t, r)
	for name, value := range map[string]string{
		"GIT_DIR":              filepath.Join(other.Dir, ".git"),
		"GIT_WORK_TREE":        other.Dir,
		"GIT_INDEX_FILE":       filepath.Join(other.Dir, ".git", "index.lock"),
		"GIT_OBJECT_DIRECTORY": filepath.Join(other.Dir, ".git", "objects"),
		"GIT_COMMON_DIR":       filepath.Join(other.Dir, ".git"),
		"GIT_NAMESPACE":        "ns",
		"GIT_AUTHOR_NAME":      "Somebody Else",
		"GIT_AUTHOR_DATE":      "@0 +0000",
		"GIT_EDITOR":           program,
		"GIT_EXTERNAL_DIFF":    program,
		"GIT_PAGER":            program,
		"GIT_REFLOG_ACTION":    "forged",
		"GIT_CONFIG_COUNT":     "2",
		"GIT_CONFIG_KEY_0":     "core.fsmonitor", "GIT_CONFIG_VALUE_0": program,
		"GIT_CONFIG_KEY_1": "user.name", "GIT_CONFIG_VALUE_1": "Forged",
		"GIT_CONFIG_PARAMETERS": "'user.email'='forged@example.com'",
	} {
		t.Setenv(name, value)
	}
	begin(t, s)
	write(t, s, map[string]string{"a": "1"})
	if _, err := s.Revert(t.Context(), "~0", nil); err != nil {
		t.Error(err)
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") && name != "GIT_CONFIG_GLOBAL" && name != "GIT_CONFIG_NOSYSTEM" {
			os.Unsetenv(name)
		}
	}
	if got := r.Run("log", "--format=%an %ae %cn", "-2", branch); got != "Ann Author ann@example.com Ann Author\nAnn Author ann@example.com Ann Author" {
		t.Errorf("authors:\n%s", got)
	}
	if diff := cmp.Diff(before, snapshot(t, r)); diff != "" {
		t.Error(diff)
	}
	if refs := other.Run("for-each-ref"); refs != "" {
		t.Errorf("the other repository got %s", refs)
	}
	if who := sang(); who != "" {
		t.Errorf("was run:\n%s", who)
	}
}

func TestStateIsForTheUserAlone(t *testing.T) {
	setUmask(t, 0)
	r := testrepo.New(t)
	create(t, r)
	info, err := os.Stat(filepath.Join(r.Dir, ".git", "reverie"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
