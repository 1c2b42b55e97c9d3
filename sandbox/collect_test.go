//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is a test folder with methods to fill it.
type tree struct {
	t   *testing.T
	dir string
}

func (tr tree) must(err error) {
	tr.t.Helper()
	if err != nil {
		tr.t.Fatal(err)
	}
}

func (tr tree) file(path, text string) {
	tr.t.Helper()
	full := filepath.Join(tr.dir, path)
	tr.must(os.MkdirAll(filepath.Dir(full), 0o755))
	tr.must(os.WriteFile(full, []byte(text), 0o644))
}

func (tr tree) link(target, path string) {
	tr.t.Helper()
	full := filepath.Join(tr.dir, path)
	tr.must(os.MkdirAll(filepath.Dir(full), 0o755))
	tr.must(os.Symlink(target, full))
}

// outcome returns Collect's result, a line for each path.
func outcome(t *testing.T, dir string, how Collecting) string {
	t.Helper()
	files, refused, err := Collect(t.Context(), dir, how)
	var b strings.Builder
	for _, f := range files {
		switch {
		case f.Info.Mode()&os.ModeSymlink != 0:
			fmt.Fprintf(&b, "%s is a link\n", f.Path)
		default:
			fmt.Fprintf(&b, "%s %d\n", f.Path, f.Info.Size())
		}
	}
	for _, r := range refused {
		fmt.Fprintf(&b, "! %q: %s\n", r.Path, r.Why)
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

func TestCollectRefusesHostileTrees(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	const noLink = "a link that was not there before"
	const git = "a git directory, or what some file system takes for one"
	for _, test := range []struct {
		name string
		make func(tree)
		how  Collecting
		want string
	}{
		{"plain files", func(tr tree) { tr.file("a", "1"); tr.file("d/b", "2"); tr.file(".gitignore", "x") }, Collecting{}, ".gitignore 1\na 1\nd/b 1\n"},
		{"links", func(tr tree) {
			tr.file("real", "x")
			tr.link(secret, "absolute")
			tr.link("../../../../etc/passwd", "above")
			tr.link("real", "inside")
			tr.link("none", "dangling")
			tr.link(".", "loop")
			tr.link("/", "d/root")
		}, Collecting{}, "real 1\n! \"above\": " + noLink + "\n! \"absolute\": " + noLink + "\n! \"d/root\": " + noLink + "\n! \"dangling\": " + noLink + "\n! \"inside\": " + noLink + "\n! \"loop\": " + noLink + "\n"},
		{"links that were there", func(tr tree) { tr.link("real", "kept"); tr.link("/etc/passwd", "turned") },
			Collecting{Before: func(p string) (string, bool) { return "real", p == "kept" || p == "turned" }}, "kept is a link\n! \"turned\": " + noLink + "\n"},
		{"git directories in any spelling", func(tr tree) {
			tr.file(".git/config", "x")
			tr.file("sub/.GIT/config", "x")
			tr.file("sub/ok", "y")
			tr.file("file/.git", "gitdir: /elsewhere")
			tr.file("short/GIT~1/config", "x")
			tr.file("dots/.git. ./config", "x")
			tr.file("stream/.git::$INDEX_ALLOCATION/config", "x")
			tr.file("hfs/.g\u200cit/config", "x")
			tr.file(`slash/a\.git`, "x")
			tr.link("sub", "linked/.git")
		}, Collecting{}, "sub/ok 1\n! \".git\": " + git + "\n! \"dots/.git. .\": " + git + "\n! \"file/.git\": " + git + "\n! \"hfs/.g\\u200cit\": " + git + "\n! \"linked/.git\": " + git +
			"\n! \"short/GIT~1\": " + git + "\n! \"slash/a\\\\.git\": " + git + "\n! \"stream/.git::$INDEX_ALLOCATION\": " + git + "\n! \"sub/.GIT\": " + git + "\n"},
		{"names that deceive", func(tr tree) {
			tr.file("line\nfeed", "")
			tr.file("esc\x1b[2J", "")
			tr.file("bell\a/inner", "")
			tr.file("turned\u202etxt.sh", "")
			tr.file("family 👨\u200d👩", "f")
			tr.file("ümlaut", "u")
		}, Collecting{}, "family 👨\u200d👩 1\nümlaut 1\n! \"bell\\a\": a control character is in its name\n! \"esc\\x1b[2J\": a control character is in its name\n! \"line\\nfeed\": a control character is in its name\n! \"turned\\u202etxt.sh\": a character that hides or turns text round is in its name\n"},
		{"pipes and sockets", func(tr tree) {
			tr.must(syscall.Mkfifo(filepath.Join(tr.dir, "pipe"), 0o644))
			l, err := net.Listen("unix", filepath.Join(tr.dir, "s"))
			tr.must(err)
			tr.t.Cleanup(func() { l.Close() })
		}, Collecting{}, "! \"pipe\": a pipe\n! \"s\": a socket\n"},
		{"hard links", func(tr tree) {
			tr.must(os.Link(secret, filepath.Join(tr.dir, "stolen")))
			tr.file("one", "x")
			tr.must(os.Link(filepath.Join(tr.dir, "one"), filepath.Join(tr.dir, "two")))
		}, Collecting{}, "one 1\ntwo 1\n! \"stolen\": it has another name, outside of the folder or among what is left out\n"},
		{"large files", func(tr tree) {
			tr.file("fits", "12345")
			tr.file("large", "123456")
			tr.must(os.Truncate(filepath.Join(tr.dir, "large"), 1<<40)) // nothing on the disk
		}, Collecting{MaxFile: 5}, "fits 5\n! \"large\": it is too large\n"},
		{"too many", func(tr tree) { tr.file("a", ""); tr.file("b", ""); tr.file("c", "") }, Collecting{MaxFiles: 2}, "error: collect: there is too much to take: more than 2 files\n"},
		{"skipped", func(tr tree) { tr.file("node_modules/x/y", "1"); tr.file("a.o", "2"); tr.file("a.c", "3") },
			Collecting{Skip: func(p string, dir bool) bool {
				return dir && p == "node_modules" || !dir && strings.HasSuffix(p, ".o")
			}}, "a.c 1\n"},
		{"a git directory is told although it is skipped", func(tr tree) { tr.file(".git/x", "") }, Collecting{Skip: func(string, bool) bool { return true }}, "! \".git\": " + git + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			test.make(tree{t, dir})
			if diff := cmp.Diff(test.want, outcome(t, dir, test.how)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("not UTF-8", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a\xffb"), nil, 0o644); err != nil {
			t.Skip("the file system refuses it itself: ", err)
		}
		if diff := cmp.Diff("! \"a\\xffb\": its name is not UTF-8\n", outcome(t, dir, Collecting{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a folder deeper than any path", func(t *testing.T) {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		for range maxDepth + 2 {
			if err := root.Mkdir("d", 0o755); err != nil {
				t.Fatal(err)
			}
			sub, err := root.OpenRoot("d")
			root.Close()
			if root = sub; err != nil {
				t.Fatal(err)
			}
		}
		root.Close()
		want := fmt.Sprintf("! %q: it lies too deep\n", strings.TrimSuffix(strings.Repeat("d/", maxDepth+1), "/"))
		if diff := cmp.Diff(want, outcome(t, dir, Collecting{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestCollectEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	tree{t, dir}.file("a", "1")
	if _, _, err := Collect(ctx, dir, Collecting{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCollectWhileLinksAreSwapped replaces files and folders with links to a secret, to its folder
// and to pipes, and back, during Collect.
func TestCollectWhileLinksAreSwapped(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	outside := t.TempDir()
	var secrets []os.FileInfo
	for _, name := range []string{"file", "x"} {
		tree{t, outside}.file(name, "SECRET")
		info, err := os.Stat(filepath.Join(outside, name))
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, info)
	}
	dir := t.TempDir()
	tr := tree{t, dir}
	for i := range 30 {
		tr.file(fmt.Sprintf("d%d/file", i), "plain")
		tr.file(fmt.Sprintf("d%d/sub/x", i), "plain")
	}
	quit := make(chan struct{})
	var swapper sync.WaitGroup
	swaps := 0
	swapper.Go(func() {
		at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			d := fmt.Sprintf("d%d", i%30)
			os.Rename(at(d, "file"), at("file.away"))
			if i%2 == 0 {
				os.Symlink(filepath.Join(outside, "file"), at(d, "file"))
			} else {
				syscall.Mkfifo(at(d, "file"), 0o644)
			}
			os.Rename(at(d, "sub"), at("sub.away"))
			os.Symlink(outside, at(d, "sub"))
			runtime.Gosched()
			os.Remove(at(d, "file"))
			os.Rename(at("file.away"), at(d, "file"))
			os.Remove(at(d, "sub"))
			os.Rename(at("sub.away"), at(d, "sub"))
			swaps++
		}
	})
	taken, refusals := 0, map[string]int{}
	for range 100 {
		files, refused, err := Collect(t.Context(), dir, Collecting{})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		for _, f := range files {
			followed := func(secret os.FileInfo) bool { return os.SameFile(f.Info, secret) }
			if taken++; !f.Info.Mode().IsRegular() || f.Info.Size() != int64(len("plain")) || slices.ContainsFunc(secrets, followed) {
				t.Errorf("%s is %v, %d bytes", f.Path, f.Info.Mode(), f.Info.Size())
			}
		}
		for _, r := range refused {
			refusals[r.Why]++
		}
	}
	close(quit)
	swapper.Wait()
	t.Log(swaps, "swaps,", taken, "files taken, refused:", refusals)
	if taken == 0 || swaps == 0 || len(refusals) == 0 {
		t.Error("nothing was swapped, nothing taken or nothing refused")
	}
}

func TestRunsNamesWhatTheHostObeys(t *testing.T) {
	for path, want := range map[string]string{
		".envrc":                          "a shell",
		"deep/er/.ENVRC":                  "a shell",
		".env\u200brc":                    "a shell",
		".vscode/tasks.json":              "an editor",
		"sub/.vscode/settings.json":       "an editor",
		".VSCode/tasks.json":              "an editor",
		".vscode":                         "an editor",
		".github/workflows/ci.yml":        "a server",
		".gitattributes":                  "git",
		"vendor/.gitattributes":           "git",
		".gitmodules":                     "git",
		".githooks/pre-commit":            "git",
		"tools/hooks/post-checkout":       "git",
		".husky/pre-commit":               "hooks",
		".claude/settings.json":           "an agent",
		"AGENTS.md":                       "an agent",
		"pkg/CLAUDE.md":                   "an agent",
		".opencode/plugin/x.ts":           "an agent",
		"package.json":                    "a package",
		"conftest.py":                     "a package",
		"Makefile":                        "building",
		"build/rules.mk":                  "building",
		"vite.config.ts":                  "building",
		".devcontainer/devcontainer.json": "a container",
		"x.desktop":                       "a desktop",
		".hg/hgrc":                        "Mercurial",
		"sub/.JJ/repo/config.toml":        "Mercurial",
		"hooks/prepare-commit-msg":        "git",
		"hooks/reference-transaction":     "git",
		".git-hooks/any":                  "git",
		".hooks/any":                      "git",
		".pylintrc":                       "a tool",
		"sub/pylintrc":                    "a tool",
		"mypy.ini":                        "a tool",
		".flake8":                         "a tool",
		".rubocop.yml":                    "a tool",
		"tsconfig.json":                   "a tool",
		"tsconfig.build.json":             "a tool",
		"jsconfig.json":                   "a tool",
		".mocharc.js":                     "a tool",
		".stylelintrc.js":                 "a tool",
		".c8rc.cjs":                       "a tool",
		".rspec":                          "a tool",
		".gdbinit":                        "a tool",
		".lldbinit":                       "a tool",
		"ansible.cfg":                     "a tool",
		".golangci.yml":                   "a tool",
		".clangd":                         "a tool",
		"phpunit.xml.dist":                "a tool",
		".php-cs-fixer.dist.php":          "a tool",
		"reverie.toml":                    "a tool",
		"WORKSPACE":                       "building",
		"pkg/BUILD":                       "building",
		"build/main.go":                   "",
		"workspace/main.go":               "",
		"hooks/update.ts":                 "",
		"src/.hgignore":                   "",
		"main.go":                         "",
		"docs/hooks.md":                   "",
		"hooks/install.go":                "",
		"envrc":                           "",
		"my.vscode/x":                     "",
		"src/makefile_parser.go":          "",
		"package.json.md":                 "",
	} {
		got := Runs(path)
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
