//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With a git of at least 2.54, whose folder REVERIE_GIT names, hooks are in the clone's
// configuration. Each runs once, wherever git looks for files, and only where it should.
func TestHooksInConfiguration(t *testing.T) {
	newer := os.Getenv("REVERIE_GIT")
	if newer == "" {
		t.Skip("REVERIE_GIT=FOLDER of a git of at least 2.54 runs this")
	}
	t.Setenv("PATH", newer+string(os.PathListSeparator)+os.Getenv("PATH"))
	dir := newRepo(t)
	config, hooks := filepath.Join(dir, ".git", "config"), filepath.Join(dir, ".git", "hooks")
	before, files0 := read(t, config), strings.Join(files(t, hooks), "\n")
	must(t, dir, "init", "--git-hooks", "--trailers")
	if after := strings.Join(files(t, hooks), "\n"); after != files0 {
		t.Errorf("files of hooks changed: %s", after)
	}
	if got := git(t, dir, "hook", "list", "post-commit"); got != "reverie-post-commit" {
		t.Errorf("git lists %q", got)
	}

	links := filepath.Join(dir, ".git", "reverie", "links")
	commit := func(what, in string, more ...string) { // each adds one line, of its own branch
		t.Helper()
		t.Setenv("REVERIE_SESSION", "here")
		defer os.Unsetenv("REVERIE_SESSION")
		count := strings.Count(read(t, links), "\n")
		if out := git(t, in, append(more, "commit", "-q", "--allow-empty", "-m", what)...); out != "" {
			t.Errorf("%s: git says %q", what, out)
		}
		added := strings.Split(strings.TrimSpace(read(t, links)), "\n")[count:]
		want := "commit " + git(t, in, "rev-parse", "HEAD") + " " + git(t, in, "branch", "--show-current") + " generic/here"
		if len(added) != 1 || added[0] != want {
			t.Errorf("%s: %q, want %q", what, added, want)
		}
		if got := git(t, in, "log", "-1", "--format=%(trailers:key=Reverie-Session,valueonly)"); !strings.Contains(got, "generic/here") {
			t.Errorf("%s: no trailer: %q", what, got)
		}
	}
	commit("at the top", dir)
	write(t, filepath.Join(dir, "below", "it", "file"), "x\n")
	commit("below the top", filepath.Join(dir, "below", "it"))
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", linked)
	commit("in a linked work tree", linked)
	git(t, dir, "config", "core.hooksPath", os.DevNull)
	commit("without files of hooks", dir)
	git(t, dir, "config", "--unset", "core.hooksPath")
	commit("from elsewhere", dir, "--git-dir="+filepath.Join(dir, ".git"), "--work-tree="+dir)
	git(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "again")
	if got := read(t, links); !strings.HasSuffix(got, " "+git(t, dir, "rev-parse", "HEAD")+"\n") || !strings.Contains(got, "\nmoved ") {
		t.Errorf("an amended commit: %s", got)
	}

	// Another program's hook reads what it read before.
	remote := filepath.Join(t.TempDir(), "remote.git")
	git(t, "", "init", "-q", "--bare", remote)
	git(t, dir, "remote", "add", "origin", remote)
	write(t, filepath.Join(hooks, "pre-push"), "#!/bin/sh\ncat\n")
	if err := os.Chmod(filepath.Join(hooks, "pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := git(t, dir, "push", "-q", "origin", "main"); !strings.HasPrefix(got, "refs/heads/main "+git(t, dir, "rev-parse", "main")) {
		t.Errorf("its input: %q", got)
	}
	if err := os.Remove(filepath.Join(hooks, "pre-push")); err != nil {
		t.Fatal(err)
	}

	// Neither sync nor a loop runs hooks of the configuration.
	ran := filepath.Join(t.TempDir(), "ran")
	git(t, dir, "config", "--global", "hook.mine.command", "echo ran >>"+ran)
	events := []string{"post-commit", "pre-commit", "commit-msg"}
	if !strings.HasPrefix(git(t, dir, "version"), "git version 2.54") { // it cannot turn off an event
		events = append(events, "post-checkout", "pre-push")
	}
	for _, event := range events {
		git(t, dir, "config", "--global", "--add", "hook.mine.event", event)
	}
	t.Cleanup(func() { git(t, "", "config", "--global", "--remove-section", "hook.mine") })
	must(t, dir, "remember", "First")
	must(t, dir, "sync", "--yes")
	plan := filepath.Join(t.TempDir(), "plan.md")
	write(t, plan, "# Do\n\n```verify\ntrue\n```\n")
	count := strings.Count(read(t, links), "\n")
	must(t, dir, "loop", "start", plan, "--min-audits", "0", "--", "sh", "-c", "REVERIE_SESSION=here git commit -q --allow-empty -m agent")
	if got := strings.Count(read(t, links), "\n") - count; got != 1 {
		t.Errorf("a commit in a loop is linked %d times", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Errorf("a hook of the user's ran: %s", read(t, ran))
	}

	// A clone that moves takes them along, and a clone without our state is left in peace.
	moved := dir + " moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	links = filepath.Join(moved, ".git", "reverie", "links")
	commit("after a move", moved)
	scripts := filepath.Join(moved, ".git", "reverie", "githooks")
	if err := os.Rename(scripts, scripts+".away"); err != nil {
		t.Fatal(err)
	}
	if out := git(t, moved, "commit", "-q", "--allow-empty", "-m", "no scripts"); out != "" {
		t.Errorf("without scripts: %q", out)
	}
	if err := os.Rename(scripts+".away", scripts); err != nil {
		t.Fatal(err)
	}
	git(t, moved, "remote", "remove", "origin")
	must(t, moved, "uninstall", "--git-hooks", "--yes")
	if got := read(t, filepath.Join(moved, ".git", "config")); got != before {
		t.Errorf("uninstall left %s", got)
	}
}
