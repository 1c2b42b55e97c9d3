package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A place for a sandbox is committed without filters, what is held waits for a person, and what the host would run blocks by its content.
func TestSealedPlaceRunsNoFilter(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.Sandbox, s.Settings.MaxIterations = "docker", 2 })
	canary := filepath.Join(t.TempDir(), "canary")
	b.Run("config", "filter.host.clean", "touch '"+filepath.ToSlash(canary)+"'; tr a-z A-Z")
	b.Run("config", "filter.host.smudge", "touch '"+filepath.ToSlash(canary)+"'; cat")
	b.Run("config", "filter.host.required", "true")
	waived := map[string]bool{}
	b.place.Runs = func(p string) string {
		if p == "Makefile" || p == ".gitattributes" {
			return "it is run"
		}
		return ""
	}
	b.place.Holds = func(p string) bool { return p == ".gitattributes" }
	b.place.Waived = func(_ context.Context, _, rule string) (bool, error) { return waived[rule], nil }
	work := func(Turn) (Outcome, error) {
		b.in(".gitattributes", "* filter=host text eol=crlf\n")
		b.in("lines", "a\r\nb\n")
		b.in("Makefile", "all:\n")
		return Outcome{}, nil
	}
	s := b.run(work, func(Turn) (Outcome, error) {
		b.in("README", "spoilt\n") // so that git writes files again
		return Outcome{Passed: true}, nil
	}, fine)
	if s.Reason != MaxIterations || s.Blocking != 2 {
		t.Errorf("%s, %d blocking", s.Reason, s.Blocking)
	}
	if got := b.Run("ls-tree", "--name-only", "reverie/loop/two"); got != "Makefile\nREADME\nlines" {
		t.Errorf("%q", got)
	}
	if got := b.Run("cat-file", "-s", "reverie/loop/two:lines"); got != "5" {
		t.Errorf("not as it is: %s bytes", got)
	}
	l, err := b.record.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range l.Findings {
		if f.By != ByHost || !strings.HasPrefix(f.Rule, "runs-") {
			t.Errorf("%+v", f)
		}
		waived[f.Rule] = true
	}
	c, err := b.place.Commit(t.Context(), s.Tip, Message{Subject: "waived"}, s.Changed)
	if err != nil || len(c.Left) > 0 {
		t.Fatalf("%+v %v", c, err)
	}
	if got := b.Run("cat-file", "-p", c.Tip+":.gitattributes"); got != "* filter=host text eol=crlf" {
		t.Errorf("%q", got)
	}
	if err := b.place.Clean(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(canary); !os.IsNotExist(err) {
		t.Error("a filter ran")
	}
}

// A link in the place of a folder is committed as what it is, and what lay in the folder is gone.
func TestFolderBecomesALink(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.MaxIterations = 2 })
	s := b.run(func(turn Turn) (Outcome, error) {
		folder := filepath.Join(turn.Dir, "folder")
		if turn.Loop.State.Iteration == 1 {
			b.in("folder/file", "x\n")
			return Outcome{}, nil
		}
		if err := os.RemoveAll(folder); err != nil {
			return Outcome{}, err
		}
		return Outcome{}, os.Symlink(t.TempDir(), folder)
	}, func(turn Turn) (Outcome, error) { return Outcome{Passed: turn.Loop.State.Iteration == 2}, nil }, fine)
	if s.Phase != Done {
		t.Fatalf("%s %s", s.Reason, s.Detail)
	}
	if got := b.Run("ls-tree", "-r", "--format=%(objectmode) %(path)", "reverie/loop/two"); !strings.Contains(got, "120000 folder") || strings.Contains(got, "folder/") {
		t.Errorf("%q", got)
	}
}

// Git that somebody calls in a place for a sandbox finds no repository, and none of the folders above.
func TestSealedPlaceIsNoRepository(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.Sandbox = "docker" })
	if err := b.place.Make(t.Context(), b.Run("rev-parse", "HEAD")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "status")
	cmd.Dir = b.place.Dir
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not a git repository") || !strings.Contains(string(out), "made-in-a-sandbox") {
		t.Errorf("%v %s", err, out)
	}
}
