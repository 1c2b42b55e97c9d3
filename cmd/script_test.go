package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"reverie":          func() { os.Exit(Main(os.Args)) },
		"reverie-answered": func() { os.Exit(answered(os.Args)) },
	})
}

// concurrent are the commands in which several goroutines work at once, as their scripts are named.
var concurrent = []string{"dream", "githooks", "hook", "learn", "look", "loop", "model", "recall", "reflect", "sync"}

// everyday are the scripts that run with -short: one for each part of the way from a session to the
// next one.
var everyday = []string{
	"check", "config", "decide", "githooks_install", "history", "hook", "hook_left", "import_export", "init_adopt", "learn",
	"learn_files", "look", "loop", "recall_words", "reflect_import", "remember", "review", "secrets", "sync_seen", "why",
}

// TestScripts runs testdata/script/*.txtar against the real command and real git: what a user types
// and sees. Every script ends in a repository that check and git fsck find whole. It leaves the
// scripts of concurrent commands to TestConcurrentScripts.
func TestScripts(t *testing.T) { runScripts(t, false) }

// TestConcurrentScripts runs the scripts that are worth the race detector.
func TestConcurrentScripts(t *testing.T) { runScripts(t, true) }

// runScripts sets $EXAMPLES to the folder of shipped transcripts and $SAMPLES to that of each
// agent's.
func runScripts(t *testing.T, several bool) {
	t.Helper()
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	samples, err := filepath.Abs("../reflect/transcript/testdata")
	if err != nil {
		t.Fatal(err)
	}
	older := testrepo.OlderGit(t.TempDir())
	params := testscript.Params{
		Files: scripts(t, several),
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, ".home")
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			e.Setenv("AppData", filepath.Join(home, "AppData"))
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
			e.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(e.WorkDir))
			e.Setenv("LC_ALL", "C")
			if older != "" {
				e.Setenv("PATH", older+string(os.PathListSeparator)+e.Getenv("PATH"))
			}
			e.Setenv("OLLAMA_HOST", "127.0.0.1:1") // no server answers there
			// with the race detector each of hundreds of processes would wait a second at its end
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Setenv("EXAMPLES", examples)
			e.Setenv("SAMPLES", samples)
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"), 0o644)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo":   repoCmd,
			"code":   codeCmd,
			"whole":  wholeCmd,
			"snap":   snapCmd,
			"id":     idCmd,
			"gone":   goneCmd,
			"steps":  stepsCmd,
			"tree":   treeCmd,
			"idle":   idleCmd,
			"ollama": ollamaCmd,
		},
	}
	testscript.Run(t, params)
}

// scripts returns the scripts of the concurrent commands, or all others.
func scripts(t *testing.T, several bool) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(path string) bool {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		command, _, _ := strings.Cut(name, "_")
		return slices.Contains(concurrent, command) != several || testing.Short() && !slices.Contains(everyday, name)
	})
}

// repo DIR makes a repository with one commit and goes into it.
func repoCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(ts.Chdir(dir))
	ts.Check(os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o644))
	for _, a := range [][]string{{"init", "-q"}, {"add", "a.txt"}, {"commit", "-qm", "one"}} {
		ts.Check(ts.Exec("git", a...))
	}
}

// idle waits until no worker is at work that a hook has left behind, or is about to be.
func idleCmd(ts *testscript.TestScript, neg bool, args []string) {
	dir := strings.TrimSpace(mustOutput(ts, "git", "rev-parse", "--path-format=absolute", "--git-common-dir"))
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	ts.Check(job.Settle(ctx, filepath.Join(dir, "reverie")))
}

func mustOutput(ts *testscript.TestScript, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	ts.Check(err)
	return string(out)
}

// code N CMD ARG… runs a command and wants that exit code.
func codeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N CMD ARG…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		if _, got, _ = strings.Cut(err.Error(), "exit status "); got == "" {
			ts.Fatalf("%v", err)
		}
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// whole wants check --deep and git fsck --strict to find nothing.
func wholeCmd(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("reverie", "check", "--deep"))
	ts.Check(ts.Exec("git", "fsck", "--strict", "--no-dangling"))
}

// snap FILE writes down everything of the user's that must not change: branches and tags, HEAD,
// index, stash, configuration, hooks and the state of the work tree.
func snapCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snap FILE")
	}
	var b strings.Builder
	for _, a := range [][]string{
		{"status", "--porcelain", "--ignored"},
		{"for-each-ref", "refs/tags", "refs/heads/main", "refs/stash"}, {"symbolic-ref", "HEAD"}, {"config", "--local", "--list"}, {"stash", "list"},
	} {
		_ = ts.Exec("git", a...)
		fmt.Fprintf(&b, "%v\n%s", a, ts.ReadFile("stdout"))
	}
	for _, f := range []string{".git/index", ".git/HEAD", ".git/config"} {
		data, err := os.ReadFile(ts.MkAbs(f))
		ts.Check(err)
		fmt.Fprintf(&b, "%s %x\n", f, data)
	}
	hooks, err := os.ReadDir(ts.MkAbs(".git/hooks"))
	ts.Check(err)
	for _, h := range hooks {
		fmt.Fprintln(&b, h.Name())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
}

// gone TEXT expects a text in no object that a ref of Reverie reaches, in no log of such a ref and
// in no file of the state folder. ! gone TEXT expects it in one.
func goneCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] gone TEXT")
	}
	var found []string
	ts.Check(ts.Exec("sh", "-c", `git for-each-ref --format='%(refname)' refs/heads/reverie refs/reverie | git rev-list --objects --stdin | cut -d' ' -f1 | git cat-file --batch`))
	if strings.Contains(ts.ReadFile("stdout"), args[0]) {
		found = append(found, "an object that a ref of ours reaches")
	}
	for _, dir := range []string{".git/reverie", ".git/logs/refs/reverie", ".git/logs/refs/heads/reverie"} {
		filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.Contains(ts.ReadFile(path), args[0]) {
				found = append(found, path)
			}
			return nil
		})
	}
	if neg == (len(found) == 0) {
		ts.Fatalf("%s is in %q", args[0], found)
	}
}

// id VAR sets a variable to the first word of the last output that is an id.
func idCmd(ts *testscript.TestScript, neg bool, args []string) {
	for _, w := range strings.Fields(ts.ReadFile("stdout")) {
		if len(w) >= 8 && strings.Trim(w, "0123456789abcdef") == "" {
			ts.Setenv(args[0], w)
			return
		}
	}
	ts.Fatalf("no id in %q", ts.ReadFile("stdout"))
}
