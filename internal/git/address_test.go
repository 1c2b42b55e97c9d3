package git_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// canary returns a path, and a check that no file was created there.
func canary(t *testing.T) (path string, silent func()) {
	path = filepath.Join(t.TempDir(), "canary")
	return path, func() {
		t.Helper()
		if _, err := os.Stat(path); err == nil {
			t.Error("it ran")
		}
	}
}

// use does with origin what a sync does, as far as permitted.
func use(t *testing.T, repo *git.Repo) error {
	t.Helper()
	m, err := repo.Remote(t.Context(), "origin", "")
	if err != nil {
		return err
	}
	_, err = m.Refs(t.Context())
	_, err2 := m.Fetch(t.Context(), "refs/heads/main", seen)
	return errors.Join(err, err2)
}

// git runs an alias if it finds no program for a credential helper or a transport.
func TestAliasesForHelpersAreRefused(t *testing.T) {
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer locked.Close()
	for url, set := range map[string][]string{
		locked.URL + "/x": {"credential.helper", "evil", "alias.credential-evil"},
		"foo::bar":        {"user.x", "y", "alias.remote-foo"},
		"bar://x/y":       {"user.x", "y", "alias.remote-bar"},
	} {
		r, _, repo := pair(t, url)
		path, silent := canary(t)
		r.Run("config", set[0], set[1])
		r.Run("config", set[2], "!touch "+path+"; false")
		var told *git.ProgramError
		if err := use(t, repo); !errors.As(err, &told) || told.Keys[0] != set[2] {
			t.Errorf("%s: %v", url, err)
		}
		silent()
	}
}

func TestHelpersNeedTheUsersWord(t *testing.T) {
	for _, url := range []string{"foo::bar", "foo://bar/x", "gh:x"} {
		r, _, repo := pair(t, url)
		r.Run("config", "url.foo::.insteadOf", "gh:")
		r.Run("config", "protocol.foo.allow", "always")
		var told *git.AddressError
		if _, err := repo.Remote(t.Context(), "origin", ""); !errors.As(err, &told) || !strings.Contains(told.Why, "--global protocol.foo.allow") {
			t.Errorf("%s: %v", url, err)
		}
		r.Run("config", "--global", "protocol.foo.allow", "always")
		if _, err := repo.Remote(t.Context(), "origin", ""); err != nil {
			t.Errorf("%s, allowed: %v", url, err)
		}
		r.Run("config", "--global", "--unset", "protocol.foo.allow")
	}
}

func TestRemoteInOurOwnFolderIsRefused(t *testing.T) {
	r, bare, repo := pair(t, "")
	testrepo.Init(t, filepath.Join(r.Dir, ".git", "evil"), "--bare")
	if err := os.Symlink(filepath.Join(r.Dir, ".git"), filepath.Join(filepath.Dir(r.Dir), "out")); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{
		".git/evil", "./sub/../.git/evil", "../out/evil", filepath.Join(r.Dir, "evil.git"), "file://" + r.Dir + "/%2egit/evil",
		"file://" + filepath.Dir(r.Dir) + "/out/evil", ".", "/proc/self/cwd/.git/evil",
	} {
		r.Run("config", "remote.origin.url", url)
		var told *git.AddressError
		if err := use(t, repo); !errors.As(err, &told) {
			t.Errorf("%s: %v", url, err)
		}
		r.Run("config", "remote.origin.url", bare.Dir)
		r.Run("config", "remote.origin.pushurl", url)
		if err := use(t, repo); err != nil {
			t.Errorf("fetch, with a push to %s: %v", url, err)
		}
		m, err := repo.Remote(t.Context(), "origin", "")
		if err != nil {
			t.Fatal(err)
		}
		tip := r.Run("rev-parse", "HEAD")
		_, err = m.Push(t.Context(), git.Update{Ref: "refs/heads/new", ID: tip})
		_, _, err2 := m.Overwrite(t.Context(), git.Update{Ref: "refs/heads/main", ID: tip, Old: tip})
		if !errors.As(err, &told) || !errors.As(err2, &told) {
			t.Errorf("push to %s: %v, %v", url, err, err2)
		}
		r.Run("config", "--unset", "remote.origin.pushurl")
	}
	if err := use(t, repo); err != nil {
		t.Error(err)
	}
}

// Consent is for one address; git pushes to all.
func TestSeveralAddressesAreRefused(t *testing.T) {
	for _, key := range []string{"remote.origin.url", "remote.origin.pushurl"} {
		for _, second := range []string{"https://evil.example/x", ""} {
			r, bare, repo := pair(t, "")
			r.Run("config", "remote.origin.pushurl", bare.Dir)
			r.Run("config", "--add", key, second)
			var told *git.AddressError
			if _, err := repo.Remote(t.Context(), "origin", ""); !errors.As(err, &told) || !strings.Contains(told.Why, key) {
				t.Errorf("%s %q: %v", key, second, err)
			}
		}
	}
}

// Reading a missing object does nothing that a sync refuses, however the configuration marks the
// clone as partial.
func TestMissingObjectIsNotFetchedFromAnywhere(t *testing.T) {
	missing := strings.Repeat("1", 40)
	for name, config := range map[string]string{
		"alias":       "[remote \"origin\"]\n\turl = foo::bar\n\tpromisor = true\n[alias]\n\tremote-foo = !touch CANARY\n",
		"one line":    "[remote \"o\"] url = foo::bar\n[remote \"o\"] promisor\n[alias \"remote-foo\"] command = !touch CANARY\n[alias] remote-foo = !touch CANARY\n",
		"ext":         "[protocol \"ext\"] allow = always\n[remote \"o\"]\n\turl = ext::touch CANARY\n\tpromisor = 1\n",
		"ssh":         "[core] sshCommand = touch CANARY #\n[remote \"o\"]\n\turl = ssh://x/y\n\tpromisor = on\n",
		"no address":  "[extensions] partialClone = foo::bar\n[alias] remote-foo = !touch CANARY\n",
		"ext name":    "[extensions] partialClone = ext::touch CANARY\n[protocol \"ext\"] allow = always\n",
		"pack server": "[remote \"o\"] promisor = yes\n[remote \"o\"] url = ..\n[remote \"o\"] uploadpack = touch CANARY;\n",
		"within":      "[remote \"o\"] promisor = yes\n[remote \"o\"] url = evil\n[remote \"p\"] url = evil\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := testrepo.New(t)
			path, silent := canary(t)
			evil := testrepo.Init(t, filepath.Join(r.Dir, ".git", "evil"), "--bare")
			evil.Run("config", "core.sshCommand", "touch "+path+" #")
			file := filepath.Join(r.Dir, ".git", "config")
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(strings.ReplaceAll(config, "CANARY", path))
			f.Close()
			repo, err := git.Find(t.Context(), r.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if !repo.Partial {
				t.Error("not seen to be partial")
			}
			objects := repo.Objects()
			defer objects.Close()
			if _, err := objects.Read(t.Context(), missing); !errors.Is(err, git.ErrNoObject) {
				t.Errorf("read: %v", err)
			}
			repo.Git(t.Context(), nil, "cat-file", "-p", missing)
			if cmd := repo.Command(t.Context(), "version"); !strings.Contains(strings.Join(cmd.Env, "\n"), "GIT_ALLOW_PROTOCOL=none") {
				t.Error("a git may fetch")
			}
			silent()
		})
	}
}
