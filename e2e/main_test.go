// Package e2e breaks things: it drives the built command and real git from outside, in repositories
// that are damaged, hostile, interrupted or cut off, and checks the result. It has only tests,
// which are short unless REVERIE_E2E is set.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	// the tested code: without it go test would reuse old results
	_ "github.com/reverie-memory/reverie/cmd"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// full requests the full numbers: CI sets REVERIE_E2E.
var full = os.Getenv("REVERIE_E2E") != ""

// every requests complete runs, however long they take.
var every = os.Getenv("REVERIE_E2E") == "all"

// seed determines the random choices of a run; a failing test names it.
var seed = flag.Uint64("seed", 1, "of the random choices")

// patience bounds one command, beyond which a test reports a hang. A soak is meant to run beside
// other work, at the lowest priority.
var patience = map[bool]time.Duration{false: 5 * time.Minute, true: 30 * time.Minute}[os.Getenv("REVERIE_SOAK") != ""]

// binary is the path of the built command. The tests build it unless -binary names it.
var binary string

func TestMain(m *testing.M) {
	flag.StringVar(&binary, "binary", "", "absolute path of a built command, on the file system of TMPDIR")
	flag.Parse()
	os.Exit(runTests(m))
}

// runTests builds the command and gives all tests one empty home and a git configuration with only
// a name.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "reverie-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary == "" {
		binary = filepath.Join(dir, "reverie")
		// as README has it
		build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", binary, "../cmd/reverie")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
	}
	for _, name := range hooks.Marks(os.Getenv) { // of the agent that runs the tests
		os.Unsetenv(name)
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "GIT_"), strings.HasPrefix(name, "XDG_"), strings.HasPrefix(name, "SSH_"),
			name == "EDITOR", name == "VISUAL", name == "PAGER":
			os.Unsetenv(name)
		}
	}
	home := filepath.Join(dir, "home")
	config := filepath.Join(home, ".gitconfig")
	text := "[user]\n\tname = Ann Author\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
	if err := errors.Join(os.Mkdir(home, 0o700), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("HOME", home)
	os.Setenv("USERPROFILE", home)
	os.Setenv("GIT_CONFIG_GLOBAL", config)
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Setenv("GIT_TERMINAL_PROMPT", "0")
	if older := testrepo.OlderGit(dir); older != "" {
		os.Setenv("PATH", older+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return m.Run()
}

// answer is the result of a command.
type answer struct {
	args     []string
	out, err string
	code     int // exit code; -1 after a signal
}

func (a answer) String() string {
	return fmt.Sprintf("%q: exit code %d\n%s%s", a.args, a.code, a.out, a.err)
}

// reverie runs the command in dir. A panic or a hang fails the test, whatever its subject.
func reverie(t testing.TB, dir string, args ...string) answer {
	t.Helper()
	return finish(t, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Dir = dir
		return cmd
	})
}

// must is reverie, but anything except success ends the test.
func must(t testing.TB, dir string, args ...string) string {
	t.Helper()
	a := reverie(t, dir, args...)
	if a.code != 0 {
		t.Fatalf("%s", a)
	}
	return a.out
}

func finish(t testing.TB, command func(context.Context) *exec.Cmd) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(ctx)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	a := answer{args: cmd.Args, out: out.String(), err: stderr.String()}
	if ctx.Err() != nil {
		t.Fatalf("hangs: %s", a)
	}
	return a.ended(t, err)
}

// ended returns the answer of a command that ended with an error or without.
func (a answer) ended(t testing.TB, err error) answer {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		a.code = exit.ExitCode()
	case err != nil:
		t.Fatalf("%q: %v", a.args, err)
	}
	// Go's own failure, if a test makes even an eventfd fail
	const runtimes = "netpollBreak write failed"
	if (strings.Contains(a.err, "goroutine ") || strings.Contains(a.err, "panic:")) && !strings.Contains(a.err, runtimes) {
		t.Errorf("panics: %s", a)
	}
	return a
}

// git runs git and requires success.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

// fresh makes a repository with one commit.
func fresh(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	return dir
}

// tryGit returns git's combined output, without the last line feed.
func tryGit(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// newRepo returns a repository with one commit.
func newRepo(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	git(t, "", "init", "-q", dir)
	write(t, filepath.Join(dir, "README"), "a project\n")
	git(t, dir, "add", "README")
	git(t, dir, "commit", "-qm", "begin")
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// copyDir copies a repository with its files' modes, and the remote beside it.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(bareOf(to), os.DirFS(bareOf(from))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(to, ".git", "reverie"), 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return to
}

// bareOf returns the path of a repository's remote, if it has one.
func bareOf(dir string) string { return filepath.Join(filepath.Dir(dir), "bare.git") }

// files lists the regular files below a folder, in order.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// example returns the path of a shipped transcript.
func example(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs("../examples/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return path
}
